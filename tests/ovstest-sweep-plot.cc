// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_format.h"
#include "ovstest-chart.h"
#include "ovstest-report.h"
#include "ovstest-sweep.h"
#include "ovstest-words.h"

namespace ovstest {

std::string plot(const Plan& plan, const Elision& elision,
                 const std::vector<SweepCell>& cells) {
  const struct {
    const char* label;
    const char* colour;
    const char* dash;
    bool shown;
  } kLines[kLocks] = {{"baseline", "#4477aa", "none", true},
                      {"TM", "#ee6677", "none", elision.measured},
                      {"pthread", "#777777", "4 3", plan.pthread}};

  Chart chart{absl::StrFormat(
                  "Search of %d elements by %s, batches of %d, medians of %s",
                  plan.n, count_of(plan.threads, "thread"), plan.batch,
                  count_of(plan.repeat, "round")),
              "x: visits that remove, %; y: search, ms",
              false,
              {}};
  for (size_t i = 0; i < kContainers; i++) {
    Panel panel;
    panel.title = std::string(name(cells[0].results[i].container));
    for (const SweepCell& cell : cells) {
      panel.x.push_back(absl::StrFormat("%g", cell.mutation));
    }
    for (size_t locks = 0; locks < kLocks; locks++) {
      const auto& line = kLines[locks];
      if (!line.shown) continue;
      Series series{line.label, line.colour, line.dash, {}};
      for (const SweepCell& cell : cells) {
        series.values.push_back(
            cell.results[i].ms[static_cast<size_t>(Phase::kSearch)][locks]);
      }
      panel.series.push_back(series);
    }
    chart.panels.push_back(panel);
  }
  return svg(chart);
}

}  // namespace ovstest
