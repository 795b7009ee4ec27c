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

// Lines that a thread may use up inside a transaction.
struct SpareLines {
  static constexpr unsigned kMax = 8;
  ~SpareLines() {
    while (n) std::free(lines[--n]);
  }
  void* lines[kMax];
  unsigned n;
};
constinit thread_local SpareLines tls_spare_lines{};

}  // namespace

void set_allocation_budget(int64_t allocations) {
  allocation_budget.store(allocations, kRelaxed);
}

void set_fixed_key(const uint64_t* key) { fixed_key.store(key, kRelaxed); }

void* Platform::allocate(size_t bytes) {
  if (!may_allocate()) return nullptr;
  if (bytes >= kBig) return map_pages(bytes);
  void* memory = std::aligned_alloc(kLineSize, bytes);
  if (memory) {
    std::memset(memory, 0, bytes);
    tls_work.zeroed_bytes += bytes;
  }
  return memory;
}

void Platform::release(void* memory, size_t bytes) {
  tls_work.released_bytes += bytes;
  if (bytes >= kBig) {
    munmap(memory, bytes);
  } else {
    std::free(memory);
  }
}

void* Platform::allocate_line() {
  SpareLines& spare = tls_spare_lines;
  if (!spare.n) {
    safe_point_allocation();
    while (spare.n < SpareLines::kMax) {
      void* line = allocate(kLineSize);
      if (!line) break;
      spare.lines[spare.n++] = line;
    }
  }
  return spare.n ? spare.lines[--spare.n] : nullptr;
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

uint64_t Platform::random() {
  thread_local uint64_t state = thread_id() + 1;
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 32;
}

}  // namespace ovsthread::cmap_core
