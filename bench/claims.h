// SPDX-License-Identifier: Apache-2.0
//
// What is claimed of a measured ratio, and what comes of the claim.
#ifndef OVSTHREAD_BENCH_CLAIMS_H_
#define OVSTHREAD_BENCH_CLAIMS_H_

#include "paired.h"

namespace bench {

struct Bound {
  bool at_most;  // Else at least.
  double value;

  const char* sign() const { return at_most ? "<=" : ">="; }
  bool admits(double ratio) const {
    return at_most ? ratio <= value : ratio >= value;
  }
};

// A claim fails only if the whole interval speaks against it.
inline const char* verdict(const Bound& bound, const Summary& ratio) {
  if (bound.admits(ratio.median)) return "holds";
  return bound.admits(ratio.low) || bound.admits(ratio.high) ? "unclear"
                                                             : "fails";
}

}  // namespace bench

#endif  // OVSTHREAD_BENCH_CLAIMS_H_
