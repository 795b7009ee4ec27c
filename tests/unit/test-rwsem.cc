// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer semaphore through its C face, and what C++ adds.
#include <gtest/gtest.h>
#include <ovsthread/rwsem.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>
#include <shared_mutex>

#include "lock-testing.h"
#include "ovsthread-rwsem.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

constexpr char kTaken[] = "taken.c:1";
constexpr char kOffence[] = "offence.c:2";
constexpr timespec kPast = {0, 0};

// Whether the queue is not empty.
bool has_waiters(const ovs_rwsem& sem) {
  return (__atomic_load_n(&sem.word, __ATOMIC_RELAXED) & 2) != 0;
}

// What others find: 'f' free, 'r' held by readers, 'w' by a writer.
char state(ovs_rwsem& sem) {
  char seen = 'w';
  elsewhere([&] {
    if (ovs_rwsem_down_write_trylock(&sem)) {
      ovs_rwsem_up_write(&sem);
      seen = 'f';
    } else if (ovs_rwsem_down_read_trylock(&sem)) {
      ovs_rwsem_up_read(&sem);
      seen = 'r';
    }
  });
  return seen;
}

TEST(RwSem, StressWritersExcludeEveryone) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 2000;
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  long a = 0;
  long b = 0;
  std::atomic<long> written{0};
  in_threads(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; round++) {
      switch ((round + i) % 8) {
        case 0:
          ovs_rwsem_down_write(&sem);
          ovs_rwsem_down_read(&sem);
          a++;
          b++;
          written++;
          ovs_rwsem_up_write(&sem);
          ovs_rwsem_up_read(&sem);
          break;
        case 1:
          if (ovs_rwsem_down_write_timed(&sem, &kPast) != 0) break;
          a++;
          b++;
          written++;
          ovs_rwsem_downgrade_write(&sem);
          EXPECT_EQ(a, b);
          ovs_rwsem_up_read(&sem);
          break;
        default:
          ovs_rwsem_down_read(&sem);
          EXPECT_EQ(a, b);
          ovs_rwsem_up_read(&sem);
      }
    }
  });
  EXPECT_EQ(a, written.load());
  EXPECT_EQ(sem.word, 1u);
  EXPECT_EQ(sem.first, nullptr);
  ovs_rwsem_destroy(&sem);
}

TEST(RwSem, TriesSayOneOrZero) {
  ovs_rwsem sem;
  ovs_rwsem_init(&sem);
  EXPECT_EQ(ovs_rwsem_down_read_trylock(&sem), 1);
  EXPECT_EQ(ovs_rwsem_down_read_trylock(&sem), 1);
  EXPECT_EQ(ovs_rwsem_down_write_trylock(&sem), 0);
  EXPECT_EQ(state(sem), 'r');
  ovs_rwsem_up_read(&sem);
  ovs_rwsem_up_read(&sem);
  EXPECT_EQ(ovs_rwsem_down_write_trylock(&sem), 1);
  EXPECT_EQ(state(sem), 'w');
  EXPECT_EQ(ovs_rwsem_down_write_trylock(&sem), 1);
  EXPECT_EQ(ovs_rwsem_down_read_trylock(&sem), 1);
  for (int level = 0; level < 3; level++) ovs_rwsem_up_write(&sem);
  EXPECT_EQ(state(sem), 'f');
  ovs_rwsem_destroy(&sem);
}

TEST(RwSem, AnyUnlockReleasesALevelOfTheWriter) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  for (int order = 0; order < 8; order++) {
    ovs_rwsem_down_write(&sem);
    ovs_rwsem_down_read(&sem);
    ovs_rwsem_down_write(&sem);
    for (int level = 0; level < 3; level++) {
      EXPECT_EQ(state(sem), 'w') << order << ' ' << level;
      EXPECT_EQ(ovs_rwsem_holder(&sem), thread_id());
      order & 1 << level ? ovs_rwsem_up_read(&sem) : ovs_rwsem_up_write(&sem);
    }
    EXPECT_EQ(state(sem), 'f');
    EXPECT_EQ(ovs_rwsem_holder(&sem), UINT_MAX);
  }
}

TEST(RwSem, WaitersEnterAtFullReleaseOnly) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  for (bool by_read : {false, true}) {
    uint64_t before = ovs_rwsem_n_handed(&sem);
    std::atomic<int> entered{0};
    ovs_rwsem_down_write(&sem);
    ovs_rwsem_down_read(&sem);
    {
      Sleeper waiter([&] {
        ovs_rwsem_down_write(&sem);
        entered++;
        ovs_rwsem_up_write(&sem);
      });
      waiter.wait_until_asleep([&] { return has_waiters(sem); });
      ovs_rwsem_up_write(&sem);
      EXPECT_EQ(ovs_rwsem_n_handed(&sem), before);
      EXPECT_TRUE(has_waiters(sem));
      EXPECT_EQ(entered, 0);
      by_read ? ovs_rwsem_up_read(&sem) : ovs_rwsem_up_write(&sem);
    }
    EXPECT_EQ(entered, 1);
    EXPECT_EQ(ovs_rwsem_n_handed(&sem), before + 1);
  }
}

// The order in which waiters came: readers in front of a writer enter together,
// those behind it after it, and nobody who comes passes a waiter.
TEST(RwSem, WaitersAreServedInOrder) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  std::atomic<int> readers_inside{0};
  std::atomic<int> writes{0};
  std::atomic<bool> go{false};
  std::atomic<int> came{0};
  ovs_rwsem_down_write(&sem);
  {
    auto early = [&] {
      came++;
      ovs_rwsem_down_read(&sem);
      EXPECT_EQ(writes, 0);
      readers_inside++;
      wait_until([&] { return go.load(); });
      ovs_rwsem_up_read(&sem);
    };
    Sleeper first(early);
    first.wait_until_asleep([&] { return has_waiters(sem); });
    Sleeper second(early);
    second.wait_until_asleep([&] { return came == 2; });
    Sleeper writer([&] {
      came++;
      ovs_rwsem_down_write(&sem);
      writes++;
      ovs_rwsem_up_write(&sem);
    });
    writer.wait_until_asleep([&] { return came == 3; });
    Sleeper late([&] {
      came++;
      ovs_rwsem_down_read(&sem);
      EXPECT_EQ(writes, 1);
      ovs_rwsem_up_read(&sem);
    });
    late.wait_until_asleep([&] { return came == 4; });
    ovs_rwsem_up_write(&sem);
    EXPECT_EQ(ovs_rwsem_n_handed(&sem), 2u);
    wait_until([&] { return readers_inside == 2; });
    EXPECT_EQ(ovs_rwsem_down_read_trylock(&sem), 0);
    EXPECT_EQ(writes, 0);
    go = true;
  }
  EXPECT_EQ(ovs_rwsem_n_handed(&sem), 4u);
  EXPECT_EQ(state(sem), 'f');
}

TEST(RwSem, DowngradeLetsReadersIn) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  std::atomic<bool> inside{false};
  ovs_rwsem_down_write(&sem);
  {
    Sleeper reader([&] {
      ovs_rwsem_down_read(&sem);
      inside = true;
      ovs_rwsem_up_read(&sem);
    });
    reader.wait_until_asleep([&] { return has_waiters(sem); });
    ovs_rwsem_downgrade_write(&sem);
    EXPECT_EQ(ovs_rwsem_holder(&sem), UINT_MAX);
    wait_until([&] { return inside.load(); });
  }
  EXPECT_EQ(state(sem), 'r');
  ovs_rwsem_up_read(&sem);
  EXPECT_EQ(state(sem), 'f');
}

// A writer that gives up lets the readers in that it kept out.
TEST(RwSem, WhoGivesUpLeavesTheQueue) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  ovs_rwsem_down_read(&sem);
  elsewhere([&] {
    EXPECT_EQ(ovs_rwsem_down_write_timed(&sem, &kPast), ETIMEDOUT);
    EXPECT_EQ(ovs_rwsem_down_read_timed(&sem, &kPast), 0);
    ovs_rwsem_up_read(&sem);
  });
  EXPECT_FALSE(has_waiters(sem));
  EXPECT_EQ(sem.last, nullptr);
  ovs_rwsem_up_read(&sem);
  EXPECT_EQ(state(sem), 'f');
}

TEST(RwSem, WhoGivesUpAtTheEndOfTheQueueIsForgotten) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  std::atomic<int> came{0};
  ovs_rwsem_down_write(&sem);
  {
    auto read = [&] {
      came++;
      ovs_rwsem_down_read(&sem);
      ovs_rwsem_up_read(&sem);
    };
    Sleeper first(read);
    first.wait_until_asleep([&] { return has_waiters(sem); });
    elsewhere([&] {
      EXPECT_EQ(ovs_rwsem_down_write_timed(&sem, &kPast), ETIMEDOUT);
    });
    EXPECT_EQ(sem.first, sem.last);
    Sleeper second(read);
    second.wait_until_asleep([&] { return came == 2; });
    ovs_rwsem_up_write(&sem);
  }
  EXPECT_EQ(ovs_rwsem_n_handed(&sem), 2u);
  EXPECT_EQ(state(sem), 'f');
}

TEST(RwSem, SignalHandlersInterrupt) {
  struct sigaction action = {};
  struct sigaction old;
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, &old);
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  std::atomic<bool> inside{false};
  ovs_rwsem_down_read(&sem);
  {
    std::atomic<pthread_t> thread{};
    Sleeper writer([&] {
      thread = pthread_self();
      EXPECT_EQ(ovs_rwsem_down_write_interruptible(&sem), EINTR);
    });
    writer.wait_until_asleep([&] { return has_waiters(sem); });
    Sleeper reader([&] {
      EXPECT_EQ(ovs_rwsem_down_read_interruptible(&sem), 0);
      inside = true;
      ovs_rwsem_up_read(&sem);
    });
    // It gets in at the latest when the writer has left.
    pthread_kill(thread, SIGUSR1);
  }
  EXPECT_TRUE(inside);
  ovs_rwsem_up_read(&sem);
  EXPECT_EQ(state(sem), 'f');
  sigaction(SIGUSR1, &old, nullptr);
}

TEST(RwSemMisuse, ReaderAsksForWrite) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  ovs_rwsem_down_read_at(&sem, kTaken);
  EXPECT_MISUSE(ovs_rwsem_down_write_at(&sem, kOffence),
                "deadlock: write lock of an rwsem that the caller reads",
                "rwsem", "; held since taken\\.c:1");
  ovs_rwsem_up_read(&sem);
}

TEST(RwSemMisuse, SecondReadBehindAWriter) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  EXPECT_MISUSE(
      {
        ovs_rwsem_down_read_at(&sem, kTaken);
        Sleeper writer([&] { ovs_rwsem_down_write(&sem); });
        writer.wait_until_asleep([&] { return has_waiters(sem); });
        ovs_rwsem_down_read_at(&sem, kOffence);
      },
      "deadlock: second read lock of an rwsem while a writer waits", "rwsem",
      "; held since taken\\.c:1");
}

TEST(RwSemMisuse, UnlockOfWhatIsNotHeld) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  EXPECT_MISUSE(ovs_rwsem_up_read_at(&sem, kOffence),
                "unlock of an rwsem that the caller does not hold", "rwsem",
                "; never taken");
  ovs_rwsem_down_read_at(&sem, kTaken);
  EXPECT_MISUSE(ovs_rwsem_up_write_at(&sem, kOffence),
                "write unlock of an rwsem that the caller does not write",
                "rwsem", "; last taken at taken\\.c:1");
  EXPECT_MISUSE(ovs_rwsem_downgrade_write_at(&sem, kOffence),
                "downgrade of an rwsem that the caller does not write", "rwsem",
                "; last taken at taken\\.c:1");
  EXPECT_MISUSE(elsewhere([&] { ovs_rwsem_up_read_at(&sem, kOffence); }),
                "unlock of an rwsem that the caller does not hold", "rwsem",
                "; last taken at taken\\.c:1");
  ovs_rwsem_up_read(&sem);
}

TEST(RwSemMisuse, DowngradeAtTwoLevels) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  ovs_rwsem_down_write_at(&sem, kTaken);
  ovs_rwsem_down_read(&sem);
  EXPECT_MISUSE(ovs_rwsem_downgrade_write_at(&sem, kOffence),
                "downgrade of an rwsem at more than one level", "rwsem",
                "; held since taken\\.c:1");
  ovs_rwsem_up_read(&sem);
  ovs_rwsem_downgrade_write(&sem);
  ovs_rwsem_up_read(&sem);
}

TEST(RwSemMisuse, DestroyedOrHeld) {
  ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
  ovs_rwsem_down_read_at(&sem, kTaken);
  EXPECT_MISUSE(ovs_rwsem_destroy_at(&sem, kOffence),
                "destruction of an rwsem that is held", "rwsem",
                "; held since taken\\.c:1");
  ovs_rwsem_up_read(&sem);
  ovs_rwsem_destroy(&sem);
  EXPECT_MISUSE(ovs_rwsem_down_read_at(&sem, kOffence),
                "use of an uninitialised or destroyed rwsem", "rwsem", "");
  EXPECT_MISUSE(ovs_rwsem_up_write_at(&sem, kOffence),
                "use of an uninitialised or destroyed rwsem", "rwsem", "");
  EXPECT_MISUSE(ovs_rwsem_destroy_at(&sem, kOffence),
                "use of an uninitialised or destroyed rwsem", "rwsem", "");
}

TEST(RwSemaphore, WorksWithTheGuardsOfTheStandard) {
  RwSemaphore sem;
  {
    std::lock_guard writer(sem);
    std::shared_lock converted(sem);
    EXPECT_EQ(sem.holder(), thread_id());
    elsewhere([&] {
      EXPECT_FALSE(sem.try_lock_shared());
      EXPECT_FALSE(sem.try_lock_for(std::chrono::nanoseconds(1)));
      EXPECT_FALSE(sem.try_lock_shared_for(std::chrono::nanoseconds(1)));
    });
  }
  EXPECT_EQ(sem.holder(), UINT32_MAX);
  EXPECT_TRUE(sem.lock_interruptible());
  sem.downgrade();
  elsewhere([&] {
    EXPECT_TRUE(sem.lock_shared_interruptible());
    sem.unlock_shared();
    EXPECT_FALSE(sem.try_lock());
  });
  sem.unlock_shared();
  EXPECT_TRUE(sem.try_lock());
  sem.unlock();
  EXPECT_EQ(sem.handed(), 0u);
}

}  // namespace
}  // namespace ovsthread
