// SPDX-License-Identifier: Apache-2.0
//
// Safe points: what no transaction can do runs for real, once, and what misuse
// is found inside a transaction is said.
#include <ovsthread/log.h>
#include <ovsthread/mutex.h>
#include <ovsthread/rwlock.h>
#include <ovsthread/spinlock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <optional>
#include <tuple>

#include "lock-word.h"
#include "mutex-core.h"
#include "openvswitch/hmap.h"
#include "ovs-thread.h"
#include "rcu.h"
#include "scripted-testing.h"

namespace ovsthread {
namespace {

using SafePoints = Scripted;

struct Kind {
  ovs_safe_point what;
  void (*reach)(ovs_mutex& held);
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << ovs_safe_point_name(kind.what);
}

void wait_once(ovs_mutex& held) {
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  std::thread signaller;
  // What starts a thread inside a transaction is not undone here.
  if (!elision::in_transaction()) {
    signaller = std::thread([&] {
      ovs_mutex_lock(&held);
      pthread_cond_signal(&condition);
      ovs_mutex_unlock(&held);
    });
  }
  ovs_mutex_cond_wait(&condition, &held);
  ovs_mutex_unlock(&held);
  signaller.join();
  ovs_mutex_lock(&held);
}

void fork_once(ovs_mutex&) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

void start_thread_once(ovs_mutex&) {
  auto nothing = [](void*) -> void* { return nullptr; };
  xpthread_join(ovs_thread_create("nothing", nothing, nullptr), nullptr);
}

// A mutex that was taken for real, and that a thread waits for, is released.
class Waited {
 public:
  explicit Waited(Script& script) {
    script.abort_at_begin(0);
    ovs_mutex_lock(&mutex_);
    script.trace();
    waiter_.emplace([this] {
      ovs_mutex_lock(&mutex_);
      ovs_mutex_unlock(&mutex_);
    });
    waiter_->wait_until_asleep([this] {
      return __atomic_load_n(&mutex_.word, __ATOMIC_RELAXED) & kMutexWaiters;
    });
    current = this;
  }
  static void release(ovs_mutex&) { ovs_mutex_unlock(&current->mutex_); }

 private:
  static inline Waited* current;
  ovs_mutex mutex_ = OVS_MUTEX_INITIALIZER;
  std::optional<Sleeper> waiter_;
};

// Where a kind takes more than a call (a thread that RCU does not know, a map
// in the middle of a resize, the end of the process), tests of its own show it.
constexpr Kind kKinds[] = {
    {OVS_SAFE_POINT_CONDITION_WAIT, wait_once},
    {OVS_SAFE_POINT_QUIESCE, [](ovs_mutex&) { rcu::quiesce(); }},
    {OVS_SAFE_POINT_QUIESCE,
     [](ovs_mutex&) { rcu::quiesce_start(), rcu::quiesce_end(); }},
    {OVS_SAFE_POINT_SYNCHRONIZE,
     [](ovs_mutex&) { rcu::synchronize_keeping_state(); }},
    {OVS_SAFE_POINT_BARRIER, [](ovs_mutex&) { rcu::barrier(); }},
    {OVS_SAFE_POINT_BARRIER,
     [](ovs_mutex&) {
       ovs_barrier barrier;
       ovs_barrier_init(&barrier, 1);
       ovs_barrier_block(&barrier);
     }},
    {OVS_SAFE_POINT_FORK, fork_once},
    {OVS_SAFE_POINT_THREAD_START, start_thread_once},
    {OVS_SAFE_POINT_THREAD_START, [](ovs_mutex&) { rcu::start_helper(); }},
    {OVS_SAFE_POINT_WAKE, Waited::release},
    {OVS_SAFE_POINT_STATISTICS,
     [](ovs_mutex&) {
       ovs_elision_counts unused;
       ovs_elision_counts_read(&unused);
     }},
    {OVS_SAFE_POINT_MODE_CHANGE,
     [](ovs_mutex&) { ovs_elision_set_mode(OVS_ELISION_ALWAYS); }},
    {OVS_SAFE_POINT_MESSAGE,
     [](ovs_mutex&) { elision::safe_point(OVS_SAFE_POINT_MESSAGE); }},
    {OVS_SAFE_POINT_MIGRATION,
     [](ovs_mutex&) { elision::safe_point(OVS_SAFE_POINT_MIGRATION); }},
    {OVS_SAFE_POINT_ALLOCATION,
     [](ovs_mutex&) {
       hmap map;
       hmap_init(&map);
       hmap_reserve(&map, 4096);
       hmap_destroy(&map);
     }},
};

// A way to hold a lock.
struct Holder {
  const char* name;
  void (*lock)();
  void (*unlock)();
  // Whether it is held for real.
  bool (*is_taken)();
};

void PrintTo(const Holder& holder, std::ostream* out) { *out << holder.name; }

ovs_mutex plain = OVS_MUTEX_INITIALIZER;
ovs_mutex adaptive = OVS_ADAPTIVE_MUTEX_INITIALIZER;
ovs_mutex nests = {1 | kMutexRecursive, 10, 0, "<unlocked>"};
ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
Mutex cxx_mutex;
SpinLock cxx_spin;
RwLock cxx_rwlock;

template <class Lock>
bool word_taken(const Lock& lock) {
  return *reinterpret_cast<const uint32_t*>(&lock) >= kOwnerOne;
}

constexpr Holder kHolders[] = {
    {"mutex", [] { ovs_mutex_lock(&plain); }, [] { ovs_mutex_unlock(&plain); },
     [] { return word_taken(plain); }},
    {"adaptive mutex", [] { ovs_mutex_lock(&adaptive); },
     [] { ovs_mutex_unlock(&adaptive); }, [] { return word_taken(adaptive); }},
    {"recursive mutex", [] { ovs_mutex_lock(&nests); },
     [] { ovs_mutex_unlock(&nests); }, [] { return word_taken(nests); }},
    {"rwlock for reading", [] { ovs_rwlock_rdlock(&rwlock); },
     [] { ovs_rwlock_unlock(&rwlock); }, [] { return word_taken(rwlock); }},
    {"rwlock for writing", [] { ovs_rwlock_wrlock(&rwlock); },
     [] { ovs_rwlock_unlock(&rwlock); }, [] { return word_taken(rwlock); }},
    {"Mutex", [] { cxx_mutex.lock(); }, [] { cxx_mutex.unlock(); },
     [] { return word_taken(cxx_mutex); }},
    {"SpinLock", [] { cxx_spin.lock(); }, [] { cxx_spin.unlock(); },
     [] { return word_taken(cxx_spin); }},
    {"RwLock for reading", [] { cxx_rwlock.lock_shared(); },
     [] { cxx_rwlock.unlock_shared(); }, [] { return word_taken(cxx_rwlock); }},
    {"RwLock for writing", [] { cxx_rwlock.lock(); },
     [] { cxx_rwlock.unlock(); }, [] { return word_taken(cxx_rwlock); }},
};

class EachSafePoint
    : public Scripted,
      public testing::WithParamInterface<std::tuple<Holder, Kind>> {};

// It aborts once, however many locks are held, and is counted under its name;
// the section then runs for real up to the release of its first lock;
// afterwards locks elide again.
TEST_P(EachSafePoint, RunsForReal) {
  const auto& [outer, kind] = GetParam();
  rcu::quiesce();  // Registers the thread.
  Script script;
  std::optional<Waited> waited;
  if (kind.what == OVS_SAFE_POINT_WAKE) waited.emplace(script);
  ovs_elision_counts before = counts();
  ovs_mutex middle = OVS_MUTEX_INITIALIZER;
  ovs_mutex inner = OVS_MUTEX_INITIALIZER;
  outer.lock();
  ovs_mutex_lock(&middle);
  ovs_mutex_lock(&inner);
  kind.reach(inner);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(outer.is_taken() && is_held(middle) && is_held(inner));
  ovs_mutex_unlock(&inner);
  ovs_mutex_unlock(&middle);
  EXPECT_TRUE(outer.is_taken());
  ovs_mutex_lock(&middle);
  EXPECT_TRUE(is_held(middle));
  outer.unlock();
  ovs_mutex_unlock(&middle);
  EXPECT_FALSE(outer.is_taken());
  EXPECT_EQ(script.trace(),
            "start access access access " + abort_at(kind.what));
  ovs_elision_counts now = counts();
  for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
    EXPECT_EQ(now.safe_points[i] - before.safe_points[i], i == kind.what)
        << ovs_safe_point_name(static_cast<ovs_safe_point>(i));
  }
  outer.lock();
  EXPECT_TRUE(elided());
  outer.unlock();
  EXPECT_EQ(script.trace(), "start access commit");
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachSafePoint,
                         testing::Combine(testing::ValuesIn(kHolders),
                                          testing::ValuesIn(kKinds)));

TEST_F(SafePoints, RegisteringAThread) {
  for (const Holder& holder : kHolders) {
    elsewhere([&] {
      Script script;
      holder.lock();
      rcu::postpone([](void*) {}, nullptr);
      EXPECT_FALSE(elided());
      holder.unlock();
      EXPECT_EQ(script.trace(),
                "start access " + abort_at(OVS_SAFE_POINT_RCU_REGISTER));
    });
  }
  EXPECT_EQ(counts().safe_points[OVS_SAFE_POINT_RCU_REGISTER],
            std::size(kHolders));
}

// The mutex of the wait was taken for real, before.
TEST_F(SafePoints, WaitInsideTheSectionOfAnotherMutex) {
  ovs_mutex real = OVS_MUTEX_INITIALIZER;
  ovs_mutex other = OVS_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static std::atomic<bool> done;
  done = false;
  std::thread signaller([] {
    while (!done) {
      pthread_cond_signal(&condition);
      sched_yield();
    }
  });
  Script script;
  script.abort_at_begin(0);
  ovs_mutex_lock(&real);
  ovs_mutex_lock(&other);
  ovs_mutex_cond_wait(&condition, &real);
  EXPECT_FALSE(elided());
  EXPECT_TRUE(is_held(real) && is_held(other));
  done = true;
  EXPECT_EQ(script.trace(),
            "fail(0) start access " + abort_at(OVS_SAFE_POINT_CONDITION_WAIT));
  ovs_mutex_unlock(&other);
  ovs_mutex_unlock(&real);
  signaller.join();
}

// Elision stays off until the last level of the outermost mutex is released.
TEST_F(SafePoints, InsideARecursiveMutex) {
  Script script;
  ovs_mutex recursive;
  ovs_mutex_init_recursive(&recursive);
  ovs_mutex other = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&recursive);
  for_real();
  ovs_mutex_lock(&recursive);
  ovs_mutex_unlock(&recursive);
  ovs_mutex_lock(&other);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&other);
  ovs_mutex_unlock(&recursive);
  ovs_mutex_lock(&other);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&other);
  ovs_mutex_destroy(&recursive);
}

// The same for who reads twice.
TEST_F(SafePoints, InsideASecondReadLock) {
  Script script;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  ovs_mutex other = OVS_MUTEX_INITIALIZER;
  ovs_rwlock_rdlock(&lock);
  for_real();
  ovs_rwlock_rdlock(&lock);
  ovs_rwlock_unlock(&lock);
  ovs_mutex_lock(&other);
  EXPECT_FALSE(elided());
  ovs_mutex_unlock(&other);
  ovs_rwlock_unlock(&lock);
  ovs_mutex_lock(&other);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&other);
}

// What writers do in every section is none.
TEST_F(SafePoints, PostponeWithRoomStaysElided) {
  static int runs;
  runs = 0;
  rcu::quiesce();
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&mutex);
  rcu::postpone([](void*) { runs++; }, nullptr);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&mutex);
  EXPECT_EQ(script.trace(), "start access commit");
  rcu::barrier();
  EXPECT_EQ(runs, 1);
}

// A section that always reaches one is run for real from the start, after a
// few times.
TEST_F(SafePoints, AutoLearnsTheSite) {
  ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_AUTO), 0);
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  set_elide_mode(mutex);
  constexpr unsigned kRounds = 1000;
  for (unsigned i = 0; i < kRounds; i++) {
    ovs_mutex_lock_at(&mutex, "always-waits.c:1");
    elision::safe_point(OVS_SAFE_POINT_CONDITION_WAIT);
    ovs_mutex_unlock(&mutex);
  }
  EXPECT_LT(counts().started, kRounds / 20);
  EXPECT_GT(counts().started, 2u);
}

// A try that a safe point sent to the real lock, and that finds it busy, leaves
// the thread free to elide.
TEST_F(SafePoints, AFailedTryDoesNotSuspend) {
  Script script;
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  script.run([&] { ovs_mutex_lock(&mutex), for_real(); });
  int result = ovs_mutex_trylock(&mutex);
  if (result == 0) elision::safe_point(OVS_SAFE_POINT_MESSAGE);
  EXPECT_EQ(result, EBUSY);
  ovs_mutex other = OVS_MUTEX_INITIALIZER;
  ovs_mutex_lock(&other);
  EXPECT_TRUE(elided());
  ovs_mutex_unlock(&other);
}

// The messages are those of misuse with elision off: the transaction is aborted
// before them, and the section has got there again for real.
using Misuse = Scripted;

TEST_F(Misuse, Relock) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  auto offend = [&] {
    Script script;
    ovs_mutex_lock_at(&mutex, "first.c:1");
    ovs_mutex_lock_at(&mutex, "offence.c:2");
  };
  EXPECT_MISUSE(offend(), "deadlock: lock of a mutex that the caller holds",
                "mutex", "; held since first\\.c:1");
}

TEST_F(Misuse, RelockOfAnRwlock) {
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  auto offend = [&](bool write_first) {
    Script script;
    if (write_first) {
      ovs_rwlock_wrlock_at(&lock, "first.c:1");
      ovs_rwlock_rdlock_at(&lock, "offence.c:2");
    } else {
      ovs_rwlock_rdlock_at(&lock, "first.c:1");
      ovs_rwlock_wrlock_at(&lock, "offence.c:2");
    }
  };
  EXPECT_MISUSE(offend(true),
                "deadlock: lock of an rwlock that the caller "
                "holds",
                "rwlock", "; held since first\\.c:1");
  EXPECT_MISUSE(offend(false),
                "deadlock: write lock of an rwlock that the "
                "caller reads",
                "rwlock", "; held since first\\.c:1");
}

TEST_F(Misuse, UnlockTwice) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  auto offend = [&](bool inside) {
    Script script;
    if (inside) ovs_mutex_lock(&outer);
    ovs_mutex_lock_at(&mutex, "first.c:1");
    ovs_mutex_unlock(&mutex);
    ovs_mutex_unlock_at(&mutex, "offence.c:2");
  };
  // An elided hold leaves no trace; inside, the section is run for real first.
  EXPECT_MISUSE(offend(false),
                "unlock of a mutex that the caller does not hold", "mutex",
                "; never taken");
  EXPECT_MISUSE(offend(true), "unlock of a mutex that the caller does not hold",
                "mutex", "; last taken at first\\.c:1");
}

TEST_F(Misuse, DestroyByTheHolder) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
  auto mutex_offend = [&] {
    Script script;
    ovs_mutex_lock_at(&mutex, "first.c:1");
    ovs_mutex_destroy_at(&mutex, "offence.c:2");
  };
  auto rwlock_offend = [&] {
    Script script;
    ovs_rwlock_rdlock_at(&lock, "first.c:1");
    ovs_rwlock_destroy_at(&lock, "offence.c:2");
  };
  EXPECT_MISUSE(mutex_offend(), "destroy of a mutex that is held", "mutex",
                "; held since first\\.c:1");
  EXPECT_MISUSE(rwlock_offend(), "destroy of an rwlock that is held", "rwlock",
                "; held since first\\.c:1");
}

// Another thread destroys the lock during an elided hold: that aborts the
// transaction, whose run for real finds a destroyed lock.
TEST_F(Misuse, DestroyDuringAnotherThreadsElidedHold) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  auto offend = [&] {
    Script script;
    script.abort_at_commit(
        kStatusConflict, [&] { ovs_mutex_destroy_at(&mutex, "destroy.c:1"); });
    ovs_mutex_lock_at(&mutex, "offence.c:2");
    ovs_mutex_unlock(&mutex);
  };
  EXPECT_MISUSE(offend(), "lock of a destroyed mutex", "mutex",
                "; destroyed at destroy\\.c:1");
}

TEST_F(Misuse, WaitWithoutTheMutexInsideASection) {
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  auto offend = [&] {
    Script script;
    ovs_mutex_lock(&outer);
    ovs_mutex_cond_wait_at(&condition, &mutex, "offence.c:2");
  };
  EXPECT_MISUSE(offend(), "wait with a mutex that the caller does not hold",
                "mutex", "; never taken");
}

// Nor does any other fatal message: here, one of a map.
TEST_F(Misuse, FatalMessagesAreWrittenOutsideOfTransactions) {
  auto handler = [](ovsthread_log_level, const char* message, void*) {
    fprintf(stderr, "%s: %s: %ju %s\n", elided() ? "inside" : "outside",
            message, uintmax_t{counts().safe_points[OVS_SAFE_POINT_MESSAGE]},
            ovs_safe_point_name(OVS_SAFE_POINT_MESSAGE));
  };
  ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
  hmap map = HMAP_INITIALIZER(&map);
  hmap_node node = {};
  auto offend = [&] {
    ovsthread_set_log_handler(handler, nullptr);
    Script script;
    ovs_mutex_lock(&mutex);
    hmap_remove(&map, &node);
  };
  EXPECT_EXIT(offend(), testing::KilledBySignal(SIGABRT),
              "^outside: hmap at .* is not in it.*: 1 message\n");
}

TEST_F(Misuse, LockOfAnUninitialisedMutexInsideASection) {
  ovs_mutex mutex = {};
  ovs_mutex outer = OVS_MUTEX_INITIALIZER;
  auto offend = [&] {
    Script script;
    ovs_mutex_lock(&outer);
    ovs_mutex_lock_at(&mutex, "offence.c:2");
  };
  EXPECT_MISUSE(offend(), "lock of an uninitialised mutex", "mutex", "");
}

}  // namespace
}  // namespace ovsthread
