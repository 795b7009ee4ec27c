// SPDX-License-Identifier: Apache-2.0
//
// Interleavings of the RCU core: grace periods, with the callback posted before
// its object is unpublished; hand-over at thread exit; barrier; and sleeping
// without losing a wake-up.  A callback that runs too early shows as a data
// race between it and the reader.
#include "interleave/driver.h"
#include "interleave/model-atomics.h"
#include "rcu-core.h"

namespace {

using ovsthread::kRelaxed;
using ovsthread::ModelAtomics;
using ovsthread::rcu::Batch;

class ModelSleepers {
 public:
  void wake() { count_.fetch_add(1, kRelaxed); }

  class Wait {
   public:
    explicit Wait(ModelSleepers& sleepers) : sleepers_(sleepers) {}
    void prepare() { count_ = sleepers_.count_.load(kRelaxed); }
    void sleep() {
      while (sleepers_.count_.load(kRelaxed) == count_) ModelAtomics::relax();
    }
    void sleep_for(uint32_t) { sleep(); }

   private:
    ModelSleepers& sleepers_;
    uint32_t count_ = 0;
  };

 private:
  ModelAtomics::Atomic<uint32_t> count_{0};
};

using Core = ovsthread::rcu::Core<ModelAtomics, ModelSleepers,
                                  Batch<ModelAtomics, 1, 2>>;
using Record = Core::Record;

// Shared by all scenarios.
template <class Test, int threads>
struct Scenario : rl::test_suite<Test, threads> {
  Core core;
  ModelAtomics::Var<int> data{1};
  ModelAtomics::Atomic<int> published{1};
  ModelAtomics::Var<int> calls{0};

  static void end_data(void* aux) {
    Scenario* scenario = static_cast<Scenario*>(aux);
    scenario->data = 0;
    ++scenario->calls;
  }

  void read() {
    if (published.load(std::memory_order_acquire)) RL_ASSERT(data == 1);
  }

  // Posts the end of the data, then unpublishes it.
  void unpublish(Record& record) {
    record.batch.post(end_data, this);
    published.store(0, std::memory_order_release);
  }

  // As ovsrcu_barrier().
  void barrier(Record& record) {
    core.deactivate(record);
    core.wait_for_readers(core.advance());
    uint64_t target = core.epoch();
    core.wait_for_readers(target);
    core.wait_for_callbacks(target, record);
  }

  // Alone again: everything posted is run, once.
  void finish(int expected) {
    Record* record = core.add(9);
    core.drop_others(record);
    core.quiesce(*record);
    core.run(*record);
    RL_ASSERT(calls == expected);
    core.forget_records();
  }
};

// A reader that becomes active while the writer's grace period runs.
struct Activation : Scenario<Activation, 2> {
  void thread(unsigned index) {
    Record& record = *core.add(index);
    core.activate(record);
    if (index == 0) {
      unpublish(record);
      core.quiesce(record);
      core.run(record);
    } else {
      read();
    }
    core.deactivate(record);
  }
  void after() { finish(1); }
};

// A reader that is active all the time and quiesces between two reads.
struct Quiescence : Scenario<Quiescence, 2> {
  Record* records[2];

  void before() {
    for (unsigned i = 0; i < 2; i++) {
      records[i] = core.add(i);
      core.activate(*records[i]);
    }
  }
  void thread(unsigned index) {
    Record& record = *records[index];
    if (index == 0) {
      unpublish(record);
      core.quiesce(record);
      core.run(record);
    } else {
      read();
      core.quiesce(record);
      read();
      core.quiesce(record);
    }
  }
  void after() { finish(1); }
};

// A third thread runs the callback: it has to find the reader's record.
struct Runner : Scenario<Runner, 3> {
  Record* records[3];

  void before() {
    for (unsigned i = 0; i < 3; i++) records[i] = core.add(i);
    core.activate(*records[0]);
  }
  void thread(unsigned index) {
    Record& record = *records[index];
    if (index == 0) {
      unpublish(record);
      core.deactivate(record);
    } else if (index == 1) {
      core.activate(record);
      read();
      core.deactivate(record);
    } else {
      core.run(record);
    }
  }
  void after() { finish(1); }
};

// Two threads post more than a block holds, hand over, and run what is due.
struct HandOver : Scenario<HandOver, 2> {
  static void count(void* aux) { ++static_cast<HandOver*>(aux)->calls; }

  void post_two(Record& record) {
    for (int i = 0; i < 2; i++) {
      if (!record.batch.has_room()) record.batch.grow();
      record.batch.post(count, this);
    }
  }
  void thread(unsigned index) {
    Record& record = *core.add(index);
    core.activate(record);
    post_two(record);
    core.quiesce(record);
    core.run(record);
    core.deactivate(record);
  }
  void after() { finish(4); }
};

// A thread ends with callbacks; the next one gets its record.
struct Exit : Scenario<Exit, 2> {
  ModelAtomics::Atomic<int> ended{0};

  void thread(unsigned index) {
    while (index == 1 && !ended.load(kRelaxed)) ModelAtomics::relax();
    Record& record = *core.add(index);
    RL_ASSERT(!record.active);
    core.activate(record);
    record.batch.post(end_data, this);
    core.deactivate(record);
    core.remove(record);
    ended.store(1, kRelaxed);
  }
  void after() { finish(2); }
};

// One thread posts, hands over and runs what is due; the other one waits in the
// barrier for the callback.  Self has post(record).
template <class Self>
struct WaitForACallback : Scenario<Self, 2> {
  ModelAtomics::Atomic<int> posted{0};

  void post_or_wait(unsigned index, Record& record) {
    if (index == 0) {
      this->core.activate(record);
      static_cast<Self*>(this)->post(record);
      posted.store(1, std::memory_order_release);
      this->core.quiesce(record);
      this->core.run(record);
    } else {
      while (!posted.load(std::memory_order_acquire)) ModelAtomics::relax();
      this->barrier(record);
      RL_ASSERT(this->calls == 1);
    }
  }
  void after() { this->finish(1); }
};

// The barrier covers what another thread has posted and not handed over, and
// shows what the callback did, whoever ran it.
struct Barrier : WaitForACallback<Barrier> {
  void post(Record& record) { unpublish(record); }
  void thread(unsigned index) {
    Record& record = *core.add(index);
    post_or_wait(index, record);
    if (index == 1) RL_ASSERT(data == 0);
    core.deactivate(record);
  }
};

// The callback waits for readers: a thread that waits in the barrier for the
// callback must not be one.
struct BarrierForAWaiter : WaitForACallback<BarrierForAWaiter> {
  Record* records[2];

  void before() {
    for (unsigned i = 0; i < 2; i++) records[i] = core.add(i);
  }
  // As ovsrcu_synchronize().
  static void synchronize(void* aux) {
    BarrierForAWaiter* scenario = static_cast<BarrierForAWaiter*>(aux);
    Record& record = *scenario->records[rl::thread_index()];
    Core& core = scenario->core;
    core.deactivate(record);
    core.wait_for_readers(core.advance());
    core.activate(record);
    ++scenario->calls;
  }
  void post(Record& record) { record.batch.post(synchronize, this); }
  void thread(unsigned index) {
    post_or_wait(index, *records[index]);
    core.deactivate(*records[index]);
  }
};

// Whoever waits for a reader is woken by it.
struct Wake : Scenario<Wake, 2> {
  Record* reader;

  void before() {
    reader = core.add(0);
    core.activate(*reader);
  }
  void thread(unsigned index) {
    if (index == 0) {
      core.deactivate(*reader);
    } else {
      core.wait_for_readers(core.advance());
    }
  }
  void after() { finish(0); }
};

// The helper, asleep because there is nothing to do, is woken by a hand-over.
struct Work : Scenario<Work, 2> {
  Record* poster;

  void before() {
    poster = core.add(0);
    core.activate(*poster);
  }
  void thread(unsigned index) {
    if (index == 0) {
      unpublish(*poster);
      core.deactivate(*poster);
    } else {
      core.wait_for_work([] { return false; });
    }
  }
  void after() { finish(1); }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {random<Activation>("a reader that becomes active", {1, 2, 3, 9, 10, 15}),
       random<Quiescence>("a reader that quiesces between reads",
                          {1, 2, 4, 15}),
       random<Runner>("a third thread that runs callbacks", {1, 5, 16, 17}),
       random<HandOver>("two threads that run callbacks", {9, 10, 12, 16, 17}),
       random<Exit>("a record that changes hands", {11}),
       random<Barrier>("a barrier of another thread", {7, 13, 14}),
       random<BarrierForAWaiter>("a barrier for a callback that waits", {}),
       random<Wake>("a wake-up by a reader", {4, 8}),
       random<Work>("a wake-up by a hand-over", {4, 6})});
}
