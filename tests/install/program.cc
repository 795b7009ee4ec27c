// SPDX-License-Identifier: Apache-2.0
//
// A C++ program that uses the installed library: guards of its locks and of the
// standard library, and RCU.
#include <ovsthread/lock-stats.h>
#include <ovsthread/mutex.h>
#include <ovsthread/rcu.h>
#include <ovsthread/rwlock.h>
#include <ovsthread/spinlock.h>
#include <ovsthread/version.h>

#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <thread>

namespace {

constexpr int kRounds = 500;  // so few that each acquisition is counted
ovsthread::Mutex mutex;
ovsthread::RwLock rwlock;
ovsthread::SpinLock spin;
int counted = 0;

void count() {
  for (int i = 0; i < kRounds; i++) {
    ovsthread::MutexLock lock(mutex);
    ovsthread::SpinLockGuard inner(spin);
    counted++;
  }
}

}  // namespace

int main() {
  if (ovs_lock_stats_set(OVS_LOCK_STATS_ON) != 0) return 1;
  ovsthread::set_lock_name(mutex, "counter");
  std::thread other(count);
  count();
  other.join();
  {
    std::scoped_lock all(mutex, rwlock, spin);
    if (counted != 2 * kRounds) return 1;
  }
  uint64_t acquisitions = 0;
  for (const ovs_lock_stats_entry& entry : ovsthread::lock_stats()) {
    if (std::string_view(entry.lock) == "counter") {
      acquisitions += entry.acquisitions;
    }
  }
  if (acquisitions != 2 * kRounds + 1) return 1;
  std::shared_lock reader(rwlock);
  bool called = false;
  ovsthread::rcu_retire(&called, [](bool* flag) { *flag = true; });
  ovsthread::rcu_barrier();
  if (!called) return 1;
  std::cout << "C++ " << ovsthread_version() << '\n';
}
