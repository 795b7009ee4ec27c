// SPDX-License-Identifier: Apache-2.0
//
// Counts come from the affinity mask alone, so that a process which only needs
// to know how many stripes to allocate never loads hwloc's picture of the
// machine.  hwloc appears in this file only.
#include "topology.h"

#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#if HAVE_HWLOC
#include <hwloc.h>
#endif

namespace ovsthread {
namespace {

constexpr unsigned kMostCpus = 1 << 20;

// A CPU set of any size: cpu_set_t ends at 1024.
class CpuMask {
 public:
  explicit CpuMask(size_t cpus) : words_((cpus + 1023) / 1024) {}

  size_t bytes() const { return words_.size() * sizeof(cpu_set_t); }
  cpu_set_t* set() { return words_.data(); }
  void add(unsigned cpu) { CPU_SET_S(cpu, bytes(), set()); }

  std::vector<unsigned> cpus() {
    std::vector<unsigned> list;
    for (unsigned cpu = 0; cpu < bytes() * 8; cpu++) {
      if (CPU_ISSET_S(cpu, bytes(), set())) list.push_back(cpu);
    }
    return list;
  }

 private:
  std::vector<cpu_set_t> words_{};
};

// The CPUs of the calling thread's affinity mask, never none.
std::vector<unsigned> usable_cpus() {
  for (unsigned cpus = 1024; cpus <= kMostCpus; cpus *= 2) {
    CpuMask mask(cpus);
    if (sched_getaffinity(0, mask.bytes(), mask.set()) == 0) {
      return mask.cpus();
    }
    if (errno != EINVAL) break;  // EINVAL: the kernel's mask is longer.
  }
  std::vector<unsigned> list(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  for (size_t i = 0; i < list.size(); i++) list[i] = static_cast<unsigned>(i);
  return list;
}

#if HAVE_HWLOC
// Owns one picture of a machine.
class Machine {
 public:
  Machine() : ok_(hwloc_topology_init(&machine_) == 0) {}
  ~Machine() {
    if (ok_) hwloc_topology_destroy(machine_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  bool load(const char* synthetic) {
    if (!ok_) return false;
    if (synthetic != nullptr &&
        hwloc_topology_set_synthetic(machine_, synthetic) != 0) {
      return false;
    }
    if (hwloc_topology_load(machine_) != 0) return false;
    // A picture of another machine has nothing to do with our mask.
    return !hwloc_topology_is_thissystem(machine_) || restrict_to_usable();
  }

  Topology describe() const {
    Topology result;
    result.detailed = true;
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_by_type(machine_, HWLOC_OBJ_CORE,
                                              core)) != nullptr) {
      result.cores.push_back(pus_of(core));
    }
    if (result.cores.empty()) {  // Not all machines tell of cores.
      hwloc_obj_t pu = nullptr;
      while ((pu = hwloc_get_next_obj_by_type(machine_, HWLOC_OBJ_PU, pu)) !=
             nullptr) {
        result.cores.push_back({pu->os_index});
      }
    }
    for (unsigned level = 1; level <= 5; level++) add_caches(level, &result);
    return result;
  }

 private:
  bool restrict_to_usable() {
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    if (usable == nullptr) return false;
    for (unsigned cpu : usable_cpus()) hwloc_bitmap_set(usable, cpu);
    int error = hwloc_topology_restrict(machine_, usable, 0);
    hwloc_bitmap_free(usable);
    return error == 0;
  }

  std::vector<unsigned> pus_of(hwloc_obj_t object) const {
    std::vector<unsigned> list;
    hwloc_obj_t pu = nullptr;
    while ((pu = hwloc_get_next_obj_inside_cpuset_by_type(
                machine_, object->cpuset, HWLOC_OBJ_PU, pu)) != nullptr) {
      list.push_back(pu->os_index);
    }
    return list;
  }

  void add_caches(unsigned level, Topology* result) const {
    int depth =
        hwloc_get_cache_type_depth(machine_, level, HWLOC_OBJ_CACHE_DATA);
    hwloc_obj_t object = nullptr;
    if (depth < 0) return;
    while ((object = hwloc_get_next_obj_by_depth(machine_, depth, object)) !=
           nullptr) {
      Cache cache{level, object->attr->cache.size,
                  static_cast<unsigned>(hwloc_bitmap_weight(object->cpuset)),
                  1};
      auto alike = std::find_if(result->caches.begin(), result->caches.end(),
                                [&cache](const Cache& other) {
                                  return other.level == cache.level &&
                                         other.bytes == cache.bytes &&
                                         other.sharing == cache.sharing;
                                });
      if (alike != result->caches.end()) {
        alike->count++;
      } else {
        result->caches.push_back(cache);
      }
    }
  }

  hwloc_topology_t machine_ = nullptr;
  bool ok_;
};
#endif

std::optional<Topology> read_topology(
    [[maybe_unused]] const char* description) {
#if HAVE_HWLOC
  Machine machine;
  if (machine.load(description)) return machine.describe();
#endif
  return std::nullopt;
}

}  // namespace

unsigned hardware_threads() {
  static const unsigned count = static_cast<unsigned>(usable_cpus().size());
  return count;
}

unsigned stripe_count() {
  static const unsigned count = std::bit_ceil(hardware_threads());
  return count;
}

std::optional<Topology> synthetic_topology(const char* description) {
  return read_topology(description);
}

Topology plain_topology() {
  Topology result;
  for (unsigned cpu : usable_cpus()) result.cores.push_back({cpu});
  return result;
}

const Topology& topology() {
  // Never destroyed: threads may outlive main().
  static const Topology& machine =
      *new Topology(read_topology(nullptr).value_or(plain_topology()));
  return machine;
}

std::vector<unsigned> pinning_order(const Topology& topology) {
  std::vector<unsigned> order;
  size_t widest = 0;
  for (const auto& core : topology.cores) {
    widest = std::max(widest, core.size());
  }
  for (size_t sibling = 0; sibling < widest; sibling++) {
    for (const auto& core : topology.cores) {
      if (sibling < core.size()) order.push_back(core[sibling]);
    }
  }
  return order;
}

int pin_this_thread(unsigned cpu) {
  if (cpu >= kMostCpus) return EINVAL;
  CpuMask mask(cpu + 1);
  mask.add(cpu);
  return pthread_setaffinity_np(pthread_self(), mask.bytes(), mask.set());
}

}  // namespace ovsthread
