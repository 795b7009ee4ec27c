// SPDX-License-Identifier: Apache-2.0
//
// The outcome of a sweep, and the plot of it.
#ifndef OVSTHREAD_TESTS_OVSTEST_SWEEP_H_
#define OVSTHREAD_TESTS_OVSTEST_SWEEP_H_

#include <string>
#include <vector>

#include "ovstest-measure.h"
#include "ovstest-plan.h"

namespace ovstest {

// One rate of mutation.
struct SweepCell {
  double mutation;              // Percent.
  std::vector<Result> results;  // One per container.
};

// An SVG picture: for each container the time of the search over the rate of
// mutation, one line per kind of lock.
std::string plot(const Plan& plan, const Elision& elision,
                 const std::vector<SweepCell>& cells);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_SWEEP_H_
