// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-rcu: what a user of the C interface of RCU relies on.  Nothing
// is printed on success.
//
// Threads tell each other by semaphores how far they are, so no check depends
// on time.
#include <atomic>
#include <semaphore>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-require.h"

namespace ovstest {
namespace {

// A thread that runs BODY, and what came of it.
template <class Body>
class Worker {
 public:
  explicit Worker(Body body) : body_(body) {
    thread_ = ovs_thread_create("worker", run, this);
  }

  absl::Status join() {
    xpthread_join(thread_, nullptr);
    return status_;
  }

 private:
  static void* run(void* self) {
    Worker* worker = static_cast<Worker*>(self);
    worker->status_ = worker->body_();
    return nullptr;
  }

  Body body_;
  absl::Status status_;
  pthread_t thread_;
};

void increment(std::atomic<unsigned>* counter) { ++*counter; }

// Must come first: it looks at what the first ovs_thread_create() changes.
absl::Status states_of_threads() {
  REQUIRE(single_threaded());
  REQUIRE(ovsrcu_is_quiescent());
  Worker worker([]() -> absl::Status {
    REQUIRE(!ovsrcu_is_quiescent());
    ovsrcu_quiesce_start();
    REQUIRE(ovsrcu_is_quiescent());
    ovsrcu_quiesce_end();
    REQUIRE(!ovsrcu_is_quiescent());
    return absl::OkStatus();
  });
  bool active = !ovsrcu_is_quiescent();
  bool single = single_threaded();
  REQUIRE_OK(worker.join());
  REQUIRE(active);
  REQUIRE(!single);
  return absl::OkStatus();
}

absl::Status barrier_runs_callbacks() {
  std::atomic<unsigned> count = 0;
  for (unsigned i = 0; i < 10; i++) {
    ovsrcu_postpone(increment, &count);
  }
  ovsrcu_barrier();
  REQUIRE(count == 10);
  return absl::OkStatus();
}

absl::Status callbacks_wait_for_their_poster() {
  // More than any batch that a thread may keep.
  constexpr unsigned kCallbacks = 10000;
  std::atomic<unsigned> count = 0;
  for (unsigned i = 0; i < kCallbacks; i++) {
    ovsrcu_postpone(increment, &count);
  }
  REQUIRE(count == 0);
  ovsrcu_barrier();
  REQUIRE(count == kCallbacks);
  return absl::OkStatus();
}

absl::Status callbacks_wait_for_readers() {
  std::atomic<unsigned> count = 0;
  std::binary_semaphore reading(0), posted(0);
  Worker reader([&]() -> absl::Status {
    reading.release();
    posted.acquire();
    REQUIRE(count == 0);  // This thread has not been quiescent yet.
    ovsrcu_quiesce();
    return absl::OkStatus();
  });
  reading.acquire();
  ovsrcu_postpone(increment, &count);
  ovsrcu_quiesce();
  posted.release();
  ovsrcu_barrier();
  absl::Status status = reader.join();
  REQUIRE_OK(status);
  REQUIRE(count == 1);
  return absl::OkStatus();
}

absl::Status synchronize_waits_for_readers() {
  std::binary_semaphore reading(0), go_on(0);
  std::atomic<bool> quiesced = false;
  Worker reader([&]() -> absl::Status {
    reading.release();
    go_on.acquire();
    quiesced = true;
    ovsrcu_quiesce();
    return absl::OkStatus();
  });
  reading.acquire();
  go_on.release();
  ovsrcu_synchronize();
  bool waited = quiesced;
  REQUIRE_OK(reader.join());
  REQUIRE(waited);
  return absl::OkStatus();
}

struct Step {
  std::vector<unsigned>* log;
  unsigned number;
};

void record(Step* step) { step->log->push_back(step->number); }

// One thread's callbacks run in the order in which it posted them.
absl::Status callbacks_keep_their_order() {
  constexpr unsigned kSteps = 1000;
  std::vector<unsigned> log;
  std::vector<Step> steps;
  for (unsigned i = 0; i < kSteps; i++) steps.push_back({&log, i});
  for (Step& step : steps) ovsrcu_postpone(record, &step);
  ovsrcu_barrier();
  REQUIRE(log.size() == kSteps);
  for (unsigned i = 0; i < kSteps; i++) REQUIRE(log[i] == i);
  return absl::OkStatus();
}

// A thread ends without a quiescent state after its last callback.
absl::Status callbacks_outlive_their_thread() {
  std::atomic<unsigned> count = 0;
  Worker worker([&]() -> absl::Status {
    for (unsigned i = 0; i < 100; i++) {
      ovsrcu_postpone(increment, &count);
    }
    return absl::OkStatus();
  });
  REQUIRE_OK(worker.join());
  ovsrcu_barrier();
  REQUIRE(count == 100);
  return absl::OkStatus();
}

}  // namespace

absl::Status test_rcu(Words words) {
  CommandLine line("ovstest test-rcu",
                   "Checks RCU; prints nothing if all is well.");
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }
  for (auto* check :
       {states_of_threads, barrier_runs_callbacks,
        callbacks_wait_for_their_poster, callbacks_wait_for_readers,
        synchronize_waits_for_readers, callbacks_keep_their_order,
        callbacks_outlive_their_thread}) {
    if (absl::Status status = check(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace ovstest
