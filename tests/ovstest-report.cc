// SPDX-License-Identifier: Apache-2.0
#include "ovstest-report.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "ovstest-words.h"

namespace ovstest {
namespace {

absl::string_view title(Container container) {
  return container == Container::kCmapBatch ? "batched cmap" : name(container);
}

// What the search says beside its times.
std::string search_details(const Result& result, const Plan& plan) {
  std::string text = absl::StrFormat(", ratio %.3f", result.ratio.median);
  if (plan.repeat > 1) {
    absl::StrAppendFormat(&text, " (%.3f to %.3f)", result.ratio.low,
                          result.ratio.high);
  }
  if (std::isnan(result.elided_share)) {
    absl::StrAppend(&text, "; no lock taken while elision was active");
  } else {
    absl::StrAppendFormat(&text, "; %.2f %% elided", result.elided_share * 100);
  }
  absl::StrAppend(&text, "; aborts:");
  for (int i = 0; i < OVS_N_ABORTS; i++) {
    absl::StrAppend(&text, i ? ", " : " ",
                    ovs_elision_abort_name(static_cast<ovs_elision_abort>(i)),
                    " ", result.aborts[i]);
  }
  return text;
}

}  // namespace

std::string format_ms(double ms) {
  if (std::isnan(ms)) return "n/a";
  return absl::StrFormat("%.*f", ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
}

std::string describe(const Elision& elision) {
  if (!elision.measured) return absl::StrCat("n/a (", elision.reason, ")");
  return absl::StrCat("elision ", mode_name(elision.mode), " (", elision.reason,
                      ")");
}

std::string format_result(const Result& result, const Plan& plan,
                          const Elision& elision) {
  std::string text;
  for (Phase phase : kAllPhases) {
    const double* ms = result.ms[static_cast<size_t>(phase)];
    absl::StrAppendFormat(
        &text, "%-22s",
        absl::StrCat(title(result.container), " ", name(phase), ":"));
    absl::StrAppendFormat(&text, " %8s", format_ms(ms[0]));
    if (phase == Phase::kSearch) {
      absl::StrAppend(&text, " / ", format_ms(ms[1]));
      if (plan.pthread) absl::StrAppend(&text, " / ", format_ms(ms[2]));
    }
    absl::StrAppend(&text, " ms");
    if (phase == Phase::kSearch) {
      absl::StrAppend(&text, elision.measured
                                 ? search_details(result, plan)
                                 : absl::StrCat(" (", elision.reason, ")"));
    }
    text += '\n';
  }
  return text;
}

void write_elision(const Elision& elision, JsonWriter* json) {
  json->key("elision")
      .open_object()
      .member("available", elision.available)
      .member("reason", elision.reason)
      .close_object();
}

void write_result(const Result& result, JsonWriter* json) {
  for (Phase phase : kAllPhases) {
    const double* ms = result.ms[static_cast<size_t>(phase)];
    bool search = phase == Phase::kSearch;
    bool elided = search && !std::isnan(result.ratio.median);
    json->open_object()
        .member("container", name(result.container))
        .member("phase", name(phase))
        .member("baseline_ms", ms[0])
        .member("tm_ms", ms[1])
        .member("pthread_ms", ms[2])
        .member("ratio", search ? result.ratio.median : NAN)
        .member("ratio_low", search ? result.ratio.low : NAN)
        .member("ratio_high", search ? result.ratio.high : NAN)
        .member("elided_share", elided ? result.elided_share : NAN)
        .key("aborts")
        .open_object();
    for (int i = 0; i < OVS_N_ABORTS; i++) {
      json->member(ovs_elision_abort_name(static_cast<ovs_elision_abort>(i)),
                   search ? result.aborts[i] : uint64_t{0});
    }
    json->close_object().close_object();
  }
}

}  // namespace ovstest
