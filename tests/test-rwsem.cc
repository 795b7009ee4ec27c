// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-rwsem check: what a user of the C interface of the semaphore
// relies on, one function for each promise.  Nothing is printed on success.
//
// No check depends on time: who must be seen waiting is waited for until the
// semaphore and the kernel say so.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ovs-thread.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-require.h"
#include "ovsthread-rwsem.h"
#include "thread-state.h"

namespace ovstest {
namespace {

using ovsthread::is_asleep;
using ovsthread::wait_until;
using Threads = std::vector<std::jthread>;

long voluntary_switches() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// Whether somebody waits.
bool is_waited_for(ovs_rwsem& sem) {
  return (__atomic_load_n(&sem.word, __ATOMIC_RELAXED) & 2) != 0;
}

// What another thread gets from the two trylocks: "free", "read" or "write", by
// whom it is held.
absl::string_view state(ovs_rwsem& sem) {
  absl::string_view seen = "write";
  std::thread([&] {
    if (ovs_rwsem_down_write_trylock(&sem)) {
      ovs_rwsem_up_write(&sem);
      seen = "free";
    } else if (ovs_rwsem_down_read_trylock(&sem)) {
      ovs_rwsem_up_read(&sem);
      seen = "read";
    }
  }).join();
  return seen;
}

absl::Status basic_operations(ovs_rwsem& sem) {
  REQUIRE(ovs_rwsem_down_read_trylock(&sem) == 1);
  REQUIRE(ovs_rwsem_down_write_trylock(&sem) == 0);
  REQUIRE(state(sem) == "read");
  ovs_rwsem_up_read(&sem);
  REQUIRE(ovs_rwsem_down_write_trylock(&sem) == 1);
  REQUIRE(state(sem) == "write");
  ovs_rwsem_downgrade_write(&sem);
  REQUIRE(state(sem) == "read");
  ovs_rwsem_up_read(&sem);
  REQUIRE(state(sem) == "free");
  return absl::OkStatus();
}

// All are inside at once, or this does not end.
absl::Status concurrent_readers(ovs_rwsem& sem) {
  constexpr int kReaders = 4;
  std::atomic<int> inside{0};
  {
    Threads threads;
    for (int i = 0; i < kReaders; i++) {
      threads.emplace_back([&] {
        ovs_rwsem_down_read(&sem);
        inside++;
        wait_until([&] { return inside == kReaders; });
        ovs_rwsem_up_read(&sem);
      });
    }
  }
  REQUIRE(ovs_rwsem_n_handed(&sem) == 0);
  return absl::OkStatus();
}

absl::Status writers_exclude(ovs_rwsem& sem) {
  constexpr int kWriters = 4;
  constexpr int kRounds = 5000;
  long count = 0;
  {
    Threads threads;
    for (int i = 0; i < kWriters; i++) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; round++) {
          ovs_rwsem_down_write(&sem);
          count++;
          ovs_rwsem_up_write(&sem);
        }
      });
    }
  }
  REQUIRE(count == long{kWriters} * kRounds);
  return absl::OkStatus();
}

// THREADS read and write by turns; readers find both counters equal.
absl::Status mix(ovs_rwsem& sem, int n_threads, int rounds) {
  long first = 0;
  long second = 0;
  std::atomic<long> torn{0};
  {
    Threads threads;
    for (int i = 0; i < n_threads; i++) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < rounds; round++) {
          if ((i + round) % 4 == 0) {
            ovs_rwsem_down_write(&sem);
            first++;
            second++;
            ovs_rwsem_up_write(&sem);
          } else {
            ovs_rwsem_down_read(&sem);
            torn += first != second;
            ovs_rwsem_up_read(&sem);
          }
        }
      });
    }
  }
  REQUIRE(torn == 0);
  REQUIRE(first == long{n_threads} * rounds / 4);
  REQUIRE(state(sem) == "free");
  return absl::OkStatus();
}

absl::Status mixed_access(ovs_rwsem& sem) { return mix(sem, 3, 4000); }

absl::Status contention_of_eight(ovs_rwsem& sem) { return mix(sem, 8, 2000); }

// Waiters sleep while levels are released, and are served in order at the last
// one: the readers in front, then the writer.
absl::Status waiters_are_woken_in_order(ovs_rwsem& sem) {
  std::atomic<int> reading{0};
  std::atomic<bool> written{false};
  std::atomic<bool> go_on{false};
  ovs_rwsem_down_write(&sem);
  ovs_rwsem_down_write(&sem);
  bool early = false;
  uint64_t handed[3];
  {
    Threads threads;
    threads.emplace_back([&] {
      ovs_rwsem_down_read(&sem);
      reading++;
      wait_until([&] { return go_on.load(); });
      ovs_rwsem_up_read(&sem);
    });
    wait_until([&] { return is_waited_for(sem); });
    ovs_rwsem_up_write(&sem);
    handed[0] = ovs_rwsem_n_handed(&sem);
    ovs_rwsem_up_write(&sem);
    wait_until([&] { return reading == 1; });
    handed[1] = ovs_rwsem_n_handed(&sem);
    threads.emplace_back([&] {
      ovs_rwsem_down_write(&sem);
      written = true;
      ovs_rwsem_up_write(&sem);
    });
    wait_until([&] { return is_waited_for(sem); });
    early = written;
    go_on = true;
  }
  handed[2] = ovs_rwsem_n_handed(&sem);
  REQUIRE(!early);
  REQUIRE(written);
  REQUIRE(handed[0] == 0);
  REQUIRE(handed[1] == 1);
  REQUIRE(handed[2] == 2);
  return absl::OkStatus();
}

absl::Status holder_is_tracked(ovs_rwsem& sem) {
  REQUIRE(ovs_rwsem_holder(&sem) == UINT_MAX);
  ovs_rwsem_down_write(&sem);
  unsigned int seen = 0;
  std::thread([&] { seen = ovs_rwsem_holder(&sem); }).join();
  unsigned int self = ovsthread_id_self();
  ovs_rwsem_downgrade_write(&sem);
  unsigned int downgraded = ovs_rwsem_holder(&sem);
  ovs_rwsem_up_read(&sem);
  REQUIRE(seen == self);
  REQUIRE(downgraded == UINT_MAX);
  return absl::OkStatus();
}

// A waiter sleeps through the releases of many levels: it is handed the
// semaphore once, and does not leave the processor once more for each of them.
absl::Status few_context_switches(ovs_rwsem& sem) {
  constexpr int kLevels = 200;
  for (int i = 0; i < kLevels; i++) ovs_rwsem_down_write(&sem);
  long switches = 0;
  {
    std::atomic<pid_t> id{0};
    Threads threads;
    threads.emplace_back([&] {
      id = gettid();
      long before = voluntary_switches();
      ovs_rwsem_down_write(&sem);
      switches = voluntary_switches() - before;
      ovs_rwsem_up_write(&sem);
    });
    for (int i = 0; i < kLevels; i++) {
      // Who was woken for nothing sleeps anew.
      wait_until([&] { return is_waited_for(sem) && is_asleep(id); });
      ovs_rwsem_up_write(&sem);
    }
  }
  REQUIRE(ovs_rwsem_n_handed(&sem) == 1);
  REQUIRE(switches < kLevels / 2);
  return absl::OkStatus();
}

// N levels, each taken by DOWN; all are held until the last UP.
absl::Status nest(ovs_rwsem& sem, void (*down)(ovs_rwsem*),
                  void (*up)(ovs_rwsem*)) {
  constexpr int kDepth = 3;
  ovs_rwsem_down_write(&sem);
  for (int i = 1; i < kDepth; i++) down(&sem);
  bool held = true;
  for (int i = 0; i < kDepth; i++) {
    held = held && state(sem) == "write";
    up(&sem);
  }
  REQUIRE(held);
  REQUIRE(state(sem) == "free");
  return absl::OkStatus();
}

void down_read(ovs_rwsem* sem) { ovs_rwsem_down_read(sem); }
void down_write(ovs_rwsem* sem) { ovs_rwsem_down_write(sem); }
void up_read(ovs_rwsem* sem) { ovs_rwsem_up_read(sem); }
void up_write(ovs_rwsem* sem) { ovs_rwsem_up_write(sem); }

absl::Status recursive_write(ovs_rwsem& sem) {
  return nest(sem, down_write, up_write);
}

absl::Status converted(ovs_rwsem& sem) {
  REQUIRE_OK(nest(sem, down_read, up_read));
  return nest(sem, down_read, up_write);
}

struct Check {
  absl::string_view name;
  absl::Status (*run)(ovs_rwsem& sem);
};

constexpr Check kChecks[] = {
    {"concurrent readers", concurrent_readers},
    {"writer exclusion", writers_exclude},
    {"mixed access", mixed_access},
    {"waiters are woken in order", waiters_are_woken_in_order},
    {"holder tracking", holder_is_tracked},
    {"few context switches", few_context_switches},
    {"recursive write lock", recursive_write},
    {"converted lock", converted},
    {"basic operations", basic_operations},
    {"contention of eight threads", contention_of_eight},
};

}  // namespace

absl::Status test_rwsem_check(Words words) {
  CommandLine line("ovstest test-rwsem check",
                   "Checks the recursive reader-writer semaphore.");
  REQUIRE_OK(line.parse(words));
  if (line.help_shown()) return absl::OkStatus();
  for (const Check& check : kChecks) {
    ovs_rwsem sem = OVS_RWSEM_INITIALIZER;
    absl::Status status = check.run(sem);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(check.name, ": ", status.message()));
    }
    ovs_rwsem_destroy(&sem);
  }
  return absl::OkStatus();
}

}  // namespace ovstest
