// SPDX-License-Identifier: Apache-2.0
//
// Statistics of locks: what is counted, for whom, and what is never lost.
#include <dlfcn.h>
#include <ovsthread/lock-stats.h>
#include <ovsthread/mutex.h>
#include <ovsthread/rwlock.h>
#include <ovsthread/spinlock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "in-process.h"
#include "lock-stats-recorder.h"
#include "lock-testing.h"
#include "openvswitch/thread.h"
#include "ovsthread-rwlock.h"

// In the place of the C library's, which waits for the dynamic linker's lock.
static int n_dladdr_calls;
extern "C" int dladdr(const void*, Dl_info*) noexcept {
  n_dladdr_calls++;
  return 0;
}

namespace ovsthread {
namespace {

class LockStatistics : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_ON), 0);
    ovs_lock_stats_reset();
  }
  void TearDown() override { ovs_lock_stats_set(OVS_LOCK_STATS_OFF); }

  // The entries of the locks named LOCK.
  static LockStats entries(const std::string& lock) {
    LockStats found;
    for (const ovs_lock_stats_entry& entry : lock_stats()) {
      if (entry.lock == lock) found.push_back(entry);
    }
    return found;
  }
  static ovs_lock_stats_entry the_entry(const std::string& lock) {
    LockStats found = entries(lock);
    EXPECT_EQ(found.size(), 1u) << lock;
    return found.empty() ? ovs_lock_stats_entry{} : found[0];
  }
};

TEST_F(LockStatistics, CountsByLockAndPlace) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
  set_lock_name(mutex, "the mutex");
  set_lock_name(rwlock, "the rwlock");
  for (int i = 0; i < 3; i++) {
    ovs_mutex_lock_at(&mutex, "/some/where/first.c:1");
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_EQ(ovs_mutex_trylock_at(&mutex, "second.c:2"), 0);
  elsewhere(
      [&] { EXPECT_EQ(ovs_mutex_trylock_at(&mutex, "third.c:3"), EBUSY); });
  ovs_mutex_unlock(&mutex);
  ovs_rwlock_rdlock_at(&rwlock, "first.c:1");
  ovs_rwlock_unlock(&rwlock);
  ovs_rwlock_wrlock_at(&rwlock, "second.c:2");
  ovs_rwlock_unlock(&rwlock);
  SpinLock spin;
  set_lock_name(spin, "the spin lock");
  { SpinLockGuard guard(spin); }
  EXPECT_EQ(the_entry("the spin lock").use, OVS_LOCK_USE_SPIN);
  LockStats of_mutex = entries("the mutex");
  ASSERT_GE(of_mutex.size(), 2u);
  EXPECT_STREQ(of_mutex[0].site, "first.c:1");
  EXPECT_EQ(of_mutex[0].acquisitions, 3u);
  EXPECT_EQ(of_mutex[0].elided + of_mutex[0].real, 3u);
  EXPECT_EQ(of_mutex[0].use, OVS_LOCK_USE_MUTEX);
  EXPECT_EQ(of_mutex[0].address, reinterpret_cast<uintptr_t>(&mutex));
  EXPECT_EQ(of_mutex[0].pid, getpid());
  EXPECT_STREQ(of_mutex[1].site, "second.c:2");
  EXPECT_EQ(of_mutex[1].acquisitions, 1u);
  EXPECT_EQ(of_mutex[0].id, of_mutex[1].id);
  LockStats of_rwlock = entries("the rwlock");
  ASSERT_EQ(of_rwlock.size(), 2u);
  EXPECT_EQ(of_rwlock[0].use, OVS_LOCK_USE_READ);
  EXPECT_EQ(of_rwlock[1].use, OVS_LOCK_USE_WRITE);
  EXPECT_NE(of_rwlock[0].id, of_mutex[0].id);
  ovs_mutex_destroy(&mutex);
  ovs_rwlock_destroy(&rwlock);
}

TEST_F(LockStatistics, AreExactWithSeveralThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 1000;  // which are counted one by one
  Mutex mutex;
  set_lock_name(mutex, "shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; round++) {
        MutexLock guard(mutex, "guard.cc", 7);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ovs_lock_stats_entry entry = the_entry("shared");
  EXPECT_STREQ(entry.site, "guard.cc:7");
  EXPECT_EQ(entry.acquisitions, uint64_t{kThreads * kRounds});
  EXPECT_LE(entry.longest_ns, entry.waited_ns);
}

TEST_F(LockStatistics, AnUnnamedLockShowsItsFirstPlace) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
  for (const char* site : {"unnamed.c:1", "unnamed.c:2"}) {
    ovs_mutex_lock_at(&mutex, site);
    ovs_mutex_unlock(&mutex);
  }
  ovs_rwlock_wrlock_at(&rwlock, "unnamed.c:3");
  ovs_rwlock_unlock(&rwlock);
  EXPECT_EQ(entries("mutex at unnamed.c:1").size(), 2u);
  EXPECT_EQ(entries("rwlock at unnamed.c:3").size(), 1u);
  // A name that comes later is for what was counted, too.
  std::string name(100, 'x');
  set_lock_name(mutex, name.c_str());
  EXPECT_EQ(entries(name.substr(0, 63)).size(), 2u);
  ovs_mutex_destroy(&mutex);
  ovs_rwlock_destroy(&rwlock);
}

// Who has the linker's lock, in a constructor for one, may be waiting for the
// lock that is counted.
TEST_F(LockStatistics, ACodeAddressIsShownWithoutTheDynamicLinkersLock) {
  Mutex mutex;
  set_lock_name(mutex, "of a standard guard");
  n_dladdr_calls = 0;
  { std::lock_guard guard(mutex); }
  EXPECT_EQ(n_dladdr_calls, 0);
  std::string site = the_entry("of a standard guard").site;
  EXPECT_NE(site.find("lock-stats+0x"), std::string::npos) << site;
}

// Else their numbers would be two series of one name.
TEST_F(LockStatistics, PlacesThatReadTheSameAreOne) {
  // Lives on, as sites must.
  static const std::string kSites[] = {"a/util.h:10", "b/util.h:10",
                                       std::string(1000, 'x') + ":1",
                                       std::string(1000, 'x') + ":2"};
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  for (const std::string& site : kSites) {
    ovs_mutex_lock_at(&mutex, site.c_str());
    ovs_mutex_unlock(&mutex);
  }
  LockStats found = entries("mutex at util.h:10");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].acquisitions, 2u);
  EXPECT_EQ(found[1].acquisitions, 2u);
  ovs_mutex_destroy(&mutex);
}

TEST_F(LockStatistics, ReadsAndWritesOfOneLineAreTwoUses) {
  ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
  set_lock_name(rwlock, "read and written");
  constexpr char kSite[] = "both.c:1";
  for (int i = 0; i < 5; i++) {
    i < 2 ? ovs_rwlock_rdlock_at(&rwlock, kSite)
          : ovs_rwlock_wrlock_at(&rwlock, kSite);
    ovs_rwlock_unlock(&rwlock);
  }
  LockStats found = entries("read and written");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].use, OVS_LOCK_USE_READ);
  EXPECT_EQ(found[0].acquisitions, 2u);
  EXPECT_EQ(found[1].use, OVS_LOCK_USE_WRITE);
  EXPECT_EQ(found[1].acquisitions, 3u);
  ovs_rwlock_destroy(&rwlock);
}

TEST_F(LockStatistics, ALockAtTheSameAddressIsAnother) {
  std::optional<Mutex> mutex;
  uint32_t ids[2];
  for (uint32_t& id : ids) {
    mutex.emplace();
    set_lock_name(*mutex, &id == ids ? "the first" : "the second");
    for (int i = 0; i < 5; i++) MutexLock guard(*mutex, "reuse.cc", 1);
    id = the_entry(&id == ids ? "the first" : "the second").id;
    mutex.reset();
  }
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(the_entry("the first").acquisitions, 5u);
  EXPECT_EQ(the_entry("the second").acquisitions, 5u);
  // The name went with the lock.
  mutex.emplace();
  { MutexLock guard(*mutex, "reuse.cc", 2); }
  EXPECT_EQ(the_entry("mutex at reuse.cc:2").acquisitions, 1u);
}

// Else a program that makes locks all the time would have a list of dead ones.
TEST_F(LockStatistics, ALaterLockOfTheSameNameAndPlaceHasTheCountsOfDestroyed) {
  for (int i = 0; i < 10; i++) {
    Mutex mutex;
    set_lock_name(mutex, "of a connection");
    for (const char* file : {"a.cc", "b.cc"}) MutexLock guard(mutex, file, 1);
  }
  LockStats found = entries("of a connection");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].acquisitions, 10u);
  EXPECT_EQ(found[1].acquisitions, 10u);
  // Two that live are two.
  Mutex mutexes[2];
  for (Mutex& mutex : mutexes) {
    set_lock_name(mutex, "of a connection");
    MutexLock guard(mutex, "a.cc", 1);
  }
  EXPECT_EQ(entries("of a connection").size(), 3u);
  ovs_lock_stats_reset();
  EXPECT_EQ(entries("of a connection").size(), 0u);
}

TEST_F(LockStatistics, AWaitIsCountedOnce) {
  static ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "waited for");
  ovs_mutex_lock_at(&mutex, "holder.c:1");
  for_real();
  {
    Sleeper sleeper([] {
      ovs_mutex_lock_at(&mutex, "waiter.c:1");
      ovs_mutex_unlock(&mutex);
    });
    sleeper.wait_until_asleep(
        [] { return __atomic_load_n(&mutex.word, __ATOMIC_RELAXED) & 2; });
    ovs_mutex_unlock(&mutex);
  }
  LockStats found = entries("waited for");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].contended, 0u);
  EXPECT_EQ(found[1].contended, 1u);
  EXPECT_EQ(found[1].real, 1u);
  EXPECT_GT(found[1].waited_ns, 0u);
  EXPECT_EQ(found[1].longest_ns, found[1].waited_ns);
  // The longest wait before a reset is none after it.
  ovs_lock_stats_reset();
  ovs_mutex_lock_at(&mutex, "waiter.c:1");
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(the_entry("waited for").longest_ns, 0u);
  EXPECT_EQ(the_entry("waited for").contended, 0u);
  ovs_mutex_destroy(&mutex);
}

// Statistics are switched on in the middle of an acquisition, which ends
// without having arrived.
TEST_F(LockStatistics, AWaitIsNotThatOfALaterAcquisition) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "taken again");
  stats::Recorder recorder;
  auto take = [&] { recorder.take(&mutex, "later.c:1", OVS_LOCK_USE_MUTEX); };
  auto start = [&] { recorder.start(&mutex, "later.c:1", OVS_LOCK_USE_MUTEX); };
  take();
  recorder.arrive(false);
  recorder.wait();
  take();
  recorder.arrive(false);
  take();
  recorder.wait();
  start();
  recorder.commit();
  take();
  recorder.wait();
  recorder.leave();
  take();
  recorder.wait();
  recorder.end_wait(&mutex, "later.c:1", OVS_LOCK_USE_MUTEX);
  take();
  EXPECT_EQ(the_entry("taken again").acquisitions, 2u);
  EXPECT_EQ(the_entry("taken again").contended, 3u);
  ovs_mutex_destroy(&mutex);
}

// The first ones are counted one by one, then some stand for others; all waits
// and aborts are counted, and what is taken inside a section counts like it.
TEST_F(LockStatistics, SomeAcquisitionsStandForOthers) {
  constexpr unsigned kSingly = 1024, kRounds = 200000;
  ovs_mutex mutexes[3];
  const char* names[3] = {"outer", "inner", "other"};
  for (int i = 0; i < 3; i++) {
    ovs_mutex_init(&mutexes[i]);
    set_lock_name(mutexes[i], names[i]);
  }
  stats::Recorder recorder;
  auto round = [&](unsigned i) {
    recorder.arrive(true);
    recorder.start(&mutexes[0], "outer.c:1", OVS_LOCK_USE_MUTEX);
    if (i % 10 == 0) {
      recorder.abort(&mutexes[0], "outer.c:1", OVS_LOCK_USE_MUTEX,
                     OVS_ABORT_CONFLICT, 0);
      recorder.start(&mutexes[0], "outer.c:1", OVS_LOCK_USE_MUTEX);
    }
    recorder.nest(&mutexes[1], "inner.c:1", OVS_LOCK_USE_MUTEX, true);
    recorder.commit();
    recorder.arrive(true);
    recorder.refuse(false);
    if (i % 100 == 0) recorder.wait();
    recorder.take(&mutexes[2], "other.c:1", OVS_LOCK_USE_MUTEX);
    recorder.leave();
  };
  for (unsigned i = 0; i < kSingly / 2; i++) round(i);
  EXPECT_EQ(the_entry("outer").elided, kSingly / 2);
  EXPECT_EQ(the_entry("inner").elided, kSingly / 2);
  EXPECT_EQ(the_entry("other").real, kSingly / 2);
  ovs_lock_stats_reset();
  for (unsigned i = 0; i < kRounds; i++) round(i);
  EXPECT_NEAR(static_cast<double>(the_entry("outer").elided), kRounds,
              kRounds / 10);
  EXPECT_EQ(the_entry("inner").elided, the_entry("outer").elided);
  EXPECT_NEAR(static_cast<double>(the_entry("other").real), kRounds,
              kRounds / 10);
  EXPECT_EQ(the_entry("outer").aborts[OVS_ABORT_CONFLICT], kRounds / 10);
  EXPECT_EQ(the_entry("other").contended, kRounds / 100);
  for (ovs_mutex& mutex : mutexes) ovs_mutex_destroy(&mutex);
}

// Those that wait among acquisitions that another one stands for.
TEST_F(LockStatistics, AllWaitsAreCounted) {
  static ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  static ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
  static std::atomic<bool> warm;
  struct Way {
    const char* name;
    void (*hold)();
    void (*wait)();
    void (*unlock)();
  };
  const Way kWays[] = {
      {"mutex", [] { ovs_mutex_lock_at(&mutex, "holder.c:1"); },
       [] { ovs_mutex_lock_at(&mutex, "waiter.c:1"); },
       [] { ovs_mutex_unlock(&mutex); }},
      {"reader", [] { ovs_rwlock_wrlock_at(&rwlock, "holder.c:1"); },
       [] { ovs_rwlock_rdlock_at(&rwlock, "waiter.c:1"); },
       [] { ovs_rwlock_unlock(&rwlock); }},
      {"writer", [] { ovs_rwlock_rdlock_at(&rwlock, "holder.c:1"); },
       [] { ovs_rwlock_wrlock_at(&rwlock, "waiter.c:1"); },
       [] { ovs_rwlock_unlock(&rwlock); }},
  };
  set_lock_name(mutex, "waited for");
  set_lock_name(rwlock, "waited for");
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    ovs_lock_stats_reset();
    warm.store(false);
    way.hold();
    for_real();
    {
      Sleeper sleeper([&way] {
        Mutex own;
        for (int i = 0; i < 1025; i++) MutexLock guard(own);
        warm.store(true);
        way.wait();
        way.unlock();
      });
      sleeper.wait_until_asleep([] { return warm.load(); });
      way.unlock();
    }
    ovs_lock_stats_entry found = {};
    for (const ovs_lock_stats_entry& entry : entries("waited for")) {
      if (std::string(entry.site) == "waiter.c:1") found = entry;
    }
    EXPECT_EQ(found.contended, 1u);
    EXPECT_GT(found.waited_ns, 0u);
    EXPECT_EQ(found.acquisitions, 0u);
  }
  ovs_mutex_destroy(&mutex);
  ovs_rwlock_destroy(&rwlock);
}

// Another thread may destroy a lock as soon as its section has committed.
TEST_F(LockStatistics, ASectionCountsForItsLockEvenIfThatIsGone) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "gone");
  stats::Recorder recorder;
  recorder.arrive(true);
  recorder.start(&mutex, "gone.c:1", OVS_LOCK_USE_MUTEX);
  ovs_mutex_destroy(&mutex);
  recorder.commit();
  EXPECT_EQ(the_entry("gone").elided, 1u);
  EXPECT_EQ(lock_stats().size(), 1u);
}

TEST_F(LockStatistics, WaitingOnAConditionIsNone) {
  static ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static bool done = false;
  set_lock_name(mutex, "with a condition");
  {
    Sleeper sleeper([] {
      ovs_mutex_lock_at(&mutex, "waiter.c:1");
      while (!done) ovs_mutex_cond_wait(&condition, &mutex);
      ovs_mutex_unlock(&mutex);
    });
    sleeper.wait_until_asleep(
        [] { return __atomic_load_n(&mutex.word, __ATOMIC_RELAXED) & 4; });
    ovs_mutex_lock_at(&mutex, "signaller.c:1");
    done = true;
    ovs_mutex_unlock(&mutex);
    pthread_cond_signal(&condition);
  }
  for (const ovs_lock_stats_entry& entry : entries("with a condition")) {
    EXPECT_EQ(entry.acquisitions, 1u) << entry.site;
    EXPECT_EQ(entry.contended, 0u) << entry.site;
  }
  ovs_mutex_destroy(&mutex);
}

TEST_F(LockStatistics, OutliveTheirThreads) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "outlived");
  for (int i = 0; i < 10; i++) {
    elsewhere([&] {
      ovs_mutex_lock_at(&mutex, "thread.c:1");
      ovs_mutex_unlock(&mutex);
    });
  }
  EXPECT_EQ(the_entry("outlived").acquisitions, 10u);
  ovs_lock_stats_reset();
  EXPECT_EQ(entries("outlived").size(), 0u);
  ovs_mutex_destroy(&mutex);
}

TEST_F(LockStatistics, NothingIsCountedWhileOff) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "not counted");
  EXPECT_EQ(ovs_lock_stats_get(), OVS_LOCK_STATS_ON);
  EXPECT_EQ(ovs_lock_stats_set(OVS_LOCK_STATS_OFF), 0);
  EXPECT_EQ(ovs_lock_stats_get(), OVS_LOCK_STATS_OFF);
  ovs_mutex_lock(&mutex);
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(entries("not counted").size(), 0u);
  EXPECT_EQ(ovs_lock_stats_set(static_cast<ovs_lock_stats_mode>(3)), EINVAL);
  ovs_mutex_destroy(&mutex);
}

TEST_F(LockStatistics, MayBeSwitchedWhileOthersLock) {
  constexpr int kThreads = 3;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20000; round++) {
        ovs_mutex_lock(&mutex);
        sum++;
        ovs_mutex_unlock(&mutex);
      }
    });
  }
  for (int i = 0; i < 1000; i++) {
    ovs_lock_stats_set(i % 2 ? OVS_LOCK_STATS_ON : OVS_LOCK_STATS_OFF);
    if (i % 16 == 0) ovs_lock_stats_reset();
    if (i % 64 == 0) sched_yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, kThreads * 20000);
  ovs_mutex_destroy(&mutex);
}

// In a process of its own, whose table is empty.
TEST_F(LockStatistics, WhatFindsNoRoomIsCountedAsOthers) {
  in_process([] {
    constexpr uint64_t kLocks = 5000;
    constexpr uint64_t kRounds = 3;
    std::vector<ovs_mutex> mutexes(kLocks);
    for (ovs_mutex& mutex : mutexes) ovs_mutex_init(&mutex);
    for (uint64_t round = 0; round < kRounds; round++) {
      for (ovs_mutex& mutex : mutexes) {
        ovs_mutex_lock_at(&mutex, "many.c:1");
        ovs_mutex_unlock(&mutex);
      }
    }
    LockStats all = lock_stats();
    uint64_t sum = 0;
    for (const ovs_lock_stats_entry& entry : all) sum += entry.acquisitions;
    // But for those since the last one that was counted.
    EXPECT_LE(sum, kLocks * kRounds);
    EXPECT_GT(sum, kLocks * kRounds - 128);
    EXPECT_LT(all.size(), kLocks);
    EXPECT_STREQ(all.back().lock, "others");
    EXPECT_EQ(all.back().id, 0u);
    EXPECT_GT(all.back().acquisitions, kRounds);
  });
}

TEST_F(LockStatistics, ALockWithoutANameIsCalledByItsKindAndFirstPlace) {
  ovs_spin spin;
  ovs_spin_init(&spin);
  ovs_spin_lock_at(&spin, "nameless.c:1");
  ovs_spin_unlock(&spin);
  EXPECT_EQ(the_entry("spin lock at nameless.c:1").acquisitions, 1u);
  ovs_spin_destroy(&spin);
}

TEST_F(LockStatistics, AChildBeginsAgain) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_lock_name(mutex, "forked");
  for (int i = 0; i < 3; i++) {
    ovs_mutex_lock_at(&mutex, "before.c:1");
    ovs_mutex_unlock(&mutex);
  }
  in_process([&] {
    EXPECT_TRUE(entries("forked").empty());
    ovs_mutex_lock_at(&mutex, "before.c:1");
    ovs_mutex_unlock(&mutex);
    EXPECT_EQ(the_entry("forked").acquisitions, 1u);
  });
  EXPECT_EQ(the_entry("forked").acquisitions, 3u);
  ovs_mutex_destroy(&mutex);
}

// A thread of the parent is in the middle of any call when the child is made.
TEST_F(LockStatistics, AChildFindsTheRegistryFree) {
  if (!kForkBesideThreads) GTEST_SKIP() << "a sanitizer's locks stay taken";
  in_process([] {
    std::jthread caller([](std::stop_token stop) {
      ovs_mutex named = OVS_MUTEX_INITIALIZER;
      while (!stop.stop_requested()) {
        set_lock_name(named, "busy");
        ovs_lock_stats_free(ovs_lock_stats_snapshot());
      }
    });
    ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
    for (int i = 0; i < 100; i++) {
      pid_t child = fork();
      if (child == 0) {
        alarm(kPatienceSeconds);
        int error = set_lock_name(mutex, "forked");
        ovs_mutex_lock_at(&mutex, "after.c:1");
        ovs_mutex_unlock(&mutex);
        ovs_lock_stats_free(ovs_lock_stats_snapshot());
        _exit(error);
      }
      int status = -1;
      EXPECT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
  });
}

TEST_F(LockStatistics, NamesAreBounded) {
  in_process([] {
    std::vector<ovs_mutex> mutexes(5000);
    int error = 0;
    size_t n = 0;
    while (error == 0) error = set_lock_name(mutexes[n++], "one of many");
    EXPECT_EQ(error, ENOMEM);
    EXPECT_GT(n, 4000u);
  });
}

TEST(LockStatisticsWords, AreThoseOfTheFormats) {
  EXPECT_STREQ(ovs_lock_use_name(OVS_LOCK_USE_MUTEX), "lock");
  EXPECT_STREQ(ovs_lock_use_name(OVS_LOCK_USE_READ), "read");
  EXPECT_STREQ(ovs_lock_use_name(OVS_LOCK_USE_WRITE), "write");
  EXPECT_STREQ(ovs_lock_use_name(OVS_LOCK_USE_SPIN), "spin");
  EXPECT_STREQ(ovs_lock_use_name(OVS_N_LOCK_USES), "unknown");
  EXPECT_STREQ(ovs_lock_way_name(OVS_LOCK_WAY_ELIDES), "elides");
  EXPECT_STREQ(ovs_lock_way_name(OVS_LOCK_WAY_OFF), "off");
  EXPECT_STREQ(ovs_lock_way_name(OVS_LOCK_WAY_REAL), "real");
  EXPECT_STREQ(ovs_lock_way_name(OVS_LOCK_WAY_VETOED), "vetoed");
  EXPECT_STREQ(ovs_lock_way_name(OVS_N_LOCK_WAYS), "unknown");
}

}  // namespace
}  // namespace ovsthread
