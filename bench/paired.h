// SPDX-License-Identifier: Apache-2.0
//
// Summaries of repeated measurements.
//
// On a shared machine a time means little, but the ratio of two times measured
// right after one another does.  So two things are run alternately, A B B A,
// the ratio is taken within each round, and the median of the ratios is
// reported together with an interval that holds the true median with 95 %
// confidence.  The interval is that of the order statistics: it needs no
// assumption about how times are distributed.
#ifndef OVSTHREAD_BENCH_PAIRED_H_
#define OVSTHREAD_BENCH_PAIRED_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
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

// How many values to drop at either end of N sorted ones so that the rest spans
// the median of their distribution with 95 % confidence.  Below 6 values there
// is no such interval and the whole range has to do.
inline size_t outside_interval(size_t n) {
  // The number of values below the median is binomially distributed (n, 1/2).
  double exactly = std::pow(0.5, static_cast<double>(n));
  double at_most = exactly;
  for (size_t drop = 0;; drop++) {
    exactly *= static_cast<double>(n - drop) / static_cast<double>(drop + 1);
    at_most += exactly;
    if (2 * at_most > 0.05) return drop;
  }
}

// All NaN if VALUES is empty.
inline Summary summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  size_t drop = outside_interval(n);
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[drop],
          values[n - 1 - drop]};
}

inline double median(std::vector<double> values) {
  return summarize(std::move(values)).median;
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
