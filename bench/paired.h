// SPDX-License-Identifier: Apache-2.0
//
// Summaries of repeated measurements.
//
// On a shared machine a time means little, but the ratio of two times measured
// right after one another does.  So two things are run alternately, A B B A,
// the ratio is taken within each round, and the median of the ratios is
// reported together with an interval that holds the true median with 95 %
// confidence.  The interval is the percentile bootstrap: as many values are
// drawn again and again from those measured, with replacement, and it spans
// the middle 95 % of the medians of such draws.  It assumes nothing about how
// times are distributed.
#ifndef OVSTHREAD_BENCH_PAIRED_H_
#define OVSTHREAD_BENCH_PAIRED_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace bench {

// Whether round ROUND runs its things in reverse order.
inline bool reversed(unsigned round) { return round % 2 == 1; }

struct Summary {
  double median = NAN;
  double low = NAN;
  double high = NAN;
};

// The value below which a share of Q, 0 to 1, of VALUES lies; NaN if empty.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  double place = q * static_cast<double>(values.size() - 1);
  size_t below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above],
                   place - static_cast<double>(below));
}

// NaN if VALUES is empty.
inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

// All NaN if VALUES is empty.  The same values always give the same answer.
inline Summary summarize(std::vector<double> values) {
  constexpr size_t kDraws = 2000;
  constexpr size_t kOutside = kDraws / 40;  // At either end.
  if (values.empty()) return {};
  std::mt19937_64 random(1);
  std::vector<double> medians;
  std::vector<double> drawn(values.size());
  for (size_t i = 0; i < kDraws; i++) {
    for (double& value : drawn) value = values[random() % values.size()];
    medians.push_back(median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  return {median(values), medians[kOutside], medians[kDraws - 1 - kOutside]};
}

// The ratios A[i] / B[i].
inline Summary paired_ratio(const std::vector<double>& a,
                            const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    ratios.push_back(a[i] / b[i]);
  }
  return summarize(std::move(ratios));
}

}  // namespace bench

#endif  // OVSTHREAD_BENCH_PAIRED_H_
