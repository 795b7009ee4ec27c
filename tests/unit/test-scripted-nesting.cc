// SPDX-License-Identifier: Apache-2.0
//
// Several locks at once: inside a transaction, around it, in any order.
#include <atomic>

#include "scripted-testing.h"

namespace ovsthread {
namespace {

using Nesting = Scripted;

TEST_F(Nesting, AnInnerLockIsSubscribedOnly) {
  Script script;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_rwlock inner = OVS_RWLOCK_INITIALIZER;
  ovs_mutex_lock(&outer);
  ovs_rwlock_wrlock(&inner);
  ovs_rwlock_unlock(&inner);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&outer);
  EXPECT_EQ(script.trace(), "start access access commit");
  EXPECT_EQ(counts().acquisitions, 1u);
}

TEST_F(Nesting, ThreeLocksInEveryOrder) {
  constexpr int kOrders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  Script script;
  for (const auto& order : kOrders) {
    ovs_mutex mutexes[3] = {OVS_MUTEX_INITIALIZER, OVS_MUTEX_INITIALIZER,
                            OVS_MUTEX_INITIALIZER};
    for (ovs_mutex& mutex : mutexes) ovs_mutex_lock(&mutex);
    for (int i : order) {
      EXPECT_TRUE(elided());
      ovs_mutex_unlock(&mutexes[i]);
    }
    EXPECT_FALSE(elided());
    EXPECT_EQ(script.trace(), "start access access access commit");
  }
}

// The outermost of nine is taken for real, the others fit.
TEST_F(Nesting, MoreLocksThanTheListHolds) {
  Script script;
  ovs_mutex mutexes[9];
  for (ovs_mutex& mutex : mutexes) ovs_mutex_init(&mutex);
  for (ovs_mutex& mutex : mutexes) ovs_mutex_lock(&mutex);
  EXPECT_TRUE(is_held(mutexes[0]));
  EXPECT_FALSE(is_held(mutexes[1]));
  EXPECT_TRUE(elided());
  for (ovs_mutex& mutex : mutexes) ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(),
            "start access access access access access access access access "
            "access abort(b3) start access access access access access access "
            "access access commit");
  EXPECT_EQ(aborts(OVS_ABORT_OTHER), 1u);
  for (ovs_mutex& mutex : mutexes) ovs_mutex_destroy(&mutex);
}

// Read holds for real leave no room: no transaction is tried.
TEST_F(Nesting, MoreRealReadHoldsThanTheListHolds) {
  Script script;
  ovs_rwlock locks[8];
  for (ovs_rwlock& lock : locks) {
    ovs_rwlock_init(&lock);
    script.abort_at_begin(0);
    ovs_rwlock_rdlock(&lock);
  }
  script.trace();
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(is_held(mutex));
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "");
  for (ovs_rwlock& lock : locks) {
    ovs_rwlock_unlock(&lock);
    ovs_rwlock_destroy(&lock);
  }
}

TEST_F(Nesting, ABusyInnerLockAbortsAndIsWaitedFor) {
  Script script;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex inner = OVS_MUTEX_INITIALIZER;
  std::atomic<int> state{0};
  std::thread owner([&] {
    ovs_mutex_lock(&inner);
    for_real();
    state = 1;
    wait_until([&] { return state == 2; });
    ovs_mutex_unlock(&inner);
    state = 3;
  });
  wait_until([&] { return state == 1; });
  script.run([&] {
    state = 2;
    wait_until([&] { return state == 3; });
  });
  ovs_mutex_lock(&outer);
  ovs_mutex_lock(&inner);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&inner);
  ovs_mutex_unlock(&outer);
  owner.join();
  EXPECT_EQ(script.trace(),
            "start access access abort(b1) start access access commit");
  EXPECT_EQ(aborts(OVS_ABORT_BUSY), 1u);
}

TEST_F(Nesting, ATryInsideFindsBusyInPlace) {
  Script script;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  ovs_mutex free = OVS_MUTEX_INITIALIZER;
  ovs_mutex busy = OVS_MUTEX_INITIALIZER;
  elsewhere([&] { ovs_mutex_lock(&busy), for_real(); });
  ovs_mutex_lock(&outer);
  EXPECT_EQ(ovs_mutex_trylock(&busy), EBUSY);
  EXPECT_EQ(ovs_mutex_trylock(&free), 0);
  EXPECT_EQ(ovs_mutex_trylock(&free), EBUSY);
  EXPECT_EQ(ovs_mutex_trylock(&outer), EBUSY);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&free);
  ovs_mutex_unlock(&outer);
  EXPECT_EQ(script.trace(), "start access access access commit");
}

// A real, B elided, A released first: A's word is free with the commit, and
// held again if there is none.
TEST_F(Nesting, ARealLockIsReleasedInside) {
  Script script;
  ovs_mutex a = OVS_MUTEX_INITIALIZER;
  ovs_mutex b = OVS_MUTEX_INITIALIZER;
  static uint32_t a_word_after_abort;
  script.abort_at_begin(0);
  script.abort_at_commit(kStatusConflict, [&] { a_word_after_abort = a.word; });
  ovs_mutex_lock(&a);
  uint32_t a_word_held = a.word;
  ovs_mutex_lock(&b);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&a);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&b);
  EXPECT_FALSE(is_held(a));
  EXPECT_EQ(a_word_after_abort, a_word_held);
  EXPECT_EQ(script.trace(), "fail(0) start access fail(4) start access commit");
}

// The same with a thread that waits for A: the wake-up is a safe point.
TEST_F(Nesting, ARealLockWithAWaiterIsReleasedInside) {
  Script script;
  ovs_mutex a = OVS_MUTEX_INITIALIZER;
  ovs_mutex b = OVS_MUTEX_INITIALIZER;
  script.abort_at_begin(0);
  ovs_mutex_lock(&a);
  Sleeper waiter([&] {
    ovs_mutex_lock(&a);
    ovs_mutex_unlock(&a);
  });
  waiter.wait_until_asleep([&] { return __atomic_load_n(&a.word, 0) & 2; });
  ovs_mutex_lock(&b);
  ovs_mutex_unlock(&a);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(is_held(b));
  ovs_mutex_unlock(&b);
  EXPECT_EQ(script.trace(),
            "fail(0) start access " + abort_at(OVS_SAFE_POINT_WAKE));
  EXPECT_EQ(aborts(OVS_ABORT_SAFE_POINT), 1u);
}

TEST_F(Nesting, ARecursiveMutexNestsElided) {
  Script script;
  ovs_mutex mutex;
  ovs_mutex_init_recursive(&mutex);
  ovs_mutex_lock(&mutex);
  ovs_mutex_lock(&mutex);
  EXPECT_EQ(ovs_mutex_trylock(&mutex), 0);
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(elided());
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_EQ(script.trace(), "start access commit");
  ovs_mutex_destroy(&mutex);
}

// Held for real, then taken again inside a transaction: a level more that an
// abort takes back.
TEST_F(Nesting, ARealRecursiveMutexNestsInside) {
  Script script;
  ovs_mutex mutex;
  ovs_mutex_init_recursive(&mutex);
  ovs_mutex other = OVS_MUTEX_INITIALIZER;
  script.abort_at_begin(0);
  script.abort_at_commit(kStatusConflict);
  ovs_mutex_lock(&mutex);
  ovs_mutex_lock(&other);
  ovs_mutex_lock(&mutex);
  EXPECT_TRUE(elided());
  EXPECT_EQ(mutex.depth, 1u);
  ovs_mutex_unlock(&other);
  EXPECT_EQ(mutex.depth, 1u);
  ovs_mutex_unlock(&mutex);
  ovs_mutex_unlock(&mutex);
  EXPECT_FALSE(is_held(mutex));
  EXPECT_EQ(script.trace(),
            "fail(0) start access access fail(4) start access access commit");
  ovs_mutex_destroy(&mutex);
}

TEST_F(Nesting, ReadersNestElided) {
  Script script;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_rwlock_rdlock(&lock);
  EXPECT_EQ(ovs_rwlock_tryrdlock(&lock), 0);
  EXPECT_EQ(ovs_rwlock_trywrlock(&lock), EBUSY);
  ovs_rwlock_unlock(&lock);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  EXPECT_EQ(script.trace(), "start access commit");
}

// Which hold an unlock ends is known from the list, not from the word: the
// elided reader leaves first, or last.
TEST_F(Nesting, AnElidedReaderBesideARealOne) {
  for (bool elided_first : {true, false}) {
    Script script;
    ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
    std::atomic<int> state{0};
    std::thread reader([&] {
      ovs_rwlock_rdlock(&lock);
      state = 1;
      wait_until([&] { return state == 2; });
      ovs_rwlock_unlock(&lock);
      state = 3;
    });
    wait_until([&] { return state == 1; });
    uint32_t with_one_reader = lock.word;
    ovs_rwlock_rdlock(&lock);
    EXPECT_TRUE(elided());
    EXPECT_EQ(lock.word, with_one_reader);
    if (elided_first) {
      ovs_rwlock_unlock(&lock);
      EXPECT_EQ(lock.word, with_one_reader);
    }
    state = 2;
    wait_until([&] { return state == 3; });
    if (!elided_first) ovs_rwlock_unlock(&lock);
    reader.join();
    EXPECT_EQ(lock.word, with_one_reader - kOwnerOne);
    EXPECT_EQ(script.trace(), "start access commit");
  }
}

// A real hold of its own beside an elided one: the elided one, the younger, is
// the first to go.
TEST_F(Nesting, ARealAndAnElidedReadHoldOfOneThread) {
  Script script;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  script.abort_at_begin(0);
  ovs_rwlock_rdlock(&lock);
  ovs_rwlock_rdlock(&lock);
  EXPECT_TRUE(elided());
  ovs_rwlock_unlock(&lock);
  EXPECT_FALSE(elided());
  EXPECT_GE(lock.word, 32u);
  ovs_rwlock_unlock(&lock);
  EXPECT_LT(lock.word, 32u);
  EXPECT_EQ(script.trace(), "fail(0) start access commit");
}

}  // namespace
}  // namespace ovsthread
