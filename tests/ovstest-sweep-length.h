// SPDX-License-Identifier: Apache-2.0
//
// How long a sweep is that the user leaves to itself, so that it ends within
// two minutes.  A pass begins only if it will end within 100 seconds after the
// start, should it take as long as the longest before it; the rest is for one
// that takes longer.
#ifndef OVSTHREAD_TESTS_OVSTEST_SWEEP_LENGTH_H_
#define OVSTHREAD_TESTS_OVSTEST_SWEEP_LENGTH_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace ovstest {

// The number of elements, no more than MOST if that is 1000 or more, of a pass
// that is short enough to be repeated.  Found by trials of more and more
// elements, so that it does not rest on a guess how the time grows: PASS runs
// one over N elements and returns the seconds that it took.
absl::StatusOr<uint64_t> choose_size(
    double most, absl::FunctionRef<absl::StatusOr<double>(uint64_t n)> pass);

// Whether there is time for another pass, after PASSES of which the longest
// took LONGEST seconds, and ELAPSED seconds after the start.
bool another_pass(uint64_t passes, double longest, double elapsed);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_SWEEP_LENGTH_H_
