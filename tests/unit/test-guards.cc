// SPDX-License-Identifier: Apache-2.0
//
// Mutex, SpinLock and RwLock through their C++ face: with the guards of the
// library and with those of the standard.
#include <gtest/gtest.h>
#include <ovsthread/mutex.h>
#include <ovsthread/rwlock.h>
#include <ovsthread/spinlock.h>

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "lock-testing.h"

namespace ovsthread {
namespace {

constinit Mutex static_mutex;
constinit SpinLock static_spin;

// Adds 1 in each of several threads, each time with ADD's guard.
template <class Add>
long count(Add add) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 10000;
  long sum = 0;
  in_threads(kThreads, [&](int) {
    for (int round = 0; round < kRounds; round++) add(sum);
  });
  return sum - long{kThreads} * kRounds;
}

TEST(Guards, MutexLockExcludes) {
  EXPECT_EQ(count([](long& sum) {
              MutexLock lock(static_mutex);
              sum++;
            }),
            0);
}

TEST(Guards, SpinLockGuardExcludes) {
  EXPECT_EQ(count([](long& sum) {
              SpinLockGuard lock(static_spin);
              sum++;
            }),
            0);
}

TEST(Guards, StandardGuardsExclude) {
  Mutex a;
  Mutex b;
  RwLock c;
  SpinLock d;
  EXPECT_EQ(count([&](long& sum) {
              std::scoped_lock lock(a, b, c, d);
              sum++;
            }),
            0);
  EXPECT_EQ(count([&](long& sum) {
              std::unique_lock lock(c);
              sum++;
              lock.unlock();
              std::shared_lock reader(c);
              EXPECT_GT(sum, 0);
            }),
            0);
}

TEST(Guards, WriterAndReaderLock) {
  RwLock lock;
  EXPECT_EQ(count([&](long& sum) {
              {
                WriterLock writer(lock);
                sum++;
              }
              ReaderLock reader(lock);
              EXPECT_GT(sum, 0);
            }),
            0);
  ReaderLock reader(lock);
  for_real();
  elsewhere([&] {
    EXPECT_TRUE(lock.try_lock_shared());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock_shared();
  });
}

template <class Lock>
void try_lock() {
  Lock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  for_real();
  elsewhere([&] { EXPECT_FALSE(lock.try_lock()); });
  lock.unlock();
}

TEST(Guards, TryLock) {
  try_lock<Mutex>();
  try_lock<SpinLock>();
}

template <class Lock>
void play_ping_pong() {
  constexpr int kRounds = 2000;
  Lock lock;
  std::condition_variable_any changed;
  int turn = 0;
  auto play = [&](int me) {
    for (int i = 0; i < kRounds; i++) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return turn % 2 == me; });
      turn++;
      changed.notify_one();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn, 2 * kRounds);
}

TEST(Guards, ConditionVariableAny) {
  play_ping_pong<Mutex>();
  play_ping_pong<RwLock>();
}

TEST(Guards, LocksFillALine) {
  EXPECT_EQ(sizeof(Mutex), size_t{OVSTHREAD_CACHE_LINE_SIZE});
  EXPECT_EQ(alignof(Mutex), size_t{OVSTHREAD_CACHE_LINE_SIZE});
  EXPECT_EQ(sizeof(SpinLock), size_t{OVSTHREAD_CACHE_LINE_SIZE});
  EXPECT_EQ(alignof(SpinLock), size_t{OVSTHREAD_CACHE_LINE_SIZE});
  EXPECT_EQ(sizeof(RwLock), size_t{OVSTHREAD_CACHE_LINE_SIZE});
  EXPECT_EQ(alignof(RwLock), size_t{OVSTHREAD_CACHE_LINE_SIZE});
}

TEST(Guards, MessagesNameFileAndLineOfTheGuards) {
  Mutex mutex;
  int line = __LINE__ + 1;
  MutexLock outer(mutex);
  auto relock = [&] { MutexLock inner(mutex); };
  EXPECT_DEATH(
      relock(),
      "deadlock: .* at [^ ]*test-guards\\.cc:" + std::to_string(line + 1) +
          "; held since [^ ]*test-guards\\.cc:" + std::to_string(line));
}

TEST(Guards, MessagesNameFileAndLineOfASpinLockGuard) {
  SpinLock spin;
  int line = __LINE__ + 1;
  SpinLockGuard outer(spin);
  auto lock_again = [&spin] { SpinLockGuard inner(spin); };
  EXPECT_DEATH(
      lock_again(),
      "deadlock: .* at [^ ]*test-guards\\.cc:" + std::to_string(line + 1) +
          "; held since [^ ]*test-guards\\.cc:" + std::to_string(line));
}

TEST(Guards, MessagesNameTheCodeThatUsesAStandardGuard) {
  RwLock lock;
  EXPECT_DEATH(
      {
        std::lock_guard outer(lock);
        std::lock_guard inner(lock);
      },
      "deadlock: .* at [^ ]+\\+0x[0-9a-f]+; held since [^ ]+\\+0x[0-9a-f]+");
}

TEST(Guards, AssertHeld) {
  Mutex mutex;
  SpinLock spin;
  RwLock lock;
  {
    MutexLock guard(mutex);
    mutex.AssertHeld();
  }
  {
    SpinLockGuard guard(spin);
    spin.AssertHeld();
  }
  {
    WriterLock guard(lock);
    lock.AssertHeld();
    lock.AssertReaderHeld();
  }
  EXPECT_DEATH(mutex.AssertHeld(), "mutex not held by the caller: mutex ");
  EXPECT_DEATH(spin.AssertHeld(), "spin lock not held by the caller: spin ");
  EXPECT_DEATH(lock.AssertReaderHeld(), "rwlock not held by the caller: ");
  ReaderLock guard(lock);
  lock.AssertReaderHeld();
  EXPECT_DEATH(lock.AssertHeld(), "rwlock not held for writing by the caller");
}

TEST(Guards, DestructionOfAHeldLock) {
  EXPECT_DEATH(
      {
        Mutex mutex;
        mutex.lock();
      },
      "destroy of a mutex that is held");
  EXPECT_DEATH(
      {
        SpinLock spin;
        spin.lock();
      },
      "destroy of a spin lock that is held");
  EXPECT_DEATH(
      {
        RwLock lock;
        lock.lock_shared();
      },
      "destroy of an rwlock that is held");
}

}  // namespace
}  // namespace ovsthread
