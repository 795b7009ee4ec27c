// SPDX-License-Identifier: Apache-2.0
//
// The C entry points of RCU.
#include <cerrno>

#include "ovs-rcu.h"
#include "rcu.h"

using namespace ovsthread;

void ovsrcu_postpone__(void (*function)(void* aux), void* aux) {
  rcu::postpone(function, aux);
}

void ovsrcu_quiesce_start() { rcu::quiesce_start(); }

void ovsrcu_quiesce_end() { rcu::quiesce_end(); }

void ovsrcu_quiesce() { rcu::quiesce(); }

int ovsrcu_try_quiesce() { return rcu::try_quiesce() ? 0 : EBUSY; }

bool ovsrcu_is_quiescent() { return rcu::is_quiescent(); }

void ovsrcu_synchronize() { rcu::synchronize(); }

void ovsrcu_barrier() { rcu::barrier(); }

void ovsrcu_exit() { rcu::exit(); }
