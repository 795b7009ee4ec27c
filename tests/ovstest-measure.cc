// SPDX-License-Identifier: Apache-2.0
#include "ovstest-measure.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ovstest {
namespace {

constexpr size_t index(Phase phase) { return static_cast<size_t>(phase); }
constexpr size_t index(Locks locks) { return static_cast<size_t>(locks); }

}  // namespace

absl::string_view name(Container container) {
  switch (container) {
    case Container::kCmapBatch:
      return "cmap-batch";
    case Container::kCmap:
      return "cmap";
    case Container::kHmap:
      break;
  }
  return "hmap";
}

absl::string_view name(Phase phase) {
  switch (phase) {
    case Phase::kInsert:
      return "insert";
    case Phase::kIterate:
      return "iterate";
    case Phase::kSearch:
      return "search";
    case Phase::kDestroy:
      break;
  }
  return "destroy";
}

absl::StatusOr<Elision> choose_elision(
    std::optional<ovs_elision_mode> requested) {
  // The mode that the environment chose, since nothing else has set it yet.
  const ovs_elision_mode environment = ovs_elision_get_mode();
  struct ovs_elision_status status;
  ovs_elision_get_status(&status);
  Elision elision = {status.available, false, requested.value_or(environment),
                     status.reason};

  bool possible = status.available && environment != OVS_ELISION_OFF;
  if (requested == OVS_ELISION_ALWAYS && !possible) {
    return absl::UnimplementedError(
        absl::StrCat("--elision=always is not possible here: ", status.reason));
  }
  if (requested == OVS_ELISION_OFF) {
    elision.reason = "--elision=off";
  } else if (possible) {
    elision.measured = true;
  }
  return elision;
}

Measurement::Measurement(Container container, const Elision& elision,
                         bool pthread)
    : container_(container), tm_mode_(elision.mode), kinds_{Locks::kBaseline} {
  if (elision.measured) kinds_.push_back(Locks::kTm);
  if (pthread) kinds_.push_back(Locks::kPthread);
}

absl::Status Measurement::run_round(const Workload& workload, bool warm_up) {
  std::vector<Locks> order = kinds_;
  if (bench::reversed(rounds_)) std::reverse(order.begin(), order.end());
  for (Locks locks : order) {
    ovs_elision_set_mode(locks == Locks::kTm ? tm_mode_ : OVS_ELISION_OFF);
    absl::StatusOr<Trial> trial =
        run_trial(workload, container_, locks == Locks::kPthread);
    if (!trial.ok()) return trial.status();
    if (warm_up) continue;
    for (Phase phase : kAllPhases) {
      ms_[index(phase)][index(locks)].push_back(trial->ms[index(phase)]);
    }
    if (locks == Locks::kTm) {
      counts_.acquisitions += trial->counts.acquisitions;
      counts_.elided += trial->counts.elided;
      for (size_t i = 0; i < OVS_N_ABORTS; i++) {
        counts_.aborts[i] += trial->counts.aborts[i];
      }
    }
  }
  if (!warm_up) rounds_++;
  return absl::OkStatus();
}

Result Measurement::result() const {
  Result result = {};
  result.container = container_;
  for (Phase phase : kAllPhases) {
    const auto& ms = ms_[index(phase)];
    for (size_t locks = 0; locks < kLocks; locks++) {
      bool shown = phase == Phase::kSearch || locks == index(Locks::kBaseline);
      result.ms[index(phase)][locks] = shown ? bench::median(ms[locks]) : NAN;
    }
  }
  const auto& search = ms_[index(Phase::kSearch)];
  result.ratio = bench::paired_ratio(search[index(Locks::kTm)],
                                     search[index(Locks::kBaseline)]);
  result.elided_share = counts_.acquisitions
                            ? static_cast<double>(counts_.elided) /
                                  static_cast<double>(counts_.acquisitions)
                            : NAN;
  std::copy(std::begin(counts_.aborts), std::end(counts_.aborts),
            result.aborts);
  return result;
}

}  // namespace ovstest
