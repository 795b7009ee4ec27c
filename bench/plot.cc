// SPDX-License-Identifier: Apache-2.0
//
// Draws what lock-unlock has measured: for each section a picture of the work
// done over the number of threads, with a panel for each group of locks that
// can stand for one another.  A lock has one colour; the dashes of its line
// tell the mode of elision.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "json-reader.h"
#include "ovstest-chart.h"
#include "ovstest-command-line.h"

namespace bench {
namespace {

// One benchmark of a JSON file.
struct Point {
  std::string section, group, lock, mode, threads;
  double work;  // Million sections per second.
};

// Fills *POINT; false if BENCHMARK was not measured or is none of lock-unlock.
bool parse(const Json& benchmark, Point* point) {
  const Json* name = benchmark.find("name");
  const Json* group = benchmark.find("label");
  const Json* work = benchmark.find("items_per_second");
  if (!name || !group || !work) return false;
  // LOCK/MODE/SECTION/manual_time/threads:N
  std::vector<std::string> parts = absl::StrSplit(name->text, '/');
  if (parts.size() != 5) return false;
  *point = {parts[2],
            group->text,
            parts[0],
            parts[1],
            parts[4].substr(parts[4].find(':') + 1),
            work->number / 1e6};
  return true;
}

// The index of VALUE in ALL, where it is put if it is not there yet.
size_t index_in(std::vector<std::string>* all, const std::string& value) {
  auto found = std::find(all->begin(), all->end(), value);
  if (found == all->end()) found = all->insert(all->end(), value);
  return found - all->begin();
}

ovstest::Panel panel(const std::string& group,
                     const std::vector<Point>& points) {
  constexpr const char* kColours[] = {"#4477aa", "#ee6677", "#228833",
                                      "#ccbb44", "#66ccee", "#aa3377",
                                      "#ee7733", "#000000"};
  ovstest::Panel panel{group, {}, {}};
  for (const Point& point : points) index_in(&panel.x, point.threads);
  std::vector<std::string> locks, lines;
  for (const Point& point : points) {
    if (point.group != group) continue;
    size_t lock = index_in(&locks, point.lock);
    size_t line = index_in(&lines, absl::StrCat(point.lock, " ", point.mode));
    if (line == panel.series.size()) {
      const char* dash = point.mode == "off" ? "2 3"
                         : point.mode == "always" || point.mode == "elided"
                             ? "8 3"
                             : "none";
      panel.series.push_back({lines[line], kColours[lock % std::size(kColours)],
                              dash, std::vector<double>(panel.x.size(), NAN)});
    }
    panel.series[line].values[index_in(&panel.x, point.threads)] = point.work;
  }
  return panel;
}

// CONTEXT is that of the file which the first points came from.
ovstest::Chart chart(const std::string& section, const Json& context,
                     const std::vector<Point>& points) {
  std::string title = absl::StrCat("Sections \"", section, "\"");
  for (const char* name : {"commit", "cpu", "compiler", "date"}) {
    const Json* value = context.find(name);
    if (value) absl::StrAppend(&title, ", ", value->text);
  }
  ovstest::Chart chart{
      title,
      "x: threads; y: sections of all threads, million per second",
      true,
      {}};
  std::vector<std::string> groups;
  for (const Point& point : points) index_in(&groups, point.group);
  for (const std::string& group : groups) {
    chart.panels.push_back(panel(group, points));
  }
  return chart;
}

absl::Status cannot(const char* what, const std::string& file) {
  return absl::UnknownError(absl::StrFormat(
      "can't %s %s: %s", what, file, std::generic_category().message(errno)));
}

absl::Status draw(const std::string& prefix,
                  const std::vector<std::string>& files) {
  Json context;
  std::vector<std::string> sections;
  std::vector<Point> points;
  for (const std::string& name : files) {
    std::ifstream file(name);
    if (!file) return cannot("read", name);
    std::optional<Json> json =
        JsonReader::read({std::istreambuf_iterator<char>(file), {}});
    const Json* benchmarks = json ? json->find("benchmarks") : nullptr;
    if (!benchmarks) {
      return absl::UnknownError(
          absl::StrCat(name, " is no JSON of Google Benchmark"));
    }
    const Json* its_context = json->find("context");
    if (its_context && context.members.empty()) context = *its_context;
    for (const Json& benchmark : benchmarks->elements) {
      Point point;
      if (!parse(benchmark, &point)) continue;
      index_in(&sections, point.section);
      points.push_back(std::move(point));
    }
  }
  for (const std::string& section : sections) {
    std::vector<Point> its_points;
    std::copy_if(points.begin(), points.end(), std::back_inserter(its_points),
                 [&](const Point& point) { return point.section == section; });
    std::string name = absl::StrCat(prefix, "-", section, ".svg");
    std::ofstream file(name);
    file << svg(chart(section, context, its_points)) << std::flush;
    if (!file) return cannot("write", name);
  }
  return absl::OkStatus();
}

absl::Status plot(ovstest::Words words) {
  std::string prefix;
  std::vector<std::string> files(2);
  ovstest::CommandLine line("plot",
                            "Draws a picture PREFIX-SECTION.svg for each "
                            "section that lock-unlock has measured.");
  line.required("PREFIX", "Of the names of pictures.",
                ovstest::file_name(&prefix));
  line.required("FILE", "JSON that lock-unlock has written.",
                ovstest::file_name(&files[0]));
  line.optional("FILE", "More of it, to be drawn beside.",
                ovstest::file_name(&files[1]));
  absl::Status status = line.parse(words);
  if (!status.ok() || line.help_shown()) return status;
  if (files[1].empty()) files.pop_back();
  return draw(prefix, files);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("plot", bench::plot(words));
}
