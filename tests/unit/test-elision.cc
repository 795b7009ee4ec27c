// SPDX-License-Identifier: Apache-2.0
//
// Elision as the machine at hand allows it, through the API.
#include <gtest/gtest.h>
#include <ovsthread/elision.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "elision-engine.h"
#include "elision.h"
#include "lock-testing.h"
#include "openvswitch/thread.h"
#include "ovsthread-rwlock.h"

namespace ovsthread {
namespace {

uint64_t all_aborts(const ovs_elision_counts& counts) {
  uint64_t sum = 0;
  for (uint64_t aborts : counts.aborts) sum += aborts;
  return sum;
}

ovs_elision_counts counts() {
  ovs_elision_counts now;
  ovs_elision_counts_read(&now);
  return now;
}

bool active() {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  return status.active;
}

class Elision : public testing::Test {
 protected:
  void SetUp() override { mode_ = ovs_elision_get_mode(); }
  void TearDown() override { EXPECT_EQ(ovs_elision_set_mode(mode_), 0); }

 private:
  ovs_elision_mode mode_;
};

TEST_F(Elision, StatusSaysWhy) {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  EXPECT_TRUE(status.compiled || !status.available);
  EXPECT_TRUE(status.available || !status.active);
  EXPECT_GT(strlen(status.reason), 10u);
  if (ovs_elision_get_mode() == OVS_ELISION_OFF) {
    EXPECT_FALSE(status.active);
    EXPECT_STREQ(status.reason, "switched off by OVSTHREAD_ELISION=off");
  }
}

TEST_F(Elision, SetMode) {
  ovs_elision_status status;
  EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_OFF), 0);
  EXPECT_EQ(ovs_elision_get_mode(), OVS_ELISION_OFF);
  EXPECT_FALSE(active());
  EXPECT_EQ(ovs_elision_set_mode(static_cast<ovs_elision_mode>(7)), EINVAL);
  int result = ovs_elision_set_mode(OVS_ELISION_ALWAYS);
  ovs_elision_get_status(&status);
  EXPECT_EQ(result, status.available ? 0 : ENOTSUP);
  EXPECT_EQ(ovs_elision_get_mode(),
            status.available ? OVS_ELISION_ALWAYS : OVS_ELISION_OFF);
  EXPECT_EQ(status.active, status.available);
  EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  EXPECT_EQ(ovs_elision_get_mode(), OVS_ELISION_AUTO);
  EXPECT_EQ(active(), status.available);
}

TEST_F(Elision, StartsNoTransactionWhenOff) {
  EXPECT_EQ(ovs_elision_set_mode(OVS_ELISION_OFF), 0);
  ovs_elision_counts_reset();
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  for (int i = 0; i < 1000; i++) {
    ovs_mutex_lock(&mutex);
    ovs_rwlock_rdlock(&lock);
    EXPECT_FALSE(elision::in_transaction());
    ovs_rwlock_unlock(&lock);
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_EQ(counts().started, 0u);
  EXPECT_EQ(counts().acquisitions, 0u);
}

// A CPU to which the instructions of transactions are illegal.
struct IllegalLayer : TransactionLayer {
  static constexpr bool kCompiled = true;
  static uint32_t begin() {
    ADD_FAILURE();
    return 0;
  }
  static bool active() {
    ADD_FAILURE();
    return false;
  }
};

// Statistics have just been switched off, and a lock that was looked at while
// they were on still asks the engine.
struct JustSwitchedOff : elision::LibraryProcess {
  static bool active() { return false; }
  static bool recording() { return false; }
};

TEST(ElisionEngine, TouchesNoTransactionWhileElisionIsOff) {
  using Engine = elision::Engine<RealAtomics, IllegalLayer, JustSwitchedOff>;
  static constexpr elision::LockKind kKind = {
      Hold::kElidedExclusive, ~0u, ~0u, 1, 0, 0};
  Engine::Word word{kLockLive};
  for (bool try_only : {false, true}) {
    elision::Attempts attempts;
    EXPECT_EQ(Engine::acquire(kKind, word, "off.c:1", try_only, attempts),
              elision::Acquired::kReal);
  }
}

// What follows needs transactions.
class LiveElision : public Elision {
 protected:
  void SetUp() override {
    Elision::SetUp();
    if (ovs_elision_get_mode() == OVS_ELISION_OFF ||
        ovs_elision_set_mode(OVS_ELISION_ALWAYS) != 0) {
      GTEST_SKIP() << "elision is off here";
    }
    ovs_elision_counts_reset();
  }
};

TEST_F(LiveElision, CountsAreExact) {
  constexpr uint64_t kRounds = 10000;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  std::thread([&] {
    for (uint64_t i = 0; i < kRounds; i++) {
      ovs_mutex_lock(&mutex);
      ovs_mutex_unlock(&mutex);
    }
  }).join();
  ovs_elision_counts now = counts();
  EXPECT_EQ(now.acquisitions, kRounds);
  EXPECT_EQ(now.started, now.elided + all_aborts(now));
  EXPECT_GE(now.elided, kRounds * 99 / 100);
  ovs_elision_counts_reset();
  EXPECT_EQ(counts().acquisitions, 0u);
}

// The page appears in the run for real, so that later sections elide.
TEST_F(LiveElision, FirstTouchOfAPageCostsOneRealAcquisition) {
  constexpr int kPages = 12;
  constexpr size_t kPage = 4096;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  void* memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  char* bytes = static_cast<char*>(memory);
  auto touch_all = [&] {
    for (int i = 0; i < kPages; i++) {
      ovs_mutex_lock(&mutex);
      bytes[i * kPage]++;
      ovs_mutex_unlock(&mutex);
    }
  };
  touch_all();
  EXPECT_GE(counts().aborts[OVS_ABORT_COLD], uint64_t{kPages} * 3 / 4);
  ovs_elision_counts_reset();
  touch_all();
  EXPECT_GE(counts().elided, uint64_t{kPages} * 3 / 4);
  munmap(memory, kPages * kPage);
}

TEST_F(LiveElision, DisjointSectionsOfManyThreadsElide) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50000;
  struct alignas(128) Padded {
    long value;
  };
  std::vector<Padded> sums(kThreads);
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  in_threads(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; round++) {
      ovs_mutex_lock(&mutex);
      sums[i].value++;
      ovs_mutex_unlock(&mutex);
    }
  });
  for (const Padded& sum : sums) EXPECT_EQ(sum.value, kRounds);
  EXPECT_GE(counts().elided, counts().acquisitions * 9 / 10);
}

TEST_F(LiveElision, SystemCallsRunForReal) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  getppid();
  EXPECT_FALSE(elision::in_transaction());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(counts().elided, 0u);
}

// The section of a failed assertion is left before the message is written.
TEST_F(Elision, MessagesInsideASectionAreSeen) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  EXPECT_DEATH(
      {
        ovs_mutex_lock(&mutex);
        fprintf(stderr, "it is broken\n");
        abort();
      },
      "it is broken");
}

TEST_F(Elision, SafePointInsideASectionRunsItForReal) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  EXPECT_FALSE(elision::in_transaction());
  ovs_mutex_unlock(&mutex);
}

// Threads that elide, threads that can't, and one that switches all the time.
TEST_F(Elision, ModeMayChangeWhileOthersAreInside) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 20000;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; round++) {
        ovs_mutex_lock(&mutex);
        sum++;
        ovs_mutex_unlock(&mutex);
      }
    });
  }
  for (int i = 0; i < 1000; i++) {
    ovs_elision_set_mode(i % 2 ? OVS_ELISION_AUTO : OVS_ELISION_OFF);
    if (i % 64 == 0) sched_yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, long{kThreads} * kRounds);
}

}  // namespace
}  // namespace ovsthread
