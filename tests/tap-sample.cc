// SPDX-License-Identifier: Apache-2.0
//
// One test of each outcome, for tests/tap.sh, which runs them by filter and
// compares what is printed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace {

TEST(Sample, Passes) {}

TEST(Sample, Skips) { GTEST_SKIP() << "first line\nsecond line"; }

TEST(Sample, Fails) { EXPECT_EQ(1 + 1, 3) << "wrong\nsum"; }

TEST(Sample, PrintsMode) {
  const char* mode = getenv("OVSTHREAD_ELISION");
  printf("# mode %s\n", mode != nullptr ? mode : "unset");
}

TEST(Sample, Exits) { exit(3); }

TEST(Sample, ExitsWithSuccess) { exit(0); }

TEST(SampleDeathTest, Dies) { EXPECT_DEATH(abort(), ""); }

}  // namespace
