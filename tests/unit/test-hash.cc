// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <ovsthread/hash.h>

#include <array>
#include <bit>
#include <set>
#include <string>
#include <vector>

namespace ovsthread {
namespace {

uint64_t u32(uint64_t x) { return hash_u32(static_cast<uint32_t>(x)); }
uint64_t with_basis(uint64_t x) {
  return hash_int(static_cast<uint32_t>(x), 7);
}
uint64_t bytes(uint64_t x) { return hash_bytes(&x, sizeof x, 0); }

struct Function {
  const char* name;
  uint64_t (*hash)(uint64_t);
  unsigned bits;
};

class EachFunction : public testing::TestWithParam<Function> {};

std::string name_of(const testing::TestParamInfo<Function>& tested) {
  return tested.param.name;
}

INSTANTIATE_TEST_SUITE_P(Hash, EachFunction,
                         testing::Values(Function{"U32", u32, 32},
                                         Function{"U64", hash_u64, 64},
                                         Function{"Int", with_basis, 32},
                                         Function{"Bytes", bytes, 64}),
                         name_of);

// Each bit of the input changes each bit of the result about every other time.
TEST_P(EachFunction, MixesEachBitIntoEachBit) {
  const auto [name, hash, bits] = GetParam();
  constexpr unsigned kSamples = 4000;
  std::array<std::array<unsigned, 64>, 64> flips{};
  for (uint64_t i = 0; i < kSamples; i++) {
    uint64_t x = i * 0x9e3779b97f4a7c15 >> (64 - bits);
    for (unsigned in = 0; in < bits; in++) {
      uint64_t changed = hash(x) ^ hash(x ^ uint64_t{1} << in);
      for (unsigned out = 0; out < bits; out++) {
        flips[in][out] += changed >> out & 1;
      }
    }
  }
  for (unsigned in = 0; in < bits; in++) {
    for (unsigned out = 0; out < bits; out++) {
      // Six standard deviations, and the known bias of these functions.
      EXPECT_NEAR(flips[in][out], kSamples / 2, 250)
          << "bit " << in << " to bit " << out;
    }
  }
}

// Keys that follow each other, in whatever stride, spread over buckets that the
// low or the high bits select.
TEST_P(EachFunction, SpreadsStrides) {
  const auto [name, hash, bits] = GetParam();
  constexpr unsigned kBuckets = 1024;
  constexpr uint64_t kKeys = 16 * kBuckets;
  for (unsigned shift = 0; shift + 15 <= bits; shift++) {
    std::vector<unsigned> low(kBuckets), high(kBuckets);
    for (uint64_t i = 0; i < kKeys; i++) {
      uint64_t value = hash(i << shift);
      low[value % kBuckets]++;
      high[value >> (bits - 10)]++;
    }
    for (unsigned bucket = 0; bucket < kBuckets; bucket++) {
      EXPECT_LT(low[bucket], 50u) << "shift " << shift;
      EXPECT_LT(high[bucket], 50u) << "shift " << shift;
    }
  }
}

TEST_P(EachFunction, NeverCollidesForDifferentIntegers) {
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 100000; i++) {
    EXPECT_TRUE(seen.insert(GetParam().hash(i)).second);
  }
}

TEST(Hash, IsAConstantExpressionWithTheSameValueEverywhere) {
  static_assert(hash_u32(1) == 0x06d3fa73);
  static_assert(hash_u64(1) == 0x5692161d100b05e5);
  static_assert(hash_int(1, 2) == 0xd90b18d6);
  static_assert(hash_int(1, 2) != hash_int(1, 3));
  if constexpr (std::endian::native == std::endian::little) {
    EXPECT_EQ(hash_bytes("hello, world", 12, 1), 0xc005807dc645d3f1);
  }
}

TEST(Hash, BytesDependOnSizeSeedAndEveryByte) {
  std::set<uint64_t> seen;
  for (size_t size = 0; size <= 40; size++) {
    std::string zeros(size, '\0');
    EXPECT_TRUE(seen.insert(hash_bytes(zeros.data(), size, 0)).second);
    EXPECT_TRUE(seen.insert(hash_bytes(zeros.data(), size, 1)).second);
    for (size_t i = 0; i < size; i++) {
      std::string one = zeros;
      one[i] = 1;
      EXPECT_TRUE(seen.insert(hash_bytes(one.data(), size, 0)).second);
    }
  }
}

TEST(Hash, BytesReadNothingOutsideAndNeedNoAlignment) {
  std::string padded = "xabcdefghijklmnopqrstuvwxyz";
  std::string plain = "abcdefghijklmnopqrstuvwxyz";
  for (size_t size = 0; size <= plain.size(); size++) {
    std::vector<char> exact(plain.begin(), plain.begin() + size);
    EXPECT_EQ(hash_bytes(exact.data(), size, 3),
              hash_bytes(padded.data() + 1, size, 3));
  }
}

}  // namespace
}  // namespace ovsthread
