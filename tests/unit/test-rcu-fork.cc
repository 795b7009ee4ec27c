// SPDX-License-Identifier: Apache-2.0
//
// RCU's grace periods and queues across fork, exhaustively: the process forks
// in front of each store of a script, and the child has to run all that was
// posted, once.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "atomics.h"
#include "rcu-core.h"

namespace ovsthread {
namespace {

class Script;
// Where to fork; null in a child.
Script* script = nullptr;
void fork_here();

// Forks in front of each store.
struct ForkingAtomics : RealAtomics {
  template <class T>
  class Atomic : public RealAtomics::Atomic<T> {
    using Base = RealAtomics::Atomic<T>;

   public:
    using Base::Base;
    void store(T value, std::memory_order order) {
      fork_here();
      Base::store(value, order);
    }
    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure) {
      fork_here();
      return Base::compare_exchange(expected, desired, success, failure);
    }
    T fetch_add(T value, std::memory_order order) {
      fork_here();
      return Base::fetch_add(value, order);
    }
  };

  template <class T>
  class Var {
   public:
    Var() = default;
    Var(T value) : value_(value) {}        // NOLINT: as T
    operator T() const { return value_; }  // NOLINT: as T
    T operator->() const { return value_; }
    Var& operator=(T value) {
      fork_here();
      value_ = value;
      return *this;
    }

   private:
    T value_;
  };
};

struct NoSleepers {
  void wake() {}
};

// Three threads, whose parts one plays: they post, hand over and run.
class Script {
  using Core =
      rcu::Core<ForkingAtomics, NoSleepers, rcu::Batch<ForkingAtomics, 1, 4>>;

 public:
  Script() : survivor_(core_.add(0)) {}
  ~Script() { core_.forget_records(); }

  void play() {
    Core::Record& poster = *core_.add(1);
    Core::Record& runner = *core_.add(2);
    core_.activate(poster);
    core_.activate(runner);
    post(poster, 6);  // Blocks of 1, 2 and 4.
    core_.quiesce(poster);
    post(poster, 1);
    post(runner, 2);
    core_.quiesce(runner);
    core_.run(runner);
    core_.deactivate(poster);
    core_.quiesce(runner);
    core_.run(runner);
    core_.deactivate(runner);
    core_.remove(runner);
  }

  // In the child.  Returns whether all is well.
  bool check() {
    const int interrupted = running_;
    core_.drop_others(survivor_);
    if (core_.has_others(survivor_)) return false;
    core_.quiesce(*survivor_);
    core_.run(*survivor_);
    for (int i = 0; i < posted_; i++) {
      // What was interrupted before its effect is not called again.
      if (calls_[i] != (i == interrupted ? 0 : 1)) return false;
    }
    // The records can be used by other threads.
    const int before = sum();
    for (int i = 0; i < 2; i++) {
      Core::Record& record = *core_.add(3);
      core_.activate(record);
      post(record, 6);
      core_.deactivate(record);
    }
    core_.quiesce(*survivor_);
    core_.run(*survivor_);
    return sum() == before + 12;
  }

  int forks = 0;

 private:
  struct Call {
    Script* script;
    int number;
  };

  static void called(void* call_) {
    const Call& call = *static_cast<Call*>(call_);
    call.script->call(call.number);
  }
  void call(int number) {
    running_ = number;
    fork_here();
    running_ = -1;
    calls_[number]++;
    fork_here();
  }

  void post(Core::Record& record, int n) {
    for (int i = 0; i < n; i++) {
      if (!record.batch.has_room()) record.batch.grow();
      argument_[posted_] = {this, posted_};
      record.batch.post(called, &argument_[posted_]);
      posted_++;
    }
  }

  int sum() const {
    int all = 0;
    for (int calls : calls_) all += calls;
    return all;
  }

  Core core_;
  Core::Record* const survivor_;
  int posted_ = 0;
  int running_ = -1;  // The callback that has begun and has had no effect yet.
  Call argument_[32];
  int calls_[32] = {};
};

void fork_here() {
  Script* const forking = script;
  if (forking == nullptr) return;
  forking->forks++;
  pid_t child = fork();
  if (child == 0) {
    script = nullptr;
    alarm(20);
    _exit(!forking->check());
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "at store " << forking->forks;
}

TEST(RcuFork, AChildTakesOverFromEveryState) {
  Script played;
  script = &played;
  played.play();
  script = nullptr;
  EXPECT_GE(played.forks, 100);
  EXPECT_TRUE(played.check());
}

}  // namespace
}  // namespace ovsthread
