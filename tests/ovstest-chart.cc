// SPDX-License-Identifier: Apache-2.0
#include "ovstest-chart.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace ovstest {
namespace {

// In pixels.
constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 220;
constexpr double kLeft = 60;          // Room for the labels of an axis.
constexpr double kTop = 60;           // Room for the titles.
constexpr double kBottom = 44;        // Room for the labels of x.
constexpr double kLegendHeight = 16;  // Of a line of the legend.

void append_text(std::string* svg, double x, double y, const char* anchor,
                 absl::string_view text) {
  absl::StrAppendFormat(
      svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y,
      anchor,
      absl::StrReplaceAll(text,
                          {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}}));
}

void append_line(std::string* svg, double x1, double y1, double x2, double y2,
                 absl::string_view colour, absl::string_view dash) {
  absl::StrAppendFormat(svg,
                        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                        "stroke=\"%s\" stroke-dasharray=\"%s\"/>\n",
                        x1, y1, x2, y2, colour, dash);
}

// The smallest of 1, 2, 5, 10, 20, ... that is not below VALUE.
double round_up(double value) {
  double power = std::pow(10, std::floor(std::log10(value)));
  for (double step : {1., 2., 5.}) {
    if (step * power >= value) return step * power;
  }
  return 10 * power;
}

double greatest(const Panel& panel) {
  double most = 1e-3;
  for (const Series& series : panel.series) {
    // fmax() takes no notice of a NaN.
    for (double value : series.values) most = std::fmax(most, value);
  }
  return most;
}

// MOST: what the y axis must hold.
void append_panel(std::string* svg, const Panel& panel, double left,
                  double most) {
  double bottom = kTop + kPanelHeight;
  double step = round_up(most / 5);
  double scale = kPanelHeight / (step * std::ceil(most / step));
  auto x_of = [&](size_t i) {
    return left + (static_cast<double>(i) + 0.5) * kPanelWidth /
                      static_cast<double>(panel.x.size());
  };
  auto y_of = [&](double value) { return bottom - value * scale; };

  append_text(svg, left + kPanelWidth / 2, kTop - 12, "middle", panel.title);
  for (double y = 0; y * scale < kPanelHeight + 1; y += step) {
    append_line(svg, left, y_of(y), left + kPanelWidth, y_of(y), "#dddddd",
                "none");
    append_text(svg, left - 6, y_of(y) + 4, "end", absl::StrFormat("%g", y));
  }
  for (size_t i = 0; i < panel.x.size(); i++) {
    append_text(svg, x_of(i), bottom + 18, "middle", panel.x[i]);
  }
  for (const Series& series : panel.series) {
    std::string points;
    for (size_t i = 0; i < series.values.size(); i++) {
      if (std::isnan(series.values[i])) continue;
      absl::StrAppendFormat(&points, "%.1f,%.1f ", x_of(i),
                            y_of(series.values[i]));
    }
    if (points.empty()) continue;
    absl::StrAppendFormat(svg,
                          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" "
                          "stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
                          points, series.colour, series.dash);
  }
  double y = bottom + kBottom;
  for (const Series& series : panel.series) {
    append_line(svg, left, y - 4, left + 24, y - 4, series.colour, series.dash);
    append_text(svg, left + 30, y, "start", series.label);
    y += kLegendHeight;
  }
}

}  // namespace

std::string svg(const Chart& chart) {
  size_t legend = 0;
  double most = 0;
  for (const Panel& panel : chart.panels) {
    legend = std::max(legend, panel.series.size());
    most = std::max(most, greatest(panel));
  }
  double width = kLeft / 2 + static_cast<double>(chart.panels.size()) *
                                 (kPanelWidth + kLeft);
  double height = kTop + kPanelHeight + kBottom +
                  static_cast<double>(legend + 1) * kLegendHeight;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height);
  append_text(&svg, kLeft, 24, "start", chart.title);
  double left = kLeft;
  for (const Panel& panel : chart.panels) {
    append_panel(&svg, panel, left, chart.one_scale ? most : greatest(panel));
    left += kPanelWidth + kLeft;
  }
  append_text(&svg, kLeft, height - kLegendHeight / 2, "start", chart.axes);
  return svg + "</svg>\n";
}

}  // namespace ovstest
