// SPDX-License-Identifier: Apache-2.0
//
// The arguments that "test-cmap benchmark" and "test-cmap sweep" share.
#ifndef OVSTHREAD_TESTS_OVSTEST_PLAN_H_
#define OVSTHREAD_TESTS_OVSTEST_PLAN_H_

#include <optional>
#include <string>

#include "ovstest-command-line.h"
#include "ovstest-measure.h"

namespace ovstest {

struct Plan {
  uint64_t n = 0;
  uint64_t threads = 0;
  double mutation = 0;  // Percent.
  uint64_t batch = 1;
  uint64_t repeat = 0;  // 0: the user did not say.
  uint64_t seed = 1;
  std::optional<ovs_elision_mode> elision;
  bool pthread = false;
  bool retire = false;
  bool pin = false;
  bool json = false;

  // The workload at MUTATION percent.
  Workload::Shape shape(double mutation) const;
};

// What the values of N, THREADS and BATCH may be.
Setter elements_setter(Plan* plan);
Setter threads_setter(Plan* plan);
Setter batch_setter(Plan* plan);

// Declares the common options.
void add_options(CommandLine* line, Plan* plan);

// An error if PLAN's map would not fit in memory.
absl::Status check_memory(const CommandLine& line, const Plan& plan);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_PLAN_H_
