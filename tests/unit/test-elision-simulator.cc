// SPDX-License-Identifier: Apache-2.0
//
// Mode auto against off and always, over simulated workloads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "elision-simulator.h"

namespace ovsthread::elision {
namespace {

constexpr uint64_t kMeasured = 20000;

double cost_of(const Workload& load, ovs_elision_mode mode) {
  Simulator simulator(load, mode);
  simulator.run(mode == OVS_ELISION_AUTO ? 2 * kMeasured : kMeasured / 8);
  return simulator.run(kMeasured);
}

TEST(ElisionSimulator, AutoIsAsGoodAsTheBetterModeInEveryCell) {
  std::string table =
      "threads section outside conflict fits locks |    off always   auto |"
      " auto/better\n";
  double worst = 0;
  double logs = 0;
  unsigned cells = 0;
  auto cell = [&](const Workload& load) {
    double off = cost_of(load, OVS_ELISION_OFF);
    double always = cost_of(load, OVS_ELISION_ALWAYS);
    double automatic = cost_of(load, OVS_ELISION_AUTO);
    double ratio = automatic / std::min(off, always);
    char line[120];
    std::snprintf(line, sizeof line,
                  "%7u %7u %7u %8.2f %4s %5u | %6.0f %6.0f %6.0f | %.3f%s\n",
                  load.threads, load.section, load.outside, load.conflict,
                  load.fits ? "yes" : "no", load.n_locks, off, always,
                  automatic, ratio, ratio > 1.05 ? "  !" : "");
    table += line;
    worst = std::max(worst, ratio);
    logs += std::log(ratio);
    cells++;
  };
  for (unsigned threads : {1u, 2u, 4u}) {
    for (unsigned section : {50u, 300u, 2000u}) {
      for (unsigned outside : {50u, 1000u}) {
        for (double conflict : {0.0, 0.02, 0.1, 0.3, 1.0}) {
          if (threads == 1 && conflict != 0) continue;
          cell({threads, section, outside, conflict});
        }
      }
    }
    cell({threads, 20000, 1000, 0, false});
    cell({threads, 300, 300, 0, true, 3});
  }
  double mean = std::exp(logs / cells);
  EXPECT_LE(worst, 1.05) << table;
  EXPECT_LE(mean, 1.02) << table;
  RecordProperty("worst", std::to_string(worst));
  RecordProperty("mean", std::to_string(mean));
}

// Followed: the mode changes within so many acquisitions, and then costs what
// it should.
void expect_followed(Simulator& simulator, const Workload& load, bool elides) {
  constexpr uint64_t kBound = 10000;
  simulator.change(load);
  uint64_t begin = simulator.acquisitions();
  while (simulator.elides() != elides &&
         simulator.acquisitions() < begin + kBound) {
    simulator.run(10);
  }
  EXPECT_EQ(simulator.elides(), elides);
  simulator.run(begin + kBound - simulator.acquisitions());
  double better = std::min(cost_of(load, OVS_ELISION_OFF),
                           cost_of(load, OVS_ELISION_ALWAYS));
  EXPECT_LE(simulator.run(kMeasured), 1.05 * better);
}

TEST(ElisionSimulator, FollowsAChangeOfPhaseWithin10000Acquisitions) {
  for (Workload load :
       {Workload{2, 2000, 1000}, Workload{4, 2000, 50}, Workload{4, 5000, 0}}) {
    SCOPED_TRACE(testing::Message() << load.threads << " threads, sections of "
                                    << load.section << " cycles");
    Workload disjoint = load;
    Workload conflicting = load;
    conflicting.conflict = 1;
    Simulator simulator(disjoint, OVS_ELISION_AUTO);
    for (int i = 0; i < 3; i++) {
      expect_followed(simulator, disjoint, true);
      expect_followed(simulator, conflicting, false);
    }
  }
}

TEST(ElisionSimulator, ASectionThatNeverFitsHardlyTries) {
  for (unsigned threads : {1u, 4u}) {
    Simulator simulator({threads, 20000, 1000, 0, false}, OVS_ELISION_AUTO);
    simulator.run(100000);
    EXPECT_LT(simulator.begun(), threads == 1 ? 1u : 2500u);
  }
}

}  // namespace
}  // namespace ovsthread::elision
