// SPDX-License-Identifier: Apache-2.0
#include <config.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <set>
#include <thread>

#include "topology.h"

namespace ovsthread {
namespace {

constexpr uint64_t kKiB = 1024;

TEST(Topology, CountsWhatTheAffinityMaskAllows) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  EXPECT_EQ(hardware_threads(), static_cast<unsigned>(CPU_COUNT(&mask)));
}

TEST(Topology, CountsStripesByThePowerOfTwoAtOrAboveTheThreads) {
  EXPECT_EQ(stripe_count() & (stripe_count() - 1), 0u);
  EXPECT_GE(stripe_count(), hardware_threads());
  EXPECT_LT(stripe_count() / 2, hardware_threads());
}

TEST(Topology, NamesEachUsableHardwareThreadOnce) {
  std::vector<unsigned> order = pinning_order(topology());
  EXPECT_EQ(std::set<unsigned>(order.begin(), order.end()).size(),
            order.size());
  if (getenv("HWLOC_SYNTHETIC") == nullptr) {
    EXPECT_EQ(order.size(), hardware_threads());
  }
}

TEST(Topology, MakesEachHardwareThreadACoreWhereDetailsAreMissing) {
  Topology plain = plain_topology();
  EXPECT_FALSE(plain.detailed);
  EXPECT_EQ(plain.cores.size(), hardware_threads());
  EXPECT_TRUE(plain.caches.empty());
}

TEST(Topology, PinsTheCallingThreadOnly) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (unsigned cpu : pinning_order(plain_topology())) {
    std::thread([cpu] {
      EXPECT_EQ(pin_this_thread(cpu), 0);
      EXPECT_EQ(sched_getcpu(), static_cast<int>(cpu));
    }).join();
  }
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Topology, RefusesToPinToACpuThatDoesNotExist) {
  EXPECT_EQ(pin_this_thread(1u << 19), EINVAL);
  EXPECT_EQ(pin_this_thread(UINT32_MAX), EINVAL);
}

TEST(Topology, CountsDoNotFollowALaterPinning) {
  unsigned before = hardware_threads();
  std::thread([before] {
    ASSERT_EQ(pin_this_thread(topology().cores[0][0]), 0);
    EXPECT_EQ(hardware_threads(), before);
  }).join();
}

#if HAVE_HWLOC

TEST(SyntheticTopology, ListsCoresWithTheirSiblings) {
  auto machine = synthetic_topology("pack:2 core:2 pu:2");
  ASSERT_TRUE(machine.has_value());
  EXPECT_TRUE(machine->detailed);
  EXPECT_EQ(machine->cores, (std::vector<std::vector<unsigned>>{
                                {0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

TEST(SyntheticTopology, PinsOverCoresFirst) {
  auto machine = synthetic_topology("pack:2 core:2 pu:2");
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(pinning_order(*machine),
            (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(SyntheticTopology, UsesTheNumbersOfTheOperatingSystem) {
  // Linux usually numbers the second siblings after all first ones.
  auto machine = synthetic_topology("core:4 pu:2(indexes=0,4,1,5,2,6,3,7)");
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->cores, (std::vector<std::vector<unsigned>>{
                                {0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(pinning_order(*machine),
            (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(SyntheticTopology, ListsCachesByLevelSizeAndSharing) {
  auto machine = synthetic_topology(
      "pack:2 l3:1(size=33554432) l2:4(size=2097152) l1d:1(size=49152) core:1 "
      "pu:2");
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->caches, (std::vector<Cache>{{1, 48 * kKiB, 2, 8},
                                                 {2, 2048 * kKiB, 2, 8},
                                                 {3, 32768 * kKiB, 8, 2}}));
}

TEST(SyntheticTopology, MakesAHardwareThreadACoreWhereNoCoresAreTold) {
  auto machine = synthetic_topology("pack:2 pu:2");
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->cores.size(), 4u);
}

TEST(SyntheticTopology, RefusesADescriptionThatIsNone) {
  EXPECT_FALSE(synthetic_topology("nonsense").has_value());
}

#endif  // HAVE_HWLOC

}  // namespace
}  // namespace ovsthread
