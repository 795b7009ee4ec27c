// SPDX-License-Identifier: Apache-2.0
//
// What the lock algorithms need of the machine, for the interleaving search:
// ModelPlatform stands in for LockPlatform (lib/lock-platform.h).
//
// A futex here is as weak as the kernel's promise: a sleeper is queued if the
// word still has the expected value, a wake-up finds whoever queued before it,
// both are full fences, and being woken orders nothing.  Sleepers may wake for
// no reason in a random search, and none is ever woken by luck in a full one.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_MODEL_PLATFORM_H_
#define OVSTHREAD_TESTS_INTERLEAVE_MODEL_PLATFORM_H_

#include <cstdint>
#include <iterator>

#include "elision-policy.h"
#include "futex.h"
#include "interleave/model-atomics.h"
#include "interleave/model-transactions.h"
#include "interleave/relacy.h"

namespace ovsthread {

// A scenario that uses locks owns one; it is found through a static pointer.
class ModelPlatform {
 public:
  // A pthread mutex and condition, with relacy's checks.
  class Gate {
   public:
    void lock() { mutex_.lock(RL_INFO); }
    void unlock() { mutex_.unlock(RL_INFO); }

   private:
    friend ModelPlatform;
    rl::mutex mutex_;
  };
  class Condition {
   public:
    void signal() {
      // Waking takes a system call, which no transaction survives.
      if (ModelTransactions::active()) ModelTransactions::fail(0);
      condition_.notify_one(RL_INFO);
    }

   private:
    friend ModelPlatform;
    rl::condition_variable_any condition_;
  };

  static constexpr unsigned kRwSpins = 0;

  static constexpr unsigned kMaxPauses = 1;
  static constexpr unsigned kPausesToYield = 1;
  static void yield() { ModelAtomics::relax(); }

  // As a weakened number: a sleeper looks at the word without a barrier.
  static constexpr int kNoKernelBarrier = 101;

  ModelPlatform() { current_ = this; }
  ModelPlatform(const ModelPlatform&) = delete;
  ModelPlatform& operator=(const ModelPlatform&) = delete;

  static void wait(ModelAtomics::Atomic<uint32_t>& word, uint32_t expected,
                   FutexQueue queue) {
    RL_ASSERT(!ModelTransactions::active());
    rl::context& context = rl::ctx();
    const rl::debug_info where = RL_INFO;
    // Nothing comes between the barrier, the look and the queue: the kernel has
    // them under a lock that a wake-up takes, too.
    if (ModelAtomics::weakened != kNoKernelBarrier) {
      rl::atomic_thread_fence(rl::mo_seq_cst, where);
    }
    context.disable_preemption();
    bool sleeps = word.load(std::memory_order_relaxed) == expected;
    context.enable_preemption();
    if (!sleeps) return;
    current_->sleepers_[current_->n_++] = {&word, queue, rl::thread_index()};
    if (context.park_current_thread(false, context.is_random_sched(), false,
                                    where) != rl::unpark_reason_normal) {
      current_->remove(rl::thread_index());
    }
  }

  static void wake(ModelAtomics::Atomic<uint32_t>& word, int count,
                   FutexQueue queue) {
    // A safe point: the abort takes the release back, too.
    if (ModelTransactions::active()) ModelTransactions::abort<kWake>();
    const rl::debug_info where = RL_INFO;
    rl::atomic_thread_fence(rl::mo_seq_cst, where);
    for (; count > 0; count--) {
      unsigned candidates[kMaxThreads];
      unsigned n = 0;
      for (unsigned i = 0; i < current_->n_; i++) {
        const Sleeper& sleeper = current_->sleepers_[i];
        if (sleeper.word == &word && sleeper.queue == queue) {
          candidates[n++] = sleeper.thread;
        }
      }
      if (n == 0) return;
      unsigned thread = candidates[n == 1 ? 0 : rl::rand(n)];
      current_->remove(thread);
      rl::ctx().unpark_thread(static_cast<rl::thread_id_t>(thread), false,
                              where);
    }
  }

  static Gate& gate_of(const void*) { return current_->gate_; }

  static void wait_on(Condition& condition, Gate& gate) {
    condition.condition_.wait(gate.mutex_, RL_INFO);
  }

 private:
  static constexpr uint8_t kWake =
      elision::kCodeSafePoint + OVS_SAFE_POINT_WAKE;
  static constexpr unsigned kMaxThreads = 8;

  struct Sleeper {
    const void* word;
    FutexQueue queue;
    unsigned thread;
  };

  void remove(unsigned thread) {
    for (unsigned i = 0; i < n_; i++) {
      if (sleepers_[i].thread == thread) {
        sleepers_[i] = sleepers_[--n_];
        return;
      }
    }
  }

  static inline ModelPlatform* current_ = nullptr;
  Sleeper sleepers_[kMaxThreads];
  unsigned n_ = 0;
  Gate gate_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_MODEL_PLATFORM_H_
