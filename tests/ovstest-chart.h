// SPDX-License-Identifier: Apache-2.0
//
// Line charts as SVG: panels side by side, each with a legend below.
#ifndef OVSTHREAD_TESTS_OVSTEST_CHART_H_
#define OVSTHREAD_TESTS_OVSTEST_CHART_H_

#include <string>
#include <vector>

namespace ovstest {

// One line.
struct Series {
  std::string label;
  std::string colour;          // As SVG has it, "#4477aa".
  std::string dash;            // "none", or lengths of dashes and gaps, "4 3".
  std::vector<double> values;  // One per label of the x axis; NaN: no point.
};

struct Panel {
  std::string title;
  std::vector<std::string> x;  // Labels of the axis, evenly spaced.
  std::vector<Series> series;
};

struct Chart {
  std::string title;
  std::string axes;  // What x and y are, a line at the bottom.
  bool one_scale;    // All panels have the y axis of the one that needs most.
  std::vector<Panel> panels;
};

// The whole picture.  The y axes start at 0.
std::string svg(const Chart& chart);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_CHART_H_
