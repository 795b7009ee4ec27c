// SPDX-License-Identifier: Apache-2.0
//
// What of the machine this process may use: hardware threads, the cores they
// belong to, the caches they share; and pinning.
//
// "Usable" is what the affinity mask allowed when it was first asked for.
// Counts come from that mask and cost one system call; cores and caches are
// read through hwloc, once, by the first caller of topology().
#ifndef OVSTHREAD_TOPOLOGY_H_
#define OVSTHREAD_TOPOLOGY_H_

#include <ovsthread/annotations.h>

#include <cstdint>
#include <vector>

namespace ovsthread {

// Data or unified caches that are alike.
struct Cache {
  unsigned level;    // 1 is nearest to the core.
  uint64_t bytes;    // Size of each.
  unsigned sharing;  // Usable hardware threads that share one.
  unsigned count;    // How many there are.

  bool operator==(const Cache&) const = default;
};

struct Topology {
  // For each core the usable hardware threads on it (SMT siblings), by the
  // operating system's numbers.  Neighbours in this list are near each other.
  std::vector<std::vector<unsigned>> cores;

  // By level; empty if unknown.
  std::vector<Cache> caches;

  // False if hwloc could not be asked: each hardware thread then counts as a
  // core of its own.
  bool detailed = false;
};

// Number of hardware threads that the process may use; at least 1.  The answer
// never changes.  Wait-free after the first call.
OVSTHREAD_API unsigned hardware_threads();

// The usable part of the machine.  Blocking: the first call reads it, which
// takes milliseconds, while other callers wait.  Never destroyed.
OVSTHREAD_API const Topology& topology();

// The hardware threads of TOPOLOGY in the order in which to give them to
// threads: one on each core first, then the second of each core, and so on.
// Thread i of n goes to element i modulo the size.
OVSTHREAD_API std::vector<unsigned> pinning_order(const Topology& topology);

// Binds the calling thread to hardware thread CPU, a number of Topology::cores.
// Returns 0, or an errno value: EINVAL if the system refuses that CPU.
OVSTHREAD_API int pin_this_thread(unsigned cpu);

}  // namespace ovsthread

#endif  // OVSTHREAD_TOPOLOGY_H_
