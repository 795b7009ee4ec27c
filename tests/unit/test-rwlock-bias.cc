// SPDX-License-Identifier: Apache-2.0
//
// Rwlocks that are biased towards readers, without elision: their readers leave
// no trace in the lock.
#include <gtest/gtest.h>
#include <ovsthread/elision.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "in-process.h"
#include "lock-testing.h"
#include "ovsthread-rwlock.h"
#include "rwlock-lines.h"
#include "rwlock-operations.h"
#include "start-testing.h"

namespace ovsthread {
namespace {

constexpr char kOffence[] = "offence.c:2";

bool is_biased(const ovs_rwlock& lock) {
  return (__atomic_load_n(&lock.word, __ATOMIC_RELAXED) & kRwBias) != 0;
}

class RwLockBias : public ::testing::Test {
 protected:
  void SetUp() override {
    mode_ = ovs_elision_get_mode();
    ovs_elision_set_mode(OVS_ELISION_OFF);
    allowed_ = ovs_rwlock_get_bias();
    ovs_rwlock_set_bias(true);
  }
  void TearDown() override {
    ovs_rwlock_set_bias(allowed_);
    ovs_elision_set_mode(mode_);
  }

  // Reads LOCK until it is biased.
  static void make_biased(ovs_rwlock& lock) {
    wait_until([&] {
      ovs_rwlock_rdlock(&lock);
      ovs_rwlock_unlock(&lock);
      return is_biased(lock);
    });
  }

  // The caller's read hold is all that keeps a writer out.  Destroys LOCK.
  static void expect_last_reader(ovs_rwlock& lock) {
    elsewhere([&] { EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY); });
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(lock.word, 1u);
    ovs_rwlock_destroy(&lock);
  }

 private:
  ovs_elision_mode mode_;
  bool allowed_;
};

TEST_F(RwLockBias, ReadersLeaveNoTrace) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock before = lock;
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
  elsewhere([&] {
    make_biased(lock);
    ovs_rwlock_rdlock(&lock);
    ovs_rwlock_unlock(&lock);
  });
  EXPECT_EQ(lock.word, before.word);
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_destroy(&lock);
}

TEST_F(RwLockBias, NotWhereItIsForbidden) {
  ovs_rwlock_set_bias(false);
  EXPECT_FALSE(ovs_rwlock_get_bias());
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  for (int i = 0; i < 1000; i++) {
    ovs_rwlock_rdlock(&lock);
    ovs_rwlock_unlock(&lock);
  }
  EXPECT_EQ(lock.word, 1u);
  ovs_rwlock_destroy(&lock);
}

// What a writer paid to take the bias away is paid once in a while.
TEST_F(RwLockBias, NotSoonAfterAWriter) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock_wrlock(&lock);
  ovs_rwlock_unlock(&lock);
  EXPECT_FALSE(is_biased(lock));
  EXPECT_NE(lock.inhibited_until, 0u);
  lock.inhibited_until = cpu_clock() + (uint64_t{1} << 50);
  for (int i = 0; i < 1000; i++) {
    ovs_rwlock_rdlock(&lock);
    ovs_rwlock_unlock(&lock);
  }
  EXPECT_FALSE(is_biased(lock));
  lock.inhibited_until = cpu_clock();
  make_biased(lock);
  ovs_rwlock_destroy(&lock);
}

TEST_F(RwLockBias, ATryToWriteFailsBesideAnAnnouncedReader) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  elsewhere([&] {
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
    EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
    ovs_rwlock_unlock(&lock);
  });
  ovs_rwlock_unlock(&lock);
  elsewhere([&] {
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
    ovs_rwlock_unlock(&lock);
  });
  EXPECT_EQ(lock.word, 1u);
  ovs_rwlock_destroy(&lock);
}

// It sleeps meanwhile, and readers who come later wait for it.
TEST_F(RwLockBias, AWriterWaitsForAnnouncedReaders) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock_rdlock(&lock);
  std::atomic<bool> wrote{false};
  {
    Sleeper writer([&] {
      ovs_rwlock_wrlock(&lock);
      wrote = true;
      ovs_rwlock_unlock(&lock);
    });
    writer.wait_until_asleep([&] { return !is_biased(lock); });
    EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), EBUSY);
    EXPECT_FALSE(wrote);
    ovs_rwlock_unlock(&lock);
  }
  EXPECT_TRUE(wrote);
  EXPECT_EQ(lock.word, 1u);
  ovs_rwlock_destroy(&lock);
}

// Each unlock undoes a hold of its own kind, whoever leaves first.
TEST_F(RwLockBias, AnnouncedReaderLeavesACountedOne) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_rwlock_set_bias(false);
  ovs_rwlock_rdlock(&lock);  // counted
  ovs_rwlock_set_bias(true);
  elsewhere([&] {
    make_biased(lock);
    uint32_t before = lock.word;
    ovs_rwlock_rdlock(&lock);
    EXPECT_EQ(lock.word, before);  // announced
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(lock.word, before);
  });
  expect_last_reader(lock);
}

TEST_F(RwLockBias, CountedReaderLeavesAnAnnouncedOne) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  uint32_t before = lock.word;
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(lock.word, before);  // announced
  elsewhere([&] {
    ovs_rwlock_rdlock(&lock);
    EXPECT_EQ(lock.word, before + kOwnerOne);  // counted: has no line yet
    ovs_rwlock_unlock(&lock);
    EXPECT_EQ(lock.word, before);
  });
  expect_last_reader(lock);
}

// More locks than a line has slots, in both orders.
TEST_F(RwLockBias, WhatFindsNoSlotIsCounted) {
  constexpr int kLocks = 12;
  std::vector<ovs_rwlock> locks(kLocks);
  for (ovs_rwlock& lock : locks) {
    ovs_rwlock_init(&lock);
    make_biased(lock);
  }
  for (bool forwards : {true, false}) {
    for (ovs_rwlock& lock : locks) ovs_rwlock_rdlock(&lock);
    int counted = 0;
    for (ovs_rwlock& lock : locks) counted += lock.word >= kOwnerOne;
    EXPECT_EQ(counted, kLocks - 5);
    elsewhere([&] {
      for (ovs_rwlock& lock : locks) {
        EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
      }
    });
    for (int i = 0; i < kLocks; i++) {
      ovs_rwlock_unlock(&locks[forwards ? i : kLocks - 1 - i]);
    }
  }
  for (ovs_rwlock& lock : locks) {
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), 0);
    ovs_rwlock_unlock(&lock);
    ovs_rwlock_destroy(&lock);
  }
}

TEST_F(RwLockBias, MisuseByAndBesideAnAnnouncedReader) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock_rdlock_at(&lock, "taken.c:1");
  EXPECT_MISUSE(ovs_rwlock_wrlock_at(&lock, kOffence),
                "deadlock: write lock of an rwlock that the caller reads",
                "rwlock", "; held since taken\\.c:1");
  EXPECT_MISUSE(ovs_rwlock_destroy_at(&lock, kOffence),
                "destroy of an rwlock that is held", "rwlock",
                "; held since .*");
  EXPECT_MISUSE(elsewhere([&] { ovs_rwlock_destroy_at(&lock, kOffence); }),
                "destroy of an rwlock that is held", "rwlock",
                "; held since .*");
  EXPECT_MISUSE(elsewhere([&] { ovs_rwlock_unlock_at(&lock, kOffence); }),
                "unlock of an rwlock that the caller does not hold", "rwlock",
                "; read by another thread; last noted at .*");
  ovs_rwlock_unlock(&lock);
  EXPECT_MISUSE(ovs_rwlock_unlock_at(&lock, kOffence),
                "unlock of an rwlock that the caller does not hold", "rwlock",
                "; last taken at .*");
  ovs_rwlock_destroy(&lock);
}

// One that ends leaves its line to the next.
TEST_F(RwLockBias, LinesAreUsedAgain) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ReaderLine* first = nullptr;
  ReaderLine* second = nullptr;
  elsewhere([&] {
    make_biased(lock);
    first = tls_reader_line;
  });
  elsewhere([&] {
    ovs_rwlock_set_bias(true);
    make_biased(lock);
    ovs_rwlock_wrlock(&lock);
    ovs_rwlock_unlock(&lock);
    make_biased(lock);
    second = tls_reader_line;
  });
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  ovs_rwlock_destroy(&lock);
}

TEST_F(RwLockBias, AChildOfFork) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  make_biased(lock);
  ovs_rwlock_rdlock(&lock);
  in_process([&] {
    EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
    ovs_rwlock_unlock(&lock);
    ovs_rwlock_wrlock(&lock);
    ovs_rwlock_unlock(&lock);
    lock.inhibited_until = cpu_clock();
    make_biased(lock);
    elsewhere([&] {
      ovs_rwlock_wrlock(&lock);
      ovs_rwlock_unlock(&lock);
    });
  });
  ovs_rwlock_unlock(&lock);
  ovs_rwlock_destroy(&lock);
}

// Readers, rare writers and tries, with the bias coming and going.
TEST_F(RwLockBias, WritersExcludeEveryone) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  long a = 0;
  long b = 0;
  std::atomic<long> written{0};
  in_threads(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; round++) {
      bool writes = (round + i * 7) % 100 == 0;
      if (writes && round % 3 == 0) {
        if (ovs_rwlock_trywrlock(&lock) != 0) continue;
      } else if (writes) {
        ovs_rwlock_wrlock(&lock);
      } else {
        ovs_rwlock_rdlock(&lock);
      }
      if (writes) {
        a++;
        b++;
        written++;
        __atomic_store_n(&lock.inhibited_until, 0, __ATOMIC_RELAXED);
      } else {
        EXPECT_EQ(a, b);
      }
      ovs_rwlock_unlock(&lock);
    }
  });
  EXPECT_EQ(a, written);
  EXPECT_EQ(b, written);
  EXPECT_EQ(lock.waiting_writers, 0u);
  ovs_rwlock_wrlock(&lock);
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(lock.word, 1u);
  ovs_rwlock_destroy(&lock);
}

// The environment decides whether locks may become biased.
class RwLockBiasStart : public Start {
 protected:
  // Else there may be a warning about elision, too.
  RwLockBiasStart() { set("OVSTHREAD_ELISION", "off"); }

  // The output of a process that starts in that environment.
  [[noreturn]] static void report() {
    std::fprintf(stderr, "bias %s\n", ovs_rwlock_get_bias() ? "on" : "off");
    std::exit(0);
  }
};

TEST_F(RwLockBiasStart, WithoutAWordItIsAllowed) {
  unset("OVSTHREAD_RWLOCK_BIAS");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "^bias on\n$");
}

TEST_F(RwLockBiasStart, On) {
  set("OVSTHREAD_RWLOCK_BIAS", "on");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "^bias on\n$");
}

TEST_F(RwLockBiasStart, Off) {
  set("OVSTHREAD_RWLOCK_BIAS", "off");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), "^bias off\n$");
}

TEST_F(RwLockBiasStart, AnyOtherWordIsWarnedOf) {
  set("OVSTHREAD_RWLOCK_BIAS", "maybe");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "OVSTHREAD_RWLOCK_BIAS=maybe: not off or on; on is used\n"
              "bias on\n$");
}

}  // namespace
}  // namespace ovsthread
