// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-cmap sweep: the benchmark over a range of mutation rates.
//
// The sweep is made of passes, each of which measures every cell of the table
// once, so that the cells are alike in how the machine felt.  Unless the user
// says how many rounds there shall be, passes go on while there is time; unless
// the user says how many elements, short passes tell how many make one short
// enough.  Without such wishes a sweep ends within two minutes.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "ovstest-commands.h"
#include "ovstest-memory.h"
#include "ovstest-progress.h"
#include "ovstest-report.h"
#include "ovstest-sweep-length.h"
#include "ovstest-sweep.h"
#include "ovstest-words.h"
#include "ovsthread/topology.h"
#include "team.h"

namespace ovstest {
namespace {

constexpr double kMutations[] = {0.1, 2, 5, 10, 20, 40, 60, 80};
constexpr size_t kCells = std::size(kMutations);

enum class Format { kText, kJson, kCsv };

class Sweep {
 public:
  Sweep(const Plan& plan, const Elision& elision)
      : plan_(plan), elision_(elision) {}

  // Chooses N from memory and from the time that small passes take.
  absl::Status choose_size();

  absl::Status run();

  const Plan& plan() const { return plan_; }
  std::vector<SweepCell> cells() const;

 private:
  using Cell = std::vector<Measurement>;  // One per container.

  Cell new_cell() const;
  absl::Status run_pass(bool warm_up);
  absl::Status run_cell(size_t i, bool warm_up);
  double elapsed() const {
    return bench::milliseconds(bench::Clock::now() - start_) / 1000;
  }

  Plan plan_;
  Elision elision_;
  Progress progress_;
  std::vector<Cell> cells_;
  std::string pass_name_;
  bench::Clock::time_point start_ = bench::Clock::now();
};

Sweep::Cell Sweep::new_cell() const {
  Cell cell;
  for (Container container : kAllContainers) {
    cell.emplace_back(container, elision_, plan_.pthread);
  }
  return cell;
}

absl::Status Sweep::run_cell(size_t i, bool warm_up) {
  Workload workload(plan_.shape(kMutations[i]));
  for (Measurement& measurement : cells_[i]) {
    absl::Status status = measurement.run_round(workload, warm_up);
    if (!status.ok()) {
      return absl::InternalError(absl::StrFormat(
          "at %g %% mutations: %s", kMutations[i], status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status Sweep::run_pass(bool warm_up) {
  for (size_t i = 0; i < kCells; i++) {
    progress_.show(absl::StrFormat("n=%d, %s: %g %% mutations, %.0f s so far",
                                   plan_.n, pass_name_, kMutations[i],
                                   elapsed()));
    absl::Status status = run_cell(i, warm_up);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Sweep::choose_size() {
  auto memory_needed = [this](uint64_t n) {
    plan_.n = n;
    return Workload::memory_needed(plan_.shape(0));
  };
  double fixed = memory_needed(0);
  double each = (memory_needed(1000000) - fixed) / 1e6;
  double most = (static_cast<double>(available_memory()) / 4 - fixed) / each;

  cells_.assign(kCells, new_cell());
  pass_name_ = "choosing a size";
  absl::StatusOr<uint64_t> n =
      ovstest::choose_size(most, [&](uint64_t size) -> absl::StatusOr<double> {
        plan_.n = size;
        double before = elapsed();
        absl::Status status = run_pass(true);
        if (!status.ok()) return status;
        return elapsed() - before;
      });
  if (!n.ok()) return n.status();
  plan_.n = *n;
  return absl::OkStatus();
}

absl::Status Sweep::run() {
  uint64_t wanted = plan_.repeat;
  cells_.assign(kCells, new_cell());
  plan_.repeat = 0;
  double longest = 0;
  while (wanted ? plan_.repeat < wanted
                : another_pass(plan_.repeat, longest, elapsed())) {
    double before = elapsed();
    pass_name_ = absl::StrFormat("pass %d", plan_.repeat + 1);
    absl::Status status = run_pass(false);
    if (!status.ok()) return status;
    plan_.repeat++;
    longest = std::max(longest, elapsed() - before);
  }
  progress_.show("");
  return absl::OkStatus();
}

std::vector<SweepCell> Sweep::cells() const {
  std::vector<SweepCell> cells;
  for (size_t i = 0; i < kCells; i++) {
    SweepCell& cell = cells.emplace_back(SweepCell{kMutations[i], {}});
    for (const Measurement& measurement : cells_[i]) {
      cell.results.push_back(measurement.result());
    }
  }
  return cells;
}

const double* search_ms(const Result& result) {
  return result.ms[static_cast<size_t>(Phase::kSearch)];
}

void print_text(const Plan& plan, const Elision& elision,
                const std::vector<SweepCell>& cells) {
  absl::PrintF("n=%d, %s, batch size %d, seed %d, %s%s%s\n", plan.n,
               count_of(plan.threads, "thread"), plan.batch, plan.seed,
               count_of(plan.repeat, "round"),
               plan.retire ? ", removed elements retired" : "",
               plan.pin ? ", threads pinned" : "");
  absl::PrintF("Time of the search in ms, medians.  TM: %s\n\n",
               describe(elision));

  std::string titles = "          ", heads = "mutations ";
  for (const Result& result : cells[0].results) {
    std::string head = absl::StrFormat("  %8s", "baseline");
    if (elision.measured)
      absl::StrAppendFormat(&head, " %8s %6s", "TM", "ratio");
    if (plan.pthread) absl::StrAppendFormat(&head, " %8s", "pthread");
    absl::StrAppendFormat(&titles, "  %-*s", head.size() - 2,
                          name(result.container));
    heads += head;
  }
  absl::PrintF("%s\n%s\n", titles, heads);
  for (const SweepCell& cell : cells) {
    absl::PrintF("%7.1f %% ", cell.mutation);
    for (const Result& result : cell.results) {
      const double* ms = search_ms(result);
      absl::PrintF("  %8s", format_ms(ms[0]));
      if (elision.measured) {
        absl::PrintF(" %8s %6.3f", format_ms(ms[1]), result.ratio.median);
      }
      if (plan.pthread) absl::PrintF(" %8s", format_ms(ms[2]));
    }
    absl::PrintF("\n");
  }
}

// An empty field where nothing was measured.
std::string csv_field(double value) {
  return std::isnan(value) ? "" : absl::StrFormat("%.6g", value);
}

void print_csv(const std::vector<SweepCell>& cells) {
  absl::PrintF(
      "mutation,container,baseline_ms,tm_ms,pthread_ms,ratio,ratio_low,"
      "ratio_high,elided_share\n");
  for (const SweepCell& cell : cells) {
    for (const Result& result : cell.results) {
      absl::PrintF("%g,%s", cell.mutation, name(result.container));
      const double* ms = search_ms(result);
      for (double value :
           {ms[0], ms[1], ms[2], result.ratio.median, result.ratio.low,
            result.ratio.high, result.elided_share}) {
        absl::PrintF(",%s", csv_field(value));
      }
      absl::PrintF("\n");
    }
  }
}

void print_json(const Plan& plan, const Elision& elision,
                const std::vector<SweepCell>& cells) {
  JsonWriter json;
  json.open_object()
      .member("n", plan.n)
      .member("threads", plan.threads)
      .member("batch", plan.batch)
      .member("rounds", plan.repeat)
      .member("seed", plan.seed);
  write_elision(elision, &json);
  json.key("sweep").open_array();
  for (const SweepCell& cell : cells) {
    json.open_object().member("mutation", cell.mutation);
    json.key("results").open_array();
    for (const Result& result : cell.results) write_result(result, &json);
    json.close_array().close_object();
  }
  json.close_array().close_object();
  absl::PrintF("%s\n", json.text());
}

// Closes a file that is dropped half-way.
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

absl::Status write_file(File file, const std::string& text) {
  bool written =
      std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return absl::DataLossError(absl::StrFormat(
        "can't write the plot: %s", std::generic_category().message(errno)));
  }
  return absl::OkStatus();
}

absl::Status sweep(const CommandLine& line, const Plan& plan, Format format,
                   const std::string& svg) {
  absl::StatusOr<Elision> elision = choose_elision(plan.elision);
  if (!elision.ok()) return elision.status();
  ignore_warnings();
  // Opened now, so that a wrong name is not found out after two minutes.
  File file(svg.empty() ? nullptr : std::fopen(svg.c_str(), "w"), std::fclose);
  if (!svg.empty() && !file) {
    return line.error(absl::StrFormat(
        "--svg is \"%s\", which can't be written: %s", absl::CHexEscape(svg),
        std::generic_category().message(errno)));
  }

  Sweep sweep(plan, *elision);
  absl::Status status = absl::OkStatus();
  if (plan.n == 0) status = sweep.choose_size();
  if (status.ok()) status = sweep.run();
  if (!status.ok()) return status;

  std::vector<SweepCell> cells = sweep.cells();
  switch (format) {
    case Format::kText:
      print_text(sweep.plan(), *elision, cells);
      break;
    case Format::kJson:
      print_json(sweep.plan(), *elision, cells);
      break;
    case Format::kCsv:
      print_csv(cells);
      break;
  }
  return file ? write_file(std::move(file), plot(sweep.plan(), *elision, cells))
              : absl::OkStatus();
}

}  // namespace

absl::Status test_cmap_sweep(Words words) {
  Plan plan;
  plan.batch = 32;
  plan.threads = std::clamp(ovsthread::hardware_threads(), 2u, 1024u);
  bool csv = false;
  std::string svg;
  CommandLine line("ovstest test-cmap sweep",
                   "Runs the benchmark at 0.1, 2, 5, 10, 20, 40, 60 and 80 % "
                   "mutations.");
  line.optional("N",
                "Elements (default: as many as the machine searches within "
                "two minutes).",
                elements_setter(&plan));
  line.optional("THREADS",
                "Threads (default: the hardware threads, at least 2).",
                threads_setter(&plan));
  line.optional("BATCH", "Elements per batched lookup (default 32).",
                batch_setter(&plan));
  add_options(&line, &plan);
  line.flag("--csv", "Prints comma-separated values.", &csv);
  line.option("--svg", "FILE", "Writes a plot to FILE.", file_name(&svg));
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }
  if (csv && plan.json) {
    return line.error("--csv and --json exclude each other");
  }
  if (absl::Status status = check_memory(line, plan); !status.ok()) {
    return status;
  }
  return sweep(line, plan,
               plan.json ? Format::kJson
               : csv     ? Format::kCsv
                         : Format::kText,
               svg);
}

}  // namespace ovstest
