// SPDX-License-Identifier: Apache-2.0
//
// ovs_rwlock through its C face.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "lock-testing.h"
#include "ovsthread-rwlock.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";

TEST(RwLock, WritersExcludeEveryone) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  long a = 0;
  long b = 0;
  in_threads(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; round++) {
      if ((round + i) % 4 == 0) {
        ovs_rwlock_wrlock(&lock);
        a++;
        b++;
      } else {
        ovs_rwlock_rdlock(&lock);
        EXPECT_EQ(a, b);
      }
      ovs_rwlock_unlock(&lock);
    }
  });
  EXPECT_EQ(a, long{kThreads} * kRounds / 4);
  EXPECT_EQ(lock.word, 1u);
  EXPECT_EQ(lock.waiting_writers, 0u);
  ovs_rwlock_destroy(&lock);
}

TEST(RwLock, ReadersShareTryWritersDoNot) {
  ovs_rwlock lock;
  ovs_rwlock_init(&lock);
  ovs_rwlock_rdlock(&lock);
  for_real();
  elsewhere([&] {
    EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
    for_real();
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  });
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
  for_real();
  elsewhere([&] {
    EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), EBUSY);
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  });
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_destroy(&lock);
}

TEST(RwLock, TryByTheHolder) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_wrlock(&lock);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), EBUSY);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  ovs_rwlock_unlock(&lock);
}

TEST(RwLock, SecondReadLockWithoutAWriterWorks) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_rwlock_rdlock(&lock);
  ovs_rwlock_rdlock(&lock);
  ovs_rwlock_unlock(&lock);
  for_real();
  elsewhere([&] { EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY); });
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
  ovs_rwlock_unlock(&lock);
}

TEST(RwLock, AWaitingWriterKeepsNewReadersOutAndGetsIn) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  std::atomic<bool> wrote{false};
  ovs_rwlock_rdlock(&lock);
  for_real();
  std::thread writer([&] {
    ovs_rwlock_wrlock(&lock);
    wrote = true;
    ovs_rwlock_unlock(&lock);
  });
  // Until the writer waits, others may read.
  elsewhere([&] {
    wait_until([&] {
      if (ovs_rwlock_tryrdlock(&lock) != 0) return true;
      ovs_rwlock_unlock(&lock);
      return false;
    });
  });
  std::thread reader([&] {
    ovs_rwlock_rdlock(&lock);
    EXPECT_TRUE(wrote);
    ovs_rwlock_unlock(&lock);
  });
  EXPECT_FALSE(wrote);
  ovs_rwlock_unlock(&lock);
  writer.join();
  reader.join();
  ovs_rwlock_wrlock(&lock);  // takes away a bias
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(lock.word, 1u);
}

// More read holds than the held-list has room for, released in three orders.
TEST(RwLock, ManyReadHolds) {
  constexpr int kLocks = 50;
  std::vector<ovs_rwlock> locks(kLocks);
  for (ovs_rwlock& lock : locks) ovs_rwlock_init(&lock);
  for (int order = 0; order < 3; order++) {
    for (ovs_rwlock& lock : locks) ovs_rwlock_rdlock(&lock);
    for_real();
    elsewhere([&] {
      for (ovs_rwlock& lock : locks) {
        EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
      }
    });
    for (int i = 0; i < kLocks; i++) {
      int which = order == 0 ? i : order == 1 ? kLocks - 1 - i : i * 7 % kLocks;
      ovs_rwlock_unlock(&locks[which]);
      EXPECT_EQ(ovs_rwlock_trywrlock(&locks[which]), 0);
      ovs_rwlock_unlock(&locks[which]);
    }
  }
  for (ovs_rwlock& lock : locks) ovs_rwlock_destroy(&lock);
}

TEST(RwLock, LockByTheHolder) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  for (auto again : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    EXPECT_MISUSE(
        {
          ovs_rwlock_wrlock_at(&lock, kTaken);
          again(&lock, kOffence);
        },
        "deadlock: lock of an rwlock that the caller holds", "rwlock",
        "; held since taken\\.c:1");
  }
  EXPECT_MISUSE(
      {
        ovs_rwlock_rdlock_at(&lock, kTaken);
        ovs_rwlock_wrlock_at(&lock, kOffence);
      },
      "deadlock: write lock of an rwlock that the caller reads", "rwlock",
      "; held since taken\\.c:1");
}

TEST(RwLock, SecondReadLockWhileAWriterWaits) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  EXPECT_MISUSE(
      {
        ovs_rwlock_rdlock_at(&lock, kTaken);
        for_real();
        std::thread writer([&] { ovs_rwlock_wrlock(&lock); });
        elsewhere([&] {
          wait_until([&] {
            if (ovs_rwlock_tryrdlock(&lock) != 0) return true;
            ovs_rwlock_unlock(&lock);
            return false;
          });
        });
        ovs_rwlock_rdlock_at(&lock, kOffence);
      },
      "deadlock: second read lock of an rwlock while a writer waits", "rwlock",
      "; held since taken\\.c:1");
}

TEST(RwLock, UnlockOfWhatIsNotHeld) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  constexpr char kWhat[] = "unlock of an rwlock that the caller does not hold";
  EXPECT_MISUSE(ovs_rwlock_unlock_at(&lock, kOffence), kWhat, "rwlock",
                "; never taken");
  for (auto take : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    EXPECT_MISUSE(
        {
          take(&lock, kTaken);
          for_real();
          ovs_rwlock_unlock(&lock);
          ovs_rwlock_unlock_at(&lock, kOffence);
        },
        kWhat, "rwlock", "; last taken at taken\\.c:1");
    EXPECT_MISUSE(
        {
          take(&lock, kTaken);
          for_real();
          elsewhere([&] { ovs_rwlock_unlock_at(&lock, kOffence); });
        },
        kWhat, "rwlock", "; held by another thread since taken\\.c:1");
  }
}

TEST(RwLock, DestroyOfWhatIsHeld) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  for (auto take : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    EXPECT_MISUSE(
        {
          take(&lock, kTaken);
          ovs_rwlock_destroy_at(&lock, kOffence);
        },
        "destroy of an rwlock that is held", "rwlock",
        "; held since taken\\.c:1");
    EXPECT_MISUSE(
        {
          take(&lock, kTaken);
          for_real();
          elsewhere([&] { ovs_rwlock_destroy_at(&lock, kOffence); });
        },
        "destroy of an rwlock that is held", "rwlock",
        "; held since taken\\.c:1");
  }
}

TEST(RwLock, UseOfADeadLock) {
  ovs_rwlock never = {};
  ovs_rwlock gone = OVS_RWLOCK_INITIALIZER;
  ovs_rwlock_destroy_at(&gone, kTaken);
  constexpr char kGone[] = "; destroyed at taken\\.c:1";
  for (auto lock : {ovs_rwlock_rdlock_at, ovs_rwlock_wrlock_at}) {
    EXPECT_MISUSE(lock(&never, kOffence), "lock of an uninitialised rwlock",
                  "rwlock", "");
    EXPECT_MISUSE(lock(&gone, kOffence), "lock of a destroyed rwlock", "rwlock",
                  kGone);
  }
  for (auto lock : {ovs_rwlock_tryrdlock_at, ovs_rwlock_trywrlock_at}) {
    EXPECT_MISUSE(lock(&never, kOffence), "lock of an uninitialised rwlock",
                  "rwlock", "");
    EXPECT_MISUSE(lock(&gone, kOffence), "lock of a destroyed rwlock", "rwlock",
                  kGone);
  }
  EXPECT_MISUSE(ovs_rwlock_unlock_at(&never, kOffence),
                "unlock of an uninitialised rwlock", "rwlock", "");
  EXPECT_MISUSE(ovs_rwlock_unlock_at(&gone, kOffence),
                "unlock of a destroyed rwlock", "rwlock", kGone);
  EXPECT_MISUSE(ovs_rwlock_destroy_at(&never, kOffence),
                "destroy of an uninitialised rwlock", "rwlock", "");
  EXPECT_MISUSE(ovs_rwlock_destroy_at(&gone, kOffence),
                "destroy of a destroyed rwlock", "rwlock", kGone);
}

}  // namespace
}  // namespace ovsthread
