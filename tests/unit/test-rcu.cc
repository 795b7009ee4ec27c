// SPDX-License-Identifier: Apache-2.0
//
// RCU through the internal interface.  Each test runs in a process of its own,
// because the first helper thread and the first ovsrcu_exit() change a process
// for good.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "in-process.h"
#include "rcu-testing.h"
#include "rcu.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(, Rcu, testing::Bool(), [](const auto& mode) {
  return mode.param ? "WithHelper" : "WithoutHelper";
});

TEST_P(Rcu, CallsWithTheArgumentOnce) {
  process([] {
    std::atomic<int> calls{0};
    rcu::postpone(count, &calls);
    rcu::barrier();
    EXPECT_EQ(calls, 1);
    rcu::barrier();
    EXPECT_EQ(calls, 1);
  });
}

TEST_P(Rcu, StateOfTheThread) {
  process([] {
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::quiesce_start();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::quiesce_end();
    EXPECT_FALSE(rcu::is_quiescent());
    rcu::quiesce_end();
    rcu::quiesce_start();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::quiesce();
    EXPECT_FALSE(rcu::is_quiescent());
    rcu::quiesce_start();
    rcu::postpone(count_call, nullptr);
    EXPECT_FALSE(rcu::is_quiescent());
    rcu::quiesce_start();
    rcu::barrier();
    EXPECT_FALSE(rcu::is_quiescent());
    rcu::quiesce_start();
    rcu::retire(count_call, nullptr);
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::barrier_keeping_state();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::synchronize_keeping_state();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::quiesce_end();
    rcu::retire(count_call, nullptr);
    rcu::barrier_keeping_state();
    rcu::synchronize_keeping_state();
    EXPECT_FALSE(rcu::is_quiescent());
    EXPECT_EQ(called, 3);
  });
}

// However many callbacks a thread posts before it unpublishes, none runs before
// it quiesces.
TEST_P(Rcu, FullBatchesWaitForThePosterToQuiesce) {
  process([] {
    Actor other;
    for (int n : {17, 64, 65, 1000, 100000}) {
      called = 0;
      for (int i = 0; i < n; i++) rcu::postpone(count_call, nullptr);
      other.run([] {
        rcu::quiesce();
        rcu::quiesce_start();
        std::this_thread::sleep_for(20ms);
        rcu::quiesce();
        rcu::quiesce_start();
      });
      EXPECT_EQ(called, 0) << n;
      rcu::quiesce();
      rcu::barrier();
      EXPECT_EQ(called, n);
    }
  });
}

// The grace period starts when the poster quiesces, not when it posts, nor when
// it has posted more than its batch had room for: a reader that quiesced in
// between still holds it up.
TEST_P(Rcu, WaitsForReadersThatWereActiveWhenThePosterQuiesced) {
  process([] {
    Actor reader;
    Actor other;
    for (int n : {1, 100}) {
      called = 0;
      rcu::quiesce_end();
      reader.run([] { rcu::quiesce(); });
      for (int i = 0; i < n; i++) rcu::postpone(count_call, nullptr);
      reader.run([] { rcu::quiesce(); });
      rcu::quiesce_start();
      other.run([] {
        for (int i = 0; i < 10; i++) {
          rcu::quiesce();
          std::this_thread::sleep_for(2ms);
        }
        rcu::quiesce_start();
      });
      EXPECT_EQ(called, 0);
      reader.run([] {
        rcu::quiesce();
        rcu::barrier();
      });
      EXPECT_EQ(called, n);
      reader.run([] { rcu::quiesce_start(); });
    }
  });
}

TEST_P(Rcu, RunsTheCallbacksOfAThreadInOrder) {
  process([] {
    constexpr int kThreads = 4;
    constexpr int kCallbacks = 5000;
    struct Poster {
      int next = 0;
      bool ok = true;
    };
    struct Call {
      Poster* poster;
      int number;
    };
    std::vector<Poster> posters(kThreads);
    std::vector<std::thread> threads;
    for (Poster& poster : posters) {
      threads.emplace_back([&poster] {
        for (int i = 0; i < kCallbacks; i++) {
          auto post = i % 3 == 0 ? rcu::retire : rcu::postpone;
          post(
              [](void* aux) {
                std::unique_ptr<Call> call(static_cast<Call*>(aux));
                if (call->poster->next++ != call->number) {
                  call->poster->ok = false;
                }
              },
              new Call{&poster, i});
          if (i % 97 == 0) rcu::quiesce();
          if (i % 501 == 0) rcu::quiesce_start();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    rcu::barrier();
    for (Poster& poster : posters) {
      EXPECT_EQ(poster.next, kCallbacks);
      EXPECT_TRUE(poster.ok);
    }
  });
}

// A thread ends with callbacks and without quiescing: they run once.
TEST_P(Rcu, ThreadExitLosesNothing) {
  process([] {
    constexpr int kThreads = 50;
    std::atomic<int> calls{0};
    rcu::quiesce_start();  // Has a record of its own.
    for (int i = 0; i < kThreads; i++) {
      std::thread([&calls, i] {
        for (int j = 0; j < i; j++) rcu::postpone(count, &calls);
      }).join();
    }
    rcu::barrier();
    EXPECT_EQ(calls, kThreads * (kThreads - 1) / 2);
  });
}

// Destructors of thread-specific data run before and after RCU's own, up to the
// last round in which they can.
TEST_P(Rcu, CallbacksPostedWhileAThreadEndsRun) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer crashes in late destructors of keys";
#endif
  process([] {
    static pthread_key_t keys[8];
    static std::atomic<int> posted;
    auto post = [](void* aux) {
      rcu::postpone(count_call, nullptr);
      posted++;
      for (pthread_key_t key : keys) pthread_setspecific(key, aux);
    };
    called = 0;
    posted = 0;
    for (int i = 0; i < 4; i++) pthread_key_create(&keys[i], post);
    rcu::quiesce();
    for (int i = 4; i < 8; i++) pthread_key_create(&keys[i], post);
    std::thread([] {
      for (pthread_key_t key : keys) pthread_setspecific(key, &posted);
    }).join();
    EXPECT_GE(posted, 8);
    rcu::barrier();
    EXPECT_EQ(called, posted);
  });
}

// A thread that ends may post with another record than before.  The order is
// kept even if the older record is found first.
TEST_P(Rcu, OrderIsKeptWhenAThreadChangesItsRecord) {
  process([] {
    static std::string order;
    static Actor* taker;
    Actor reader, other;
    taker = &other;
    reader.run([] { rcu::quiesce(); });
    static pthread_key_t key;
    pthread_key_create(&key, [](void*) {
      // After RCU's own destructor, which has freed the thread's record.
      taker->run([] { rcu::quiesce_start(); });
      rcu::postpone([](void*) { order += '2'; }, nullptr);
    });
    {
      // Leave two free records.
      Actor first, second;
      first.run([] { rcu::quiesce(); });
      second.run([] { rcu::quiesce(); });
    }
    std::thread([] {
      rcu::postpone([](void*) { order += '1'; }, nullptr);
      pthread_setspecific(key, &order);
    }).join();
    EXPECT_EQ(order, "");
    reader.run([] { rcu::quiesce_start(); });
    rcu::barrier();
    EXPECT_EQ(order, "12");
  });
}

TEST_P(Rcu, ACallbackPostedByACallbackRunsInALaterGracePeriod) {
  process([] {
    static std::atomic<int> first, second;
    rcu::postpone(
        [](void*) {
          rcu::postpone([](void*) { ++second; }, nullptr);
          ++first;
          EXPECT_EQ(second, 0);
        },
        nullptr);
    rcu::barrier();
    EXPECT_EQ(first, 1);
    rcu::barrier();
    rcu::barrier();
    EXPECT_EQ(second, 1);
  });
}

TEST_P(Rcu, ACallbackMaySynchronizeAndQuiesce) {
  process([] {
    called = 0;
    Actor other;
    other.run([] { rcu::quiesce(); });
    rcu::postpone(
        [](void*) {
          rcu::quiesce();
          rcu::quiesce_start();
          rcu::quiesce_end();
          rcu::guard_lock();
          rcu::guard_unlock();
          // So that, if the other thread is here, the first one sleeps.
          std::this_thread::sleep_for(20ms);
          rcu::synchronize();
          ++called;
        },
        nullptr);
    rcu::quiesce_start();
    std::atomic<bool> stop{false};
    other.start([&stop] {
      while (!stop) rcu::quiesce();
      rcu::quiesce_start();
    });
    rcu::barrier();
    EXPECT_EQ(called, 1);
    stop = true;
    other.wait();
  });
}

// The barrier covers what another thread posted before and hands over only
// after the barrier began, when a third thread has already quiesced once.
TEST_P(Rcu, BarrierCoversOtherThreads) {
  process([] {
    called = 0;
    Actor poster, third, waiter;
    third.run([] { rcu::quiesce(); });
    poster.run([] {
      rcu::quiesce();
      rcu::postpone(count_call, nullptr);
    });
    waiter.start([] { rcu::barrier(); });
    std::this_thread::sleep_for(20ms);
    third.run([] { rcu::quiesce(); });
    EXPECT_TRUE(waiter.is_busy());
    poster.run([] { rcu::quiesce_start(); });
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(waiter.is_busy());
    EXPECT_EQ(called, 0);
    third.run([] { rcu::quiesce_start(); });
    waiter.wait();
    EXPECT_EQ(called, 1);
  });
}

TEST_P(Rcu, SynchronizeWaitsForActiveThreadsOnly) {
  process([] {
    Actor quiescent, active, waiter;
    quiescent.run([] {
      rcu::quiesce();
      rcu::quiesce_start();
    });
    active.run([] { rcu::quiesce(); });
    waiter.start([] {
      rcu::synchronize();
      EXPECT_FALSE(rcu::is_quiescent());
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(waiter.is_busy());
    active.run([] { rcu::quiesce(); });
    waiter.wait();
    waiter.run([] { rcu::quiesce_start(); });
    active.run([] { rcu::quiesce_start(); });
    rcu::synchronize();
  });
}

TEST(RcuAlone, RunsCallbacksBeforeQuiesceReturns) {
  in_process([] {
    called = 0;
    rcu::postpone(count_call, nullptr);
    rcu::synchronize();
    EXPECT_EQ(called, 0);
    rcu::quiesce();
    EXPECT_EQ(called, 1);
    rcu::postpone(count_call, nullptr);
    rcu::quiesce_start();
    EXPECT_EQ(called, 2);
    // Nothing changes the state of a thread that is alone.
    rcu::synchronize();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::retire(count_call, nullptr);
    EXPECT_EQ(called, 2);
    rcu::quiesce();
    EXPECT_EQ(called, 3);
  });
}

// A thread that pthread_create() made counts as much as any other.
TEST(RcuAlone, IsNotAloneBesideARegisteredRawThread) {
  in_process([] {
    called = 0;
    Actor other;
    other.run([] { rcu::quiesce(); });
    rcu::postpone(count_call, nullptr);
    rcu::quiesce();
    EXPECT_EQ(called, 0);
    EXPECT_TRUE(rcu::try_quiesce());
    EXPECT_EQ(called, 0);
    other.run([] { rcu::quiesce_start(); });
    EXPECT_EQ(called, 1);
  });
}

// Nothing stays of threads that ended: no record that would count as a thread,
// though they post to the last, and no guard that the next owner of the record
// would inherit.
TEST(RcuAlone, IsAloneAgainOnceTheOthersHaveEnded) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer crashes in late destructors of keys";
#endif
  in_process([] {
    called = 0;
    rcu::quiesce_start();
    std::thread([] { rcu::guard_lock(); }).join();
    std::thread([] { rcu::quiesce(); }).join();
    static pthread_key_t key;  // Its destructor runs behind RCU's own.
    pthread_key_create(&key, [](void* aux) {
      rcu::postpone(count_call, nullptr);
      pthread_setspecific(key, aux);
    });
    std::thread([] { pthread_setspecific(key, &key); }).join();
    rcu::synchronize();
    EXPECT_TRUE(rcu::is_quiescent());  // As only a thread alone stays.
    rcu::quiesce();
    EXPECT_GE(called, 4);
  });
}

TEST(RcuHelper, RunsCallbacksByItself) {
  in_process([] {
    rcu::start_helper();
    for (int i = 1; i < 200; i++) {
      rcu::postpone(
          [](void*) {
            EXPECT_EQ(thread_name().text, "urcu" + std::to_string(thread_id()));
            EXPECT_FALSE(rcu::is_quiescent());
            ++called;
          },
          nullptr);
      rcu::quiesce();
      while (called < i) {
        rcu::quiesce();
        std::this_thread::yield();
      }
    }
  });
}

TEST_P(Rcu, GuardKeepsTheThreadActiveAndNests) {
  process([] {
    called = 0;
    Actor reader, waiter;
    reader.run([] {
      rcu::guard_lock();
      rcu::guard_lock();
      EXPECT_FALSE(rcu::is_quiescent());
      rcu::guard_unlock();
      EXPECT_FALSE(rcu::is_quiescent());
    });
    waiter.start([] {
      rcu::synchronize();
      rcu::quiesce_start();
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(waiter.is_busy());
    reader.run([] {
      rcu::guard_unlock();
      EXPECT_TRUE(rcu::is_quiescent());
    });
    waiter.wait();
    // A thread that was active stays so.
    rcu::quiesce_end();
    rcu::guard_lock();
    rcu::postpone(count_call, nullptr);
    rcu::guard_unlock();
    EXPECT_FALSE(rcu::is_quiescent());
    EXPECT_EQ(called, 0);
    rcu::barrier();
    EXPECT_EQ(called, 1);
    // One that was quiescent hands over what it posted inside.
    rcu::quiesce_start();
    rcu::guard_lock();
    rcu::postpone(count_call, nullptr);
    rcu::guard_unlock();
    EXPECT_TRUE(rcu::is_quiescent());
    rcu::barrier_keeping_state();
    EXPECT_EQ(called, 2);
    // One that becomes active inside stays so.
    rcu::guard_lock();
    rcu::quiesce_end();
    rcu::guard_unlock();
    EXPECT_FALSE(rcu::is_quiescent());
  });
}

TEST_P(Rcu, ExitRunsEverythingAndIsIdempotent) {
  process([] {
    std::thread([] { rcu::postpone(count_call, nullptr); }).join();
    Actor other;
    other.run([] {
      rcu::postpone(count_call, nullptr);
      rcu::quiesce_start();
    });
    // Each one posts the next: seven of them are within the eight rounds.
    static void (*again)(void*) = [](void* aux) {
      ++called;
      long left = reinterpret_cast<long>(aux);
      if (left > 1) rcu::postpone(again, reinterpret_cast<void*>(left - 1));
    };
    rcu::postpone(again, reinterpret_cast<void*>(7));
    rcu::exit();
    EXPECT_EQ(called, 2 + 7);
    rcu::postpone(count_call, nullptr);
    rcu::exit();
    rcu::quiesce();
    rcu::quiesce_start();
    rcu::barrier();
    EXPECT_EQ(called, 2 + 7);
  });
}

TEST(RcuExit, EndsThoughACallbackAlwaysPostsAnother) {
  in_process([] {
    static void (*again)(void*) = [](void*) {
      ++called;
      rcu::postpone(again, nullptr);
    };
    rcu::postpone(again, nullptr);
    rcu::exit();
    EXPECT_EQ(called, 8);
  });
}

TEST(RcuExit, MayBeTheFirstCall) {
  in_process([] {
    rcu::exit();
    rcu::exit();
  });
}

}  // namespace
}  // namespace ovsthread
