// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "ovstest-report.h"
#include "ovstest-sweep.h"
#include "ovstest-words.h"

namespace ovstest {
namespace {

// In pixels.
constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 220;
constexpr double kLeft = 60;    // Room for the labels of an axis.
constexpr double kTop = 60;     // Room for the titles.
constexpr double kBottom = 70;  // Room for labels and legend.

struct Line {
  const char* label;
  const char* colour;
  const char* dash;
};
constexpr Line kLines[kLocks] = {{"baseline", "#4477aa", "none"},
                                 {"TM", "#ee6677", "none"},
                                 {"pthread", "#777777", "4 3"}};

double search_ms(const Result& result, size_t locks) {
  return result.ms[static_cast<size_t>(Phase::kSearch)][locks];
}

void append_text(std::string* svg, double x, double y, const char* anchor,
                 absl::string_view text) {
  absl::StrAppendFormat(svg,
                        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s"
                        "</text>\n",
                        x, y, anchor, text);
}

void append_line(std::string* svg, double x1, double y1, double x2, double y2,
                 const Line& line) {
  absl::StrAppendFormat(svg,
                        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                        "stroke=\"%s\" stroke-dasharray=\"%s\"/>\n",
                        x1, y1, x2, y2, line.colour, line.dash);
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below VALUE.
double round_up(double value) {
  double power = std::pow(10, std::floor(std::log10(value)));
  for (double step : {1., 2., 5.}) {
    if (step * power >= value) return step * power;
  }
  return 10 * power;
}

void append_panel(std::string* svg, size_t panel,
                  const std::vector<SweepCell>& cells) {
  double left = kLeft + static_cast<double>(panel) * (kPanelWidth + kLeft);
  double bottom = kTop + kPanelHeight;
  double most = 1e-3;
  for (const SweepCell& cell : cells) {
    for (size_t locks = 0; locks < kLocks; locks++) {
      most = std::fmax(most, search_ms(cell.results[panel], locks));
    }
  }
  double step = round_up(most / 5);
  double scale = kPanelHeight / (step * std::ceil(most / step));
  auto x_of = [&](size_t cell) {
    return left + (static_cast<double>(cell) + 0.5) * kPanelWidth /
                      static_cast<double>(cells.size());
  };
  auto y_of = [&](double ms) { return bottom - ms * scale; };

  append_text(svg, left + kPanelWidth / 2, kTop - 12, "middle",
              name(cells[0].results[panel].container));
  constexpr Line kGrid = {"", "#dddddd", "none"};
  for (double ms = 0; ms * scale < kPanelHeight + 1; ms += step) {
    append_line(svg, left, y_of(ms), left + kPanelWidth, y_of(ms), kGrid);
    append_text(svg, left - 6, y_of(ms) + 4, "end", absl::StrFormat("%g", ms));
  }
  for (size_t i = 0; i < cells.size(); i++) {
    append_text(svg, x_of(i), bottom + 18, "middle",
                absl::StrFormat("%g", cells[i].mutation));
  }
  for (size_t locks = 0; locks < kLocks; locks++) {
    std::string points;
    for (size_t i = 0; i < cells.size(); i++) {
      double ms = search_ms(cells[i].results[panel], locks);
      if (std::isnan(ms)) continue;
      absl::StrAppendFormat(&points, "%.1f,%.1f ", x_of(i), y_of(ms));
    }
    if (points.empty()) continue;
    absl::StrAppendFormat(svg,
                          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" "
                          "stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
                          points, kLines[locks].colour, kLines[locks].dash);
  }
}

void append_legend(std::string* svg, const Plan& plan, const Elision& elision) {
  const bool shown[kLocks] = {true, elision.measured, plan.pthread};
  double x = kLeft;
  double y = kTop + kPanelHeight + kBottom - 16;
  for (size_t locks = 0; locks < kLocks; locks++) {
    if (!shown[locks]) continue;
    append_line(svg, x, y - 4, x + 24, y - 4, kLines[locks]);
    append_text(svg, x + 30, y, "start", kLines[locks].label);
    x += 120;
  }
  append_text(svg, x, y, "start", "x: visits that remove, %; y: search, ms");
}

}  // namespace

std::string plot(const Plan& plan, const Elision& elision,
                 const std::vector<SweepCell>& cells) {
  double width = kLeft / 2 + kContainers * (kPanelWidth + kLeft);
  double height = kTop + kPanelHeight + kBottom;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height);
  append_text(&svg, kLeft, 24, "start",
              absl::StrFormat("Search of %d elements by %s, batches of %d, "
                              "medians of %s",
                              plan.n, count_of(plan.threads, "thread"),
                              plan.batch, count_of(plan.repeat, "round")));
  for (size_t panel = 0; panel < kContainers; panel++) {
    append_panel(&svg, panel, cells);
  }
  append_legend(&svg, plan, elision);
  return svg + "</svg>\n";
}

}  // namespace ovstest
