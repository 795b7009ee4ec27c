// SPDX-License-Identifier: Apache-2.0
//
// The part of the topology that the library itself needs: over how many stripes
// to spread what threads write often.
#ifndef OVSTHREAD_LIB_TOPOLOGY_H_
#define OVSTHREAD_LIB_TOPOLOGY_H_

#include <ovsthread/topology.h>

#include <optional>

namespace ovsthread {

// The smallest power of two that gives each usable hardware thread a stripe of
// its own.  A thread's stripe is thread_id() & (stripe_count() - 1).  Never
// changes.  Wait-free after the first call.
unsigned stripe_count();

// The machine that a synthetic description of hwloc gives ("pack:2 core:4
// pu:2"); nothing if hwloc refuses it or is not there.
std::optional<Topology> synthetic_topology(const char* description);

// What topology() says where hwloc can't be asked.
Topology plain_topology();

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_TOPOLOGY_H_
