// SPDX-License-Identifier: Apache-2.0
//
// Question: does mode auto follow a program that changes?
//
// Threads run critical sections under one mutex, in three phases: each writes a
// line of its own, all write the same one, and again each its own.  Thread 0
// starts the phases, and at the end of every 100 of its sections reads how many
// acquisitions the process has made and how many of them were elided.
//
// Mode auto has *followed* a phase when the share of elided ones comes to
// within 10 points of what it is in the phase's second half, and is so in the
// next window as well; the figure is the number of acquisitions from the start
// of the phase until then.  What a section costs in the second half is compared
// with the better of off and always, which run by turns with auto.
#include <config.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "claims.h"
#include "context.h"
#include "locks.h"
#include "ovstest-command-line.h"
#include "ovstest-words.h"
#include "ovsthread/elision.h"
#include "paired.h"
#include "sections.h"
#include "team.h"

namespace bench {
namespace {

constexpr const char* kPhases[] = {"disjoint", "conflicting", "disjoint again"};
constexpr unsigned kNPhases = std::size(kPhases);
constexpr unsigned kConflicting = 1;
constexpr unsigned kModes = 3;
constexpr uint64_t kWindow = 100;  // Sections of thread 0.
constexpr Bound kFollowed = {true, 10000};
constexpr Bound kCost = {true, 1.05};

struct Settings {
  uint64_t rounds = 11;
  uint64_t threads = 2;
  uint64_t sections = 200000;
  bool pin = false;
};

// What the process had done at the end of a window.
struct Sample {
  uint64_t acquisitions;
  uint64_t elided;
  Clock::time_point time;

  static Sample now() {
    ovs_elision_counts counts;
    ovs_elision_counts_read(&counts);
    return {counts.acquisitions, counts.elided, Clock::now()};
  }
};

// Of the acquisitions from FIRST to LAST.
double elided_share(const Sample& first, const Sample& last) {
  return static_cast<double>(last.elided - first.elided) /
         static_cast<double>(last.acquisitions - first.acquisitions);
}

// SAMPLES: of one phase, its start included.
uint64_t followed_after(const std::vector<Sample>& samples) {
  double settled = elided_share(samples[samples.size() / 2], samples.back());
  auto near = [&](size_t i) {
    double share = elided_share(samples[i - 1], samples[i]);
    return std::abs(share - settled) <= 0.1;
  };
  size_t i = 1;
  while (i + 1 < samples.size() && !(near(i) && near(i + 1))) i++;
  return samples[i].acquisitions - samples[0].acquisitions;
}

// One phase of one round.
struct Phase {
  double ns;  // A section of thread 0, in the second half.
  double settled;
  double followed;
};

Phase evaluate(const std::vector<Sample>& samples) {
  size_t middle = samples.size() / 2;
  const Sample& last = samples.back();
  double sections =
      static_cast<double>(kWindow * (samples.size() - 1 - middle));
  return {milliseconds(last.time - samples[middle].time) * 1e6 / sections,
          elided_share(samples[middle], last),
          static_cast<double>(followed_after(samples))};
}

std::vector<Phase> run_round(const Settings& settings) {
  struct Scene {
    alignas(128) OvsMutex mutex;
    SectionData data;
    alignas(128) std::atomic<unsigned> phase = 0;
  };
  auto scene = std::make_unique<Scene>();
  scene->data.touch();
  auto section = [&](unsigned phase, unsigned thread, uint64_t i) {
    Writing<OvsMutex> guard(scene->mutex);
    if (phase == kConflicting) {
      CounterSection::run<true>(scene->data, thread, i);
    } else {
      DisjointSection::run<true>(scene->data, thread, i);
    }
  };
  std::vector<Sample> samples[kNPhases];
  timed_team(static_cast<unsigned>(settings.threads), settings.pin,
             [&](unsigned thread) {
               if (thread != 0) {
                 // Relaxed: nothing is handed over with it.
                 for (unsigned phase;
                      (phase = scene->phase.load(std::memory_order_relaxed)) <
                      kNPhases;) {
                   section(phase, thread, 0);
                 }
                 return;
               }
               for (unsigned phase = 0; phase < kNPhases; phase++) {
                 scene->phase.store(phase, std::memory_order_relaxed);
                 samples[phase].push_back(Sample::now());
                 for (uint64_t i = 1; i <= settings.sections; i++) {
                   section(phase, thread, i);
                   if (i % kWindow == 0)
                     samples[phase].push_back(Sample::now());
                 }
               }
               scene->phase.store(kNPhases, std::memory_order_relaxed);
             });
  std::vector<Phase> phases;
  for (const std::vector<Sample>& all : samples) {
    phases.push_back(evaluate(all));
  }
  return phases;
}

absl::Status run(const Settings& settings) {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  if (!status.available) {
    return absl::UnimplementedError(
        absl::StrCat("there is nothing to follow: ", status.reason));
  }
  constexpr ovs_elision_mode kOrder[kModes] = {
      OVS_ELISION_OFF, OVS_ELISION_AUTO, OVS_ELISION_ALWAYS};
  std::vector<double> ns[kModes][kNPhases];
  std::vector<double> settled[kNPhases], followed[kNPhases];
  for (uint64_t round = 0; round <= settings.rounds; round++) {
    for (unsigned i = 0; i < kModes; i++) {
      ovs_elision_mode mode = kOrder[reversed(round) ? kModes - 1 - i : i];
      if (ovs_elision_set_mode(mode) != 0) {
        return absl::InternalError("transactions have stopped working");
      }
      std::vector<Phase> phases = run_round(settings);
      if (round == 0) continue;  // To warm up.
      for (unsigned p = 0; p < kNPhases; p++) {
        ns[mode][p].push_back(phases[p].ns);
        if (mode != OVS_ELISION_AUTO) continue;
        settled[p].push_back(phases[p].settled);
        followed[p].push_back(phases[p].followed);
      }
    }
  }

  absl::PrintF(
      "%s, %d rounds, %d sections of thread 0 in each phase, ns per section "
      "in its second half\nClaims: followed after at most %g acquisitions; "
      "auto / better <= %g\n\n"
      "phase               off     auto   always  elided  auto/better%21s"
      "followed after (worst)\n",
      ovstest::count_of(settings.threads, "thread"), settings.rounds,
      settings.sections, kFollowed.value, kCost.value, "");
  for (unsigned p = 0; p < kNPhases; p++) {
    double off = median(ns[OVS_ELISION_OFF][p]);
    double always = median(ns[OVS_ELISION_ALWAYS][p]);
    Summary cost = paired_ratio(
        ns[OVS_ELISION_AUTO][p],
        ns[always < off ? OVS_ELISION_ALWAYS : OVS_ELISION_OFF][p]);
    Summary acquisitions = summarize(followed[p]);
    absl::PrintF(
        "%-15s %7.1f  %7.1f  %7.1f %5.1f %%  %.3f, %.3f to %.3f: %-7s  %.0f "
        "(%.0f): %s\n",
        kPhases[p], off, median(ns[OVS_ELISION_AUTO][p]), always,
        100 * median(settled[p]), cost.median, cost.low, cost.high,
        verdict(kCost, cost), acquisitions.median, quantile(followed[p], 1),
        verdict(kFollowed, acquisitions));
  }
  return absl::OkStatus();
}

absl::Status elision_phases(ovstest::Words words) {
  Settings settings;
  ovstest::CommandLine line(
      "elision-phases",
      "How soon mode auto follows sections that begin to conflict, and cease "
      "to.");
  line.option("--rounds", "R", "Rounds (default 11).",
              ovstest::whole_number(&settings.rounds, 1, 10000));
  line.option("--threads", "T", "Threads (default 2).",
              ovstest::whole_number(&settings.threads, 2, 64));
  line.option(
      "--sections", "N",
      "Critical sections of thread 0 in each phase (default 200000).",
      ovstest::whole_number(&settings.sections, 10 * kWindow, UINT32_MAX));
  line.flag("--pin", "Binds each thread to a hardware thread.", &settings.pin);
  absl::Status status = line.parse(words);
  if (!status.ok() || line.help_shown()) return status;
  return run(settings);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("elision-phases", bench::elision_phases(words));
}
