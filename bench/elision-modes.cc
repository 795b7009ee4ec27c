// SPDX-License-Identifier: Apache-2.0
//
// Question: is mode auto as fast as the better of off and always, whatever the
// workload?
//
// The workload is the search of "ovstest test-cmap benchmark" (see
// tests/ovstest-trial.h).  Each cell of the table is one rate of mutation, one
// number of threads and one container.  In each round the three modes search
// fresh maps with the same draws, in an order that alternates, after one round
// to warm up.  The better mode of a cell is that with the lower median, and the
// figure of the cell is the median of the paired ratios auto / better, with its
// 95 % bootstrap interval (paired.h).
//
// A cell fails if the lower end of its interval is above 1.05.  It is then run
// once more with three times the rounds, which decides; both lines are shown.
// The geometric mean is that of all cells' medians.
//
// Where there are no transactions the better mode is off, and the table shows
// that auto costs nothing there.
#include <config.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "claims.h"
#include "context.h"
#include "ovstest-command-line.h"
#include "ovstest-json.h"
#include "ovstest-measure.h"
#include "ovstest-progress.h"
#include "ovstest-words.h"
#include "ovsthread/elision.h"
#include "paired.h"

namespace bench {
namespace {

using ovstest::Container;
using ovstest::Workload;

constexpr Bound kCellBound = {true, 1.05};
constexpr Bound kMeanBound = {true, 1.02};
constexpr unsigned kModes = 3;  // OVS_ELISION_AUTO, _OFF, _ALWAYS

struct Settings {
  uint64_t n = 2000000;
  uint64_t rounds = 21;
  uint64_t seed = 1;
  uint64_t threads = 0;  // 0: 1, 2 and 4.
  double mutation = -1;  // Negative: all of kMutations.
  bool json = false;
  std::string commit = "unknown";
};

struct Cell {
  double mutation;
  unsigned threads;
  Container container;
};

struct Figures {
  uint64_t rounds;
  std::vector<double> ms[kModes];
  double elided_share;  // In mode auto; NaN without transactions.

  ovs_elision_mode better() const {
    bool always = median(ms[OVS_ELISION_ALWAYS]) < median(ms[OVS_ELISION_OFF]);
    return always ? OVS_ELISION_ALWAYS : OVS_ELISION_OFF;
  }
  Summary ratio() const {
    return paired_ratio(ms[OVS_ELISION_AUTO], ms[better()]);
  }
};

class Table {
 public:
  explicit Table(const Settings& settings);

  absl::Status run();

 private:
  absl::StatusOr<Figures> measure(const Workload& workload, const Cell& cell,
                                  uint64_t rounds);
  absl::Status run_cell(const Workload& workload, const Cell& cell);
  void report(const Cell& cell, const Figures& figures);

  Settings settings_;
  std::vector<ovs_elision_mode> modes_ = {OVS_ELISION_OFF, OVS_ELISION_AUTO};
  ovstest::Progress progress_;
  ovstest::JsonWriter json_;
  double sum_of_logs_ = 0;
  unsigned n_cells_ = 0;
  unsigned n_failed_ = 0;
};

Table::Table(const Settings& settings) : settings_(settings) {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  if (status.available) modes_.push_back(OVS_ELISION_ALWAYS);
}

absl::StatusOr<Figures> Table::measure(const Workload& workload,
                                       const Cell& cell, uint64_t rounds) {
  Figures figures = {rounds, {}, NAN};
  ovs_elision_counts sum = {};
  for (uint64_t round = 0; round <= rounds; round++) {
    std::vector<ovs_elision_mode> order = modes_;
    if (reversed(round)) std::reverse(order.begin(), order.end());
    for (ovs_elision_mode mode : order) {
      progress_.show(absl::StrFormat("%g %%, %s, %s: round %d of %d, %s",
                                     cell.mutation,
                                     ovstest::count_of(cell.threads, "thread"),
                                     ovstest::name(cell.container), round,
                                     rounds, ovstest::mode_name(mode)));
      if (ovs_elision_set_mode(mode) != 0) {
        return absl::InternalError("transactions have stopped working");
      }
      absl::StatusOr<ovstest::Trial> trial =
          ovstest::run_trial(workload, cell.container, false);
      if (!trial.ok()) return trial.status();
      if (round == 0) continue;  // To warm up.
      figures.ms[mode].push_back(
          trial->ms[static_cast<size_t>(ovstest::Phase::kSearch)]);
      if (mode == OVS_ELISION_AUTO) {
        sum.acquisitions += trial->counts.acquisitions;
        sum.elided += trial->counts.elided;
      }
    }
  }
  progress_.show("");
  if (sum.acquisitions != 0) {
    figures.elided_share =
        static_cast<double>(sum.elided) / static_cast<double>(sum.acquisitions);
  }
  return figures;
}

void Table::report(const Cell& cell, const Figures& figures) {
  Summary ratio = figures.ratio();
  const char* result = kCellBound.admits(ratio.low) ? "holds" : "fails";
  if (settings_.json) {
    json_.open_object()
        .member("mutation", cell.mutation)
        .member("threads", cell.threads)
        .member("container", ovstest::name(cell.container))
        .member("rounds", figures.rounds)
        .member("off_ms", median(figures.ms[OVS_ELISION_OFF]))
        .member("auto_ms", median(figures.ms[OVS_ELISION_AUTO]))
        .member("always_ms", median(figures.ms[OVS_ELISION_ALWAYS]))
        .member("elided_share", figures.elided_share)
        .member("better", ovstest::mode_name(figures.better()))
        .member("ratio", ratio.median)
        .member("ratio_low", ratio.low)
        .member("ratio_high", ratio.high)
        .member("verdict", result)
        .close_object();
    return;
  }
  auto ms = [&](ovs_elision_mode mode) -> std::string {
    const std::vector<double>& all = figures.ms[mode];
    return all.empty() ? "n/a" : absl::StrFormat("%.1f", median(all));
  };
  std::string elided =
      std::isnan(figures.elided_share)
          ? "n/a"
          : absl::StrFormat("%.1f %%", 100 * figures.elided_share);
  absl::PrintF(
      "%7g %%  %7d  %-9s %6d  %8s %8s %8s  %7s  %.3f, %.3f to %.3f: %s\n",
      cell.mutation, cell.threads, ovstest::name(cell.container),
      figures.rounds, ms(OVS_ELISION_OFF), ms(OVS_ELISION_AUTO),
      ms(OVS_ELISION_ALWAYS), elided, ratio.median, ratio.low, ratio.high,
      result);
  std::fflush(stdout);
}

absl::Status Table::run_cell(const Workload& workload, const Cell& cell) {
  absl::StatusOr<Figures> figures = measure(workload, cell, settings_.rounds);
  if (!figures.ok()) return figures.status();
  report(cell, *figures);
  if (!kCellBound.admits(figures->ratio().low)) {
    figures = measure(workload, cell, 3 * settings_.rounds);
    if (!figures.ok()) return figures.status();
    report(cell, *figures);
  }
  Summary ratio = figures->ratio();
  n_failed_ += !kCellBound.admits(ratio.low);
  sum_of_logs_ += std::log(ratio.median);
  n_cells_++;
  return absl::OkStatus();
}

absl::Status Table::run() {
  std::vector<double> mutations = {0.1, 2, 5, 10, 20, 40, 60, 80};
  if (settings_.mutation >= 0) mutations = {settings_.mutation};
  std::vector<unsigned> teams = {1, 2, 4};
  if (settings_.threads != 0) {
    teams = {static_cast<unsigned>(settings_.threads)};
  }
  json_.open_object().key("context").open_object().member("commit",
                                                          settings_.commit);
  for (const auto& [name, value] : context()) json_.member(name, value);
  json_.close_object()
      .member("n", settings_.n)
      .member("seed", settings_.seed)
      .key("cells")
      .open_array();
  if (!settings_.json) {
    absl::PrintF(
        "n=%d, seed %d, elision %s\n"
        "Time of the search in ms, medians; auto / the better of off and "
        "always: median and 95 %% interval.\n"
        "Claim of each cell: the interval reaches below %g; of the geometric "
        "mean: <= %g.\n\n"
        "mutations  threads  container rounds       off     auto   always   "
        "elided  auto/better\n",
        settings_.n, settings_.seed, elision_state(), kCellBound.value,
        kMeanBound.value);
  }
  for (double mutation : mutations) {
    for (unsigned threads : teams) {
      Workload workload(
          {settings_.n, threads, mutation, 1, settings_.seed, false, false});
      for (Container container : {Container::kCmap, Container::kHmap}) {
        absl::Status status =
            run_cell(workload, {mutation, threads, container});
        if (!status.ok()) return status;
      }
    }
  }
  double mean = std::exp(sum_of_logs_ / n_cells_);
  const char* result = kMeanBound.admits(mean) ? "holds" : "fails";
  json_.close_array()
      .member("geometric_mean", mean)
      .member("verdict", result)
      .close_object();
  if (settings_.json) {
    absl::PrintF("%s\n", json_.text());
  } else {
    absl::PrintF("\n%d of %d cells fail; geometric mean %.3f: %s\n", n_failed_,
                 n_cells_, mean, result);
  }
  return absl::OkStatus();
}

absl::Status elision_modes(ovstest::Words words) {
  Settings settings;
  ovstest::CommandLine line(
      "elision-modes",
      "Compares mode auto with off and always, in test-cmap's workload over "
      "mutation rates and numbers of threads.");
  line.option("--elements", "N", "Elements of the maps (default 2000000).",
              ovstest::whole_number(&settings.n, 1, 1000000000));
  line.option("--rounds", "R", "Rounds of each cell (default 21).",
              ovstest::whole_number(&settings.rounds, 1, 10000));
  line.option("--threads", "T", "One number of threads (default: 1, 2, 4).",
              ovstest::whole_number(&settings.threads, 1, 1024));
  line.option("--mutation", "PERCENT",
              "One rate of mutation (default: 0.1, 2, 5, 10, 20, 40, 60, 80).",
              ovstest::percentage(&settings.mutation));
  line.option("--seed", "S", "Of the draws (default 1).",
              ovstest::whole_number(&settings.seed, 0, UINT64_MAX));
  line.option("--commit", "TEXT", "What is measured, for the JSON.",
              ovstest::any_text(&settings.commit));
  line.flag("--json", "Prints one JSON object.", &settings.json);
  absl::Status status = line.parse(words);
  if (!status.ok() || line.help_shown()) return status;
  ovstest::ignore_warnings();
  return Table(settings).run();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("elision-modes", bench::elision_modes(words));
}
