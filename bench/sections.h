// SPDX-License-Identifier: Apache-2.0
//
// What critical sections do in the benchmarks of locks.
//
// A section is a class with a name and run<EXCLUSIVE>(data, thread, i), the
// I-th section of a THREAD.  Where the lock is only held for reading (not
// EXCLUSIVE), what the threads share is only read.
#ifndef OVSTHREAD_BENCH_SECTIONS_H_
#define OVSTHREAD_BENCH_SECTIONS_H_

#include <cstdint>

namespace bench {

// Two cache lines, since the hardware prefetches them in pairs.
struct alignas(128) LinePair {
  uint64_t word;
};

struct SectionData {
  static constexpr unsigned kThreads = 64;
  static constexpr unsigned kWalk = 16;

  LinePair counter;
  LinePair own[kThreads];
  LinePair walked[kWalk];

  // So that no section is the first to touch its page.
  void touch() {
    counter.word = 0;
    for (LinePair& line : own) line.word = 0;
    for (LinePair& line : walked) line.word = 1;
  }
};

// So that the compiler neither keeps WORD in a register from one section to the
// next nor adds up what several of them add.
inline uint64_t load(const uint64_t& word) {
  return *static_cast<const volatile uint64_t*>(&word);
}
inline void store(uint64_t& word, uint64_t value) {
  *static_cast<volatile uint64_t*>(&word) = value;
}

// Nothing: what is left is the lock.
struct EmptySection {
  static constexpr const char* kName = "empty";
  template <bool exclusive>
  static void run(SectionData&, unsigned, uint64_t) {}
};

// One counter for all: sections that write always conflict.
struct CounterSection {
  static constexpr const char* kName = "counter";
  template <bool exclusive>
  static void run(SectionData& data, unsigned, uint64_t) {
    uint64_t count = load(data.counter.word);
    if (exclusive) store(data.counter.word, count + 1);
  }
};

// A counter per thread, written under a read lock, too: no conflicts.
struct DisjointSection {
  static constexpr const char* kName = "disjoint";
  template <bool exclusive>
  static void run(SectionData& data, unsigned thread, uint64_t) {
    uint64_t& word = data.own[thread % SectionData::kThreads].word;
    store(word, load(word) + 1);
  }
};

// A walk over lines that all threads walk over; one in 64 writes to one of
// them.
struct WalkSection {
  static constexpr const char* kName = "walk";
  template <bool exclusive>
  static void run(SectionData& data, unsigned, uint64_t i) {
    uint64_t sum = 0;
    for (const LinePair& line : data.walked) sum += load(line.word);
    if (exclusive && i % 64 == 0) {
      store(data.walked[sum % SectionData::kWalk].word, i);
    }
  }
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_SECTIONS_H_
