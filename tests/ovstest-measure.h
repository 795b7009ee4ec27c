// SPDX-License-Identifier: Apache-2.0
//
// Repeated trials of one container, and what they come to.
//
// In each round every kind of lock gets a fresh map and the same draws, in an
// order that alternates from round to round (A B B A), so that whatever drifts
// on the machine hits all kinds alike.  Ratios are taken within a round.
#ifndef OVSTHREAD_TESTS_OVSTEST_MEASURE_H_
#define OVSTHREAD_TESTS_OVSTEST_MEASURE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ovstest-trial.h"
#include "paired.h"

namespace ovstest {

inline constexpr Container kAllContainers[] = {
    Container::kCmapBatch, Container::kCmap, Container::kHmap};
inline constexpr Phase kAllPhases[] = {Phase::kInsert, Phase::kIterate,
                                       Phase::kSearch, Phase::kDestroy};

// "cmap-batch", ... and "insert", ..., as in JSON.
absl::string_view name(Container container);
absl::string_view name(Phase phase);

// What the TM column runs, or why there is none.
struct Elision {
  bool available;         // This machine runs transactions.
  bool measured;          // There is a TM column.
  ovs_elision_mode mode;  // Of that column.
  std::string reason;     // In plain words, why AVAILABLE or MEASURED are so.
};

// REQUESTED is what the user asked for, if anything.  A process in which the
// environment switched elision off keeps it off.  Fails with kUnimplemented if
// the user asked for OVS_ELISION_ALWAYS and there can be no transactions.
absl::StatusOr<Elision> choose_elision(
    std::optional<ovs_elision_mode> requested);

struct Result {
  Container container;
  // Medians; NaN where nothing was measured.  Only the search takes locks, so
  // the other phases have a baseline alone.
  double ms[kPhases][kLocks];
  // Of the search, TM / baseline; NaN without a TM column.
  bench::Summary ratio;
  // Of the lock acquisitions of the TM column's searches; NaN if there is none.
  double elided_share;
  uint64_t aborts[OVS_N_ABORTS];
};

class Measurement {
 public:
  Measurement(Container container, const Elision& elision, bool pthread);

  // Runs one more round.  With WARM_UP its times are dropped.
  absl::Status run_round(const Workload& workload, bool warm_up = false);

  Result result() const;

 private:
  Container container_;
  ovs_elision_mode tm_mode_;
  std::vector<Locks> kinds_;  // In the order of an even round.
  unsigned rounds_ = 0;
  std::vector<double> ms_[kPhases][kLocks];
  ovs_elision_counts counts_ = {};
};

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_MEASURE_H_
