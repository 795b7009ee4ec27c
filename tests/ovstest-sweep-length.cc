// SPDX-License-Identifier: Apache-2.0
#include "ovstest-sweep-length.h"

#include <algorithm>
#include <cmath>

namespace ovstest {
namespace {

constexpr double kBudgetSeconds = 100;  // For all passes.
constexpr double kPassSeconds = 15;     // For one.
constexpr uint64_t kMaxPasses = 11;
constexpr double kMinSize = 1000;
constexpr double kMaxSize = 20000000;

}  // namespace

absl::StatusOr<uint64_t> choose_size(
    double most, absl::FunctionRef<absl::StatusOr<double>(uint64_t n)> pass) {
  // So little that the last trial is in time even if a map that leaves the
  // caches is four times as slow.
  constexpr double kGrowth = 4;
  most = std::clamp(most, kMinSize, kMaxSize);
  for (double n = kMinSize;; n = std::min(n * kGrowth, most)) {
    absl::StatusOr<double> seconds = pass(static_cast<uint64_t>(n));
    if (!seconds.ok()) return seconds.status();
    if (n < most && *seconds * kGrowth <= kPassSeconds) continue;
    if (*seconds > kPassSeconds) n *= kPassSeconds / *seconds;
    n = std::max(n, kMinSize);
    double power = std::pow(10, std::floor(std::log10(n)));
    return static_cast<uint64_t>(std::floor(n / power) * power);
  }
}

bool another_pass(uint64_t passes, double longest, double elapsed) {
  return passes == 0 ||
         (passes < kMaxPasses && elapsed + longest <= kBudgetSeconds);
}

}  // namespace ovstest
