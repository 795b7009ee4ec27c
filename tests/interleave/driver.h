// SPDX-License-Identifier: Apache-2.0
//
// Runs the scenarios of an interleaving test and reports in TAP.
//
// Without arguments every scenario is searched as written, and once for each of
// its numbered orders with that order weakened to relaxed; the first must find
// no failure, the others must find one.  Arguments narrow this:
//
//   --weaken N     only the searches with order N weakened
//   --scenario TEXT  only scenarios whose name contains TEXT
//   --runs N       interleavings of a random search (default 20000, or
//                  OVSTHREAD_INTERLEAVE_RUNS: set it to 1000000 or more for a
//                  thorough search)
//   --seed N       where a random search starts (default OVSTHREAD_TEST_SEED,
//                  else drawn; printed).  Run number S of a random search
//                  depends on S alone, so that a failure is replayed with
//                  --scenario NAME --seed S --runs 1.
//   --trace        print the history of a failure that was expected, too
//
// A full search visits every interleaving, a bounded one every interleaving
// with at most that many preemptions (switches away from a thread that could
// have gone on).  Both always do the same and end by themselves.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_DRIVER_H_
#define OVSTHREAD_TESTS_INTERLEAVE_DRIVER_H_

#include <vector>

#include "interleave/relacy.h"

namespace ovsthread::interleave {

struct Scenario {
  const char* name;
  rl::scheduler_type_e search;
  unsigned preemptions;
  std::vector<int> numbers;
  bool (*simulate)(rl::test_params&);
};

template <class Test>
Scenario full(const char* name, std::vector<int> numbers) {
  return {name, rl::sched_full, 0, std::move(numbers), rl::simulate<Test>};
}

template <class Test>
Scenario bounded(const char* name, unsigned preemptions,
                 std::vector<int> numbers) {
  return {name, rl::sched_bound, preemptions, std::move(numbers),
          rl::simulate<Test>};
}

template <class Test>
Scenario random(const char* name, std::vector<int> numbers) {
  return {name, rl::sched_random, 0, std::move(numbers), rl::simulate<Test>};
}

// Returns the exit status of main().
int run(int argc, char** argv, const std::vector<Scenario>& scenarios);

}  // namespace ovsthread::interleave

#endif  // OVSTHREAD_TESTS_INTERLEAVE_DRIVER_H_
