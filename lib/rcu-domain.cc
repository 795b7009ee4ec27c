// SPDX-License-Identifier: Apache-2.0
//
// The C++ face of RCU.
#include <ovsthread/rcu.h>

#include "rcu.h"

namespace ovsthread {

void rcu_domain::lock() noexcept { rcu::guard_lock(); }

bool rcu_domain::try_lock() noexcept {
  rcu::guard_lock();
  return true;
}

void rcu_domain::unlock() noexcept { rcu::guard_unlock(); }

rcu_domain& rcu_default_domain() noexcept {
  static constinit rcu_domain domain;
  return domain;
}

void rcu_synchronize(rcu_domain&) noexcept { rcu::synchronize_keeping_state(); }

void rcu_barrier(rcu_domain&) noexcept { rcu::barrier_keeping_state(); }

void detail::rcu_retire_call(void (*function)(void*), void* arg) {
  rcu::retire(function, arg);
}

}  // namespace ovsthread
