// SPDX-License-Identifier: Apache-2.0
//
// ModelTransactions: hardware transactions in the interleaving search.
//
// The same concept as the library's transaction layers (lib/elision-rtm.h).
// What such a transaction is to the other threads is modelled, not how the
// processor does it:
//
// - It either happens at one instant or not at all.  The thread is not
//   preempted between begin() and end(); meanwhile the transaction reads the
//   newest values, and what it writes goes to a log.
// - end() applies the log at once.  All that the transaction has read was the
//   newest then, so it comes after whatever wrote it and before whatever writes
//   it later: each Atomic that it read or wrote becomes a read-modify-write
//   with acquire and release, between two full fences (XEND orders as a locked
//   instruction does).  This is what makes subscription work: who takes the
//   lock later, by a read-modify-write of the word that the transaction has
//   read, sees what the transaction wrote.
// - An aborted transaction leaves no trace: its log is dropped, and the stack
//   of its thread is put back, so that begin() returns again with the status.
//   What another thread would do to it (a conflict) can therefore happen at
//   begin(): the search decides there whether the transaction starts or which
//   status it is aborted with.
//
// Each thread that uses transactions holds a Scope in its thread().  Plain
// members of the scenario are neither logged nor restored, but for the block of
// memory that is named to the Scope; allocating or freeing inside a transaction
// is not modelled.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_MODEL_TRANSACTIONS_H_
#define OVSTHREAD_TESTS_INTERLEAVE_MODEL_TRANSACTIONS_H_

#include <cstdint>
#include <cstring>
#include <iterator>

#include "interleave/relacy.h"
#include "stack-snapshot.h"

namespace ovsthread {

class ModelTransactions {
 public:
  static constexpr bool kCompiled = true;
  static constexpr uint32_t kStarted = StackSnapshot::kTaken;

  // The statuses that the search aborts with: conflict with the hint to try
  // again, capacity, no cause given.
  static constexpr uint32_t kStatuses[] = {6, 8, 0};

  // To be declared first in a scenario's thread().  The search aborts at most
  // ABORTS transactions of this thread at their begin.  An abort puts SIZE
  // bytes at BLOCK back.
  class Scope {
   public:
    __attribute__((always_inline)) explicit Scope(unsigned aborts,
                                                  void* block = nullptr,
                                                  size_t size = 0)
        : base_(__builtin_frame_address(0)),
          aborts_(aborts),
          block_(block),
          size_(size) {
      RL_ASSERT(size <= sizeof copy_);
      scopes_[rl::thread_index()] = this;
    }
    ~Scope() { scopes_[rl::thread_index()] = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    friend ModelTransactions;
    const void* base_;
    unsigned aborts_;
    void* block_;
    size_t size_;
    static inline char copy_[256];  // No two transactions run at a time.
  };

  static uint32_t begin() {
    rl::context& context = rl::ctx();
    context.sched();
    Scope* scope = scopes_[rl::thread_index()];
    RL_ASSERT(scope && !active());
    if (scope->aborts_) {
      unsigned choice = rl::rand(1 + std::size(kStatuses));
      if (choice) {
        scope->aborts_--;
        return kStatuses[choice - 1];
      }
    }
    if (scope->size_) std::memcpy(Scope::copy_, scope->block_, scope->size_);
    uint32_t status = snapshot_.take(scope->base_);
    if (status == kStarted) {
      context.disable_preemption();
      running_in_ = context.get_ctx_seq();
      size_ = 0;
    }
    return status;
  }

  static void end() {
    RL_ASSERT(active());
    running_in_ = 0;
    const rl::debug_info where = RL_INFO;
    rl::atomic_thread_fence(rl::mo_seq_cst, where);
    apply_log(Step::kAcquire);
    apply_log(Step::kData);
    apply_log(Step::kRelease);
    rl::atomic_thread_fence(rl::mo_seq_cst, where);
    rl::ctx().enable_preemption();
  }

  template <uint8_t code>
  [[noreturn]] static void abort() {
    fail((uint32_t{code} << 24) | 1);
  }

  static bool active() { return running_in_ == rl::ctx().get_ctx_seq(); }
  static void access(const void*) {}

  // What the processor does about an instruction that no transaction can hold.
  [[noreturn]] static void fail(uint32_t status) {
    RL_ASSERT(active());
    running_in_ = 0;
    const Scope& scope = *scopes_[rl::thread_index()];
    if (scope.size_) std::memcpy(scope.block_, Scope::copy_, scope.size_);
    rl::ctx().enable_preemption();
    snapshot_.resume(status);
  }

  // The rest is for ModelAtomics.
  enum class Step { kAcquire, kData, kRelease };

  struct Entry {
    void* object;
    uint64_t value;
    bool written;
    void (*apply)(const Entry&, Step);
  };

  // The entry of OBJECT; a new one starts with VALUE.
  static Entry& entry(void* object, uint64_t value,
                      void (*apply)(const Entry&, Step)) {
    for (unsigned i = 0; i < size_; i++) {
      if (log_[i].object == object) return log_[i];
    }
    RL_ASSERT(size_ < std::size(log_));
    log_[size_] = {object, value, false, apply};
    return log_[size_++];
  }

 private:
  static void apply_log(Step step) {
    // All of a step happens at the same tick of the thread's clock, so that who
    // sees one of the writes must see all.
    rl::timestamp_t& clock = rl::ctx().threadx_->own_acq_rel_order_;
    rl::timestamp_t before = clock;
    for (unsigned i = 0; i < size_; i++) {
      clock = before;
      log_[i].apply(log_[i], step);
    }
  }

  static constexpr unsigned kMaxThreads = 16;

  static inline Scope* scopes_[kMaxThreads];
  static inline StackSnapshot snapshot_;  // No two run at a time.
  // The search that the running transaction belongs to: a failure ends a search
  // in the middle of whatever runs.
  static inline unsigned running_in_ = 0;
  static inline Entry log_[32];
  static inline unsigned size_ = 0;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_MODEL_TRANSACTIONS_H_
