// SPDX-License-Identifier: Apache-2.0
//
// Which visits remove their element, drawn before anything is timed.
//
// Each of T threads visits elements 0 ... n - 1, and removes the one that it
// visits with a given probability.  The draws are recorded, one bit per visit,
// so that all things compared run on the same ones, no random generator is part
// of a measurement, and the outcome is known: an element survives exactly if no
// thread drew its removal, whatever the order in which the threads ran.
#ifndef OVSTHREAD_BENCH_DRAWS_H_
#define OVSTHREAD_BENCH_DRAWS_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace bench {

class Draws {
 public:
  // PERCENT is from 0 to 100.
  Draws(uint64_t n, unsigned threads, double percent, uint64_t seed)
      : removed_(n / 64 + 1) {
    bool all = percent >= 100;
    uint64_t threshold =
        all ? 0 : static_cast<uint64_t>(std::ldexp(percent / 100, 64));
    for (unsigned thread = 0; thread < threads; thread++) {
      std::seed_seq seeds{static_cast<uint32_t>(seed),
                          static_cast<uint32_t>(seed >> 32), thread};
      std::mt19937_64 random(seeds);
      std::vector<uint64_t>& bits = bits_.emplace_back(n / 64 + 2);
      for (uint64_t i = 0; i < n; i++) {
        if (all || random() < threshold) {
          bits[i / 64] |= uint64_t{1} << i % 64;
        }
      }
      for (size_t i = 0; i < removed_.size(); i++) removed_[i] |= bits[i];
    }
    survivors_ = n;
    for (uint64_t word : removed_) survivors_ -= std::popcount(word);
  }

  // Whether THREAD's visit of element I removes it.
  bool removes(unsigned thread, uint64_t i) const {
    return bits_[thread][i / 64] >> i % 64 & 1;
  }

  // Bit J says whether THREAD's visit of element I + J removes it.
  uint64_t removes_64(unsigned thread, uint64_t i) const {
    const uint64_t* word = &bits_[thread][i / 64];
    unsigned shift = i % 64;
    return shift == 0 ? word[0] : word[0] >> shift | word[1] << (64 - shift);
  }

  bool survives(uint64_t i) const { return !(removed_[i / 64] >> i % 64 & 1); }
  uint64_t survivors() const { return survivors_; }
  unsigned threads() const { return bits_.size(); }

 private:
  std::vector<std::vector<uint64_t>> bits_;  // One vector per thread.
  std::vector<uint64_t> removed_;            // All of them or-ed together.
  uint64_t survivors_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_DRAWS_H_
