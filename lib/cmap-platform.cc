// SPDX-License-Identifier: Apache-2.0
#include "cmap-platform.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "log.h"

namespace ovsthread::cmap_core {

constinit thread_local Work tls_work{};

namespace {

// From here on memory comes straight from the system.
constexpr size_t kBig = size_t{64} << 10;
constexpr size_t kHugePage = size_t{2} << 20;

constexpr unsigned kSpinsBeforeYield = 64;

RealAtomics::Atomic<int64_t> allocation_budget{-1};
RealAtomics::Atomic<const uint64_t*> fixed_key{nullptr};

bool may_allocate() {
  // Relaxed, as below: a switch for tests.
  int64_t left = allocation_budget.load(kRelaxed);
  if (__builtin_expect(left < 0, 1)) return true;
  if (left) allocation_budget.store(left - 1, kRelaxed);
  return left;
}

void* map_pages(size_t bytes) {
  size_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!slack) return mapped;
  char* begin = static_cast<char*>(mapped);
  size_t before = -reinterpret_cast<uintptr_t>(begin) & (kHugePage - 1);
  if (before) munmap(begin, before);
  if (before < slack) munmap(begin + before + bytes, slack - before);
  // Only a hint: without huge pages it works as well, but slower.
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

// Zeroed memory or null.
void* obtain(size_t bytes) {
  if (!may_allocate()) return nullptr;
  if (bytes >= kBig) return map_pages(bytes);
  void* memory = std::aligned_alloc(Platform::kLineSize, bytes);
  if (memory) {
    std::memset(memory, 0, bytes);
    tls_work.zeroed_bytes += static_cast<uint32_t>(bytes);
  }
  return memory;
}

// Lines that a thread may use up inside a transaction, chained through their
// headers: static TLS is scarce.
struct SpareLines {
  struct Line {
    Line* next;
  };
  static constexpr unsigned kRefill = 8;

  ~SpareLines() {
    while (first) std::free(take());
  }
  // Leaves the line as it was created.
  Line* take() {
    Line* line = first;
    first = line->next;
    line->next = nullptr;
    return line;
  }

  Line* first;
};
constinit thread_local SpareLines tls_spare_lines{};

}  // namespace

void set_allocation_budget(int64_t allocations) {
  allocation_budget.store(allocations, kRelaxed);
}

void set_fixed_key(const uint64_t* key) { fixed_key.store(key, kRelaxed); }

void* Platform::allocate(size_t bytes) {
  void* memory = obtain(bytes);
  if (memory) tls_work.taken_bytes += static_cast<uint32_t>(bytes);
  return memory;
}

void Platform::release(void* memory, size_t bytes) {
  tls_work.released_bytes += static_cast<uint32_t>(bytes);
  if (bytes >= kBig) {
    munmap(memory, bytes);
  } else {
    std::free(memory);
  }
}

void* Platform::allocate_line() {
  SpareLines& spare = tls_spare_lines;
  if (!spare.first) {
    safe_point_allocation();
    for (unsigned i = 0; i < SpareLines::kRefill; i++) {
      auto* line = static_cast<SpareLines::Line*>(obtain(kLineSize));
      if (!line) break;
      line->next = spare.first;
      spare.first = line;
    }
  }
  if (!spare.first) return nullptr;
  tls_work.taken_bytes += kLineSize;
  return spare.take();
}

void Platform::destroy_line(void* line) { release(line, kLineSize); }

void Platform::refuse_node(const void* map, const void* node) {
  fatal(
      "cmap %p: node %p is not in the lower 48 bits of the address space "
      "(tagged memory or 57-bit addresses)",
      map, node);
}

void Platform::refuse_quiescing(const void* map) {
  fatal(
      "cmap %p: the thread quiesced within an iteration, and the map was "
      "resized meanwhile",
      map);
}

void Platform::pause(unsigned spins) {
  if (spins < kSpinsBeforeYield) {
    RealAtomics::relax();
  } else {
    sched_yield();
  }
}

uint64_t Platform::random_key() {
  if (const uint64_t* key = fixed_key.load(kRelaxed)) return *key;
  uint64_t key;
  if (getrandom(&key, sizeof key, GRND_NONBLOCK) != sizeof key) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    key = static_cast<uint64_t>(now.tv_sec) * 1000000007 +
          static_cast<uint64_t>(now.tv_nsec) +
          reinterpret_cast<uintptr_t>(&now);
  }
  return key;
}

}  // namespace ovsthread::cmap_core
