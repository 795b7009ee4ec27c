// SPDX-License-Identifier: Apache-2.0
//
// Threads, barriers, thread-specific data and fork through the C and C++ faces.
// Tests that create threads run in a process of their own, because the first
// one changes a process for good.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "in-process.h"
#include "log.h"
#include "ovs-thread.h"
#include "ovsthread/thread.h"
#include "thread-id.h"

static thread_local std::string subprogram_name;

// As Open vSwitch's logging provides it.
extern "C" void set_subprogram_name(const char* name);
extern "C" void set_subprogram_name(const char* name) {
  subprogram_name = name;
}

namespace ovsthread {
namespace {

pthread_t create(const char* name, const std::function<void()>& body) {
  return ovs_thread_create(
      name,
      [](void* aux) -> void* {
        (*static_cast<const std::function<void()>*>(aux))();
        return aux;
      },
      const_cast<std::function<void()>*>(&body));
}

TEST(OvsThreadCreate, StartsAThreadAsPromised) {
  in_process([] {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    xpthread_sigmask(SIG_BLOCK, &mask, nullptr);
    EXPECT_TRUE(single_threaded());
    EXPECT_TRUE(may_fork());
    EXPECT_TRUE(ovsrcu_is_quiescent());
    std::function<void()> body = [] {
      std::string name =
          "averyverylongna" + std::to_string(ovsthread_id_self());
      EXPECT_EQ(thread_name().text, name);
      EXPECT_EQ(subprogram_name, name);
      char kernel_name[16];
      pthread_getname_np(pthread_self(), kernel_name, sizeof kernel_name);
      EXPECT_EQ(kernel_name, ">" + name.substr(name.size() - 14));
      EXPECT_EQ(*ovsthread_id_get(), thread_id());
      EXPECT_FALSE(ovsrcu_is_quiescent());
      EXPECT_FALSE(thread_is_pmd());
      sigset_t inherited;
      xpthread_sigmask(SIG_BLOCK, nullptr, &inherited);
      EXPECT_TRUE(sigismember(&inherited, SIGUSR1));
      EXPECT_FALSE(sigismember(&inherited, SIGUSR2));
      pthread_attr_t attributes;
      void* stack;
      size_t size = 0;
      pthread_getattr_np(pthread_self(), &attributes);
      pthread_attr_getstack(&attributes, &stack, &size);
      pthread_attr_destroy(&attributes);
      EXPECT_GE(size, 512u * 1024);
    };
    pthread_t thread = create("averyverylongname", body);
    EXPECT_FALSE(single_threaded());
    EXPECT_FALSE(may_fork());
    EXPECT_FALSE(ovsrcu_is_quiescent());
    void* result;
    xpthread_join(thread, &result);
    EXPECT_EQ(result, &body);
    // Only the first call changes the caller's state.
    ovsrcu_quiesce_start();
    xpthread_join(create("pmd-c01", [] { EXPECT_TRUE(thread_is_pmd()); }),
                  nullptr);
    EXPECT_TRUE(ovsrcu_is_quiescent());
  });
}

int threads_of_process() {
  int count = 0;
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  while (fgets(line, sizeof line, file) != nullptr) {
    sscanf(line, "Threads: %d", &count);
  }
  fclose(file);
  return count;
}

TEST(OvsThreadCreate, NoThreadIsStartedBeforeIt) {
  in_process([] {
    int threads = threads_of_process();
    for (int i = 0; i < 1000; i++) ovsrcu_postpone(free, malloc(1));
    ovsrcu_quiesce();
    ovsrcu_synchronize();
    ovsrcu_barrier();
    ovsrcu_quiesce_start();
    EXPECT_EQ(threads_of_process(), threads);
    EXPECT_TRUE(may_fork());
  });
}

TEST(OvsThreadId, IsUnsetUntilAskedFor) {
  in_process([] {
    // A lock or RCU may number the thread, but the program doesn't see it.
    unsigned number = thread_id();
    EXPECT_EQ(*ovsthread_id_get(), OVSTHREAD_ID_UNSET);
    EXPECT_EQ(ovsthread_id_init(), number);
    EXPECT_EQ(ovsthread_id_self(), number);
    EXPECT_EQ(this_thread_number(), number);
    std::thread([number] {
      EXPECT_EQ(*ovsthread_id_get(), OVSTHREAD_ID_UNSET);
      EXPECT_EQ(ovsthread_id_self(), number + 1);
      EXPECT_EQ(*ovsthread_id_get(), number + 1);
    }).join();
  });
  EXPECT_DEATH(
      {
        ovsthread_id_self();
        ovsthread_id_init();
      },
      "ovsthread_id_init called twice by thread main");
}

TEST(OvsCores, AreCounted) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(count_cpu_cores(), CPU_COUNT(&set));
  EXPECT_EQ(count_cpu_cores(), CPU_COUNT(&set));
  EXPECT_GE(count_total_cores(), count_cpu_cores());
}

// Fork.

TEST(OvsFork, ForksWhileAllowed) {
  in_process([] {
    // All of it goes on in a child of a process with one thread.
    int called = 0;
    auto count = [](int* counter) { ++*counter; };
    ovsrcu_postpone(+count, &called);
    pid_t child = xfork();
    if (child == 0) {
      ovsrcu_quiesce();
      if (called != 1) _exit(1);
      ovsrcu_postpone(+count, &called);
      xpthread_join(create("child", [] { ovsrcu_quiesce(); }), nullptr);
      ovsrcu_barrier();
      ovsrcu_exit();
      _exit(called != 2);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ovsrcu_quiesce();
    EXPECT_EQ(called, 1);
  });
}

TEST(OvsFork, ExitsWhereForbidden) {
  auto exits_with_failure = testing::ExitedWithCode(EXIT_FAILURE);
  EXPECT_EXIT(
      {
        forbid_forking("of a reason");
        if (may_fork()) abort();
        xfork();
      },
      exits_with_failure,
      "test-thread.cc:[0-9]+: fork is forbidden: of a reason");
  EXPECT_EXIT(
      {
        xpthread_join(create("x", [] {}), nullptr);
        xfork();
      },
      exits_with_failure, "fork is forbidden: multiple threads exist");
  EXPECT_EXIT(
      {
        assert_single_threaded();
        xpthread_join(create("x", [] {}), nullptr);
        assert_single_threaded();
      },
      exits_with_failure, "test-thread.cc:[0-9]+: multiple threads exist");
  EXPECT_DEATH(forbid_forking(nullptr), "forbid_forking called without a");
}

TEST(XPthread, AbortsOnErrors) {
  EXPECT_DEATH(xpthread_join(pthread_self(), nullptr),
               "pthread_join failed: Resource deadlock avoided");
  EXPECT_DEATH(xpthread_key_delete(12345), "pthread_key_delete failed");
  sigset_t set;
  sigemptyset(&set);
  EXPECT_DEATH(xpthread_sigmask(99, &set, nullptr), "pthread_sigmask failed");
}

TEST(XPthread, Wraps) {
  pthread_mutexattr_t mutex_attributes;
  int type = -1;
  xpthread_mutexattr_init(&mutex_attributes);
  xpthread_mutexattr_settype(&mutex_attributes, PTHREAD_MUTEX_RECURSIVE);
  xpthread_mutexattr_gettype(&mutex_attributes, &type);
  EXPECT_EQ(type, PTHREAD_MUTEX_RECURSIVE);
  xpthread_mutexattr_destroy(&mutex_attributes);
  pthread_rwlockattr_t rwlock_attributes;
  int kind = -1;
  xpthread_rwlockattr_init(&rwlock_attributes);
  xpthread_rwlockattr_setkind_np(&rwlock_attributes,
                                 PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlockattr_getkind_np(&rwlock_attributes, &kind);
  EXPECT_EQ(kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  xpthread_rwlockattr_destroy(&rwlock_attributes);
  pthread_cond_t cond;
  xpthread_cond_init(&cond, nullptr);
  xpthread_cond_signal(&cond);
  xpthread_cond_broadcast(&cond);
  xpthread_cond_destroy(&cond);
  pthread_key_t key;
  xpthread_key_create(&key, nullptr);
  xpthread_setspecific(key, &key);
  EXPECT_EQ(pthread_getspecific(key), &key);
  xpthread_key_delete(key);
}

// Barriers.

TEST(OvsBarrier, SeparatesRounds) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  ovs_barrier barrier;
  ovs_barrier_init(&barrier, kThreads);
  int data[kThreads] = {};  // Not atomic: the barrier orders.
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&barrier, &data, i] {
      for (int round = 1; round <= kRounds; round++) {
        data[i] = round;
        ovs_barrier_block(&barrier);
        for (int value : data) ASSERT_EQ(value, round);
        ovs_barrier_block(&barrier);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ovs_barrier_destroy(&barrier);
}

// More threads than make a round use it: each is released by a round of its
// own.
TEST(OvsBarrier, FormsRoundsFromAnyThreads) {
  constexpr int kThreads = 6;
  constexpr int kBlocks = 20000;
  ovs_barrier barrier;
  ovs_barrier_init(&barrier, 2);
  std::atomic<int> blocks{0}, arrived{0}, left{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      while (blocks++ < kBlocks) {
        arrived++;
        ovs_barrier_block(&barrier);
        int now_left = ++left;
        // An odd one still waits.
        ASSERT_LE(now_left, arrived / 2 * 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left, kBlocks);
  ovs_barrier_destroy(&barrier);
}

// The first thread that leaves destroys and frees it at once.
TEST(OvsBarrier, MayBeDestroyedRightAfterItReleases) {
  constexpr int kRounds = 100000;
  std::atomic<ovs_barrier*> current{nullptr};
  std::atomic<int> destroyed{0};
  auto round = [&current, &destroyed](int i, bool creator) {
    ovs_barrier* barrier;
    if (creator) {
      barrier = static_cast<ovs_barrier*>(malloc(sizeof *barrier));
      ovs_barrier_init(barrier, 2);
      current = barrier;
    } else {
      while ((barrier = current.exchange(nullptr)) == nullptr) sched_yield();
    }
    ovs_barrier_block(barrier);
    // Whoever comes first.
    int expected = i;
    if (destroyed.compare_exchange_strong(expected, i + 1)) {
      ovs_barrier_destroy(barrier);
      memset(barrier, 0xff, sizeof *barrier);
      asm volatile("" : : "r"(barrier) : "memory");  // Keeps the memset.
      free(barrier);
    }
  };
  std::thread other([&round] {
    for (int i = 0; i < kRounds; i++) round(i, false);
  });
  for (int i = 0; i < kRounds; i++) round(i, true);
  other.join();
}

TEST(OvsBarrier, MayBeStaticAndInitialisedAgain) {
  static ovs_barrier barrier;
  for (int i = 0; i < 10; i++) {
    ovs_barrier_init(&barrier, 2);
    std::thread other([] { ovs_barrier_block(&barrier); });
    ovs_barrier_block(&barrier);
    ovs_barrier_destroy(&barrier);
    other.join();
  }
}

// An active thread that waits in a barrier doesn't hold up grace periods.
TEST(OvsBarrier, WaitsQuiescent) {
  in_process([] {
    ovs_barrier barrier;
    ovs_barrier_init(&barrier, 2);
    std::thread other([&barrier] {
      ovsrcu_quiesce_end();
      ovs_barrier_block(&barrier);
      EXPECT_FALSE(ovsrcu_is_quiescent());
      ovsrcu_quiesce_start();
      ovs_barrier_block(&barrier);
      EXPECT_TRUE(ovsrcu_is_quiescent());
    });
    while (__atomic_load_n(&barrier.arrivals, __ATOMIC_RELAXED) == 0) {
      std::this_thread::yield();
    }
    ovsrcu_synchronize();
    ovsrcu_quiesce_start();
    ovs_barrier_block(&barrier);
    EXPECT_TRUE(ovsrcu_is_quiescent());
    ovs_barrier_block(&barrier);
    other.join();
    ovs_barrier_destroy(&barrier);
  });
}

TEST(OvsBarrier, OfNoThreadsIsDiagnosed) {
  ovs_barrier barrier;
  ovs_barrier_init(&barrier, 0);
  EXPECT_DEATH(ovs_barrier_block(&barrier),
               "barrier 0x[0-9a-f]+ of no threads: ovs_barrier_block called");
}

// Thread-specific data.

std::atomic<int> destructors;

TEST(OvsThreadKey, IsEachThreadsOwn) {
  ovsthread_key_t key;
  ovsthread_key_create(&key, nullptr);
  EXPECT_EQ(ovsthread_getspecific(key), nullptr);
  int mine;
  ovsthread_setspecific(key, &mine);
  std::thread([key] {
    EXPECT_EQ(ovsthread_getspecific(key), nullptr);
    int theirs;
    ovsthread_setspecific(key, &theirs);
    EXPECT_EQ(ovsthread_getspecific(key), &theirs);
  }).join();
  EXPECT_EQ(ovsthread_getspecific(key), &mine);
  ovsthread_key_delete(key);
  // A new key, even if it takes the place of the old one, starts empty.
  ovsthread_key_create(&key, nullptr);
  EXPECT_EQ(ovsthread_getspecific(key), nullptr);
  ovsthread_key_delete(key);
}

TEST(OvsThreadKey, DestructorsRunOnceForValuesThatAreSet) {
  constexpr int kKeys = 300;
  static ovsthread_key_t keys[kKeys];
  for (ovsthread_key_t& key : keys) {
    ovsthread_key_create(&key, [](void* value) {
      EXPECT_EQ(value, keys);
      destructors++;
    });
  }
  destructors = 0;
  std::thread([] {
    for (int i = 0; i < kKeys; i += 3) ovsthread_setspecific(keys[i], keys);
    ovsthread_setspecific(keys[0], nullptr);
  }).join();
  EXPECT_EQ(destructors, kKeys / 3 - 1);
  // Not after the key was deleted.
  std::thread([] {
    for (ovsthread_key_t key : keys) ovsthread_setspecific(key, keys);
    for (ovsthread_key_t key : keys) ovsthread_key_delete(key);
  }).join();
  EXPECT_EQ(destructors, kKeys / 3 - 1);
}

TEST(OvsThreadKey, DeletionWaitsForARunningDestructor) {
  static std::atomic<bool> inside, ended;
  inside = ended = false;
  ovsthread_key_t key;
  ovsthread_key_create(&key, [](void*) {
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  std::thread thread([key] { ovsthread_setspecific(key, &inside); });
  while (!inside) std::this_thread::yield();
  ovsthread_key_delete(key);
  EXPECT_TRUE(ended);
  thread.join();
}

TEST(OvsThreadKey, OneTooManyAborts) {
  EXPECT_DEATH(
      for (int i = 0; i <= 1 << 20; i++) {
        ovsthread_key_t key;
        ovsthread_key_create(&key, nullptr);
        if (i == (1 << 20) - 1) fputs("all made\n", stderr);
      },
      "all made");
}

TEST(OvsThreadKey, SurvivesFork) {
  if (!kForkBesideThreads) {
    GTEST_SKIP() << "the sanitizer's own locks don't survive fork beside busy "
                    "threads";
  }
  in_process([] {
    ovsthread_key_t key;
    ovsthread_key_create(&key, nullptr);
    ovsthread_setspecific(key, &destructors);
    std::atomic<bool> stop{false};
    std::thread other([&stop] {
      while (!stop) {
        ovsthread_key_t scratch;
        ovsthread_key_create(&scratch, nullptr);
        ovsthread_setspecific(scratch, &stop);
        ovsthread_key_delete(scratch);
      }
    });
    for (int i = 0; i < 50; i++) {
      pid_t child = fork();
      if (child == 0) {
        alarm(kPatienceSeconds / 2);  // Before the parent's.
        ovsthread_key_t another;
        ovsthread_key_create(&another, nullptr);
        ovsthread_setspecific(another, &stop);
        _exit(ovsthread_getspecific(key) != &destructors);
      }
      int status;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    stop = true;
    other.join();
  });
}

TEST(OvsThreadStats, ThreadsFindTheirBuckets) {
  constexpr int kThreads = 40;
  ovsthread_stats stats;
  ovsthread_stats_init(&stats);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&stats] {
      auto make = [] { return static_cast<void*>(new std::atomic<int>(0)); };
      void* bucket = ovsthread_stats_bucket_get(&stats, make);
      EXPECT_EQ(bucket, ovsthread_stats_bucket_get(&stats, make));
      ++*static_cast<std::atomic<int>*>(bucket);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0, buckets = 0;
  std::atomic<int>* bucket;
  size_t i;
  OVSTHREAD_STATS_FOR_EACH_BUCKET(bucket, i, &stats) {
    sum += *bucket;
    buckets++;
    delete bucket;
  }
  EXPECT_EQ(sum, kThreads);
  EXPECT_EQ(buckets, 16);
  ovsthread_stats_destroy(&stats);
}

// The C++ face.

TEST(Thread, RunsWithItsArguments) {
  in_process([] {
    auto value = std::make_unique<int>(5);
    std::atomic<int> sum{0};
    Thread thread(
        "adder",
        [&sum](std::unique_ptr<int> a, int b) {
          EXPECT_EQ(std::string(thread_name().text).substr(0, 5), "adder");
          EXPECT_FALSE(ovsrcu_is_quiescent());
          sum = *a + b;
        },
        std::move(value), 6);
    EXPECT_TRUE(thread.joinable());
    Thread moved = std::move(thread);
    EXPECT_FALSE(thread.joinable());
    moved.join();
    EXPECT_FALSE(moved.joinable());
    EXPECT_EQ(sum, 11);
    // The destructor and an assignment join.
    {
      Thread first("one", [&sum] { sum++; });
      first = Thread("two", [&sum] { sum++; });
    }
    EXPECT_EQ(sum, 13);
  });
  EXPECT_DEATH(Thread().join(), "Thread::join called on a thread that is not");
}

}  // namespace
}  // namespace ovsthread
