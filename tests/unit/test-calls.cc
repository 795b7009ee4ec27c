// SPDX-License-Identifier: Apache-2.0
//
// Runs NAME-calls.c, compiled as C and as C++.
#include <gtest/gtest.h>

#include "in-process.h"
#include "tests/compat/calls.h"

namespace ovsthread {
namespace {

// In a process of its own, since the first thread changes a process for good.
void run(const char* (*calls)()) {
  in_process([calls] { EXPECT_STREQ(calls(), nullptr); });
}

TEST(Calls, CmapInC) { run(cmap_calls_c); }
TEST(Calls, CmapInCxx) { run(cmap_calls_cxx); }
TEST(Calls, HmapInC) { run(hmap_calls_c); }
TEST(Calls, HmapInCxx) { run(hmap_calls_cxx); }
TEST(Calls, LocksInC) { run(lock_calls_c); }
TEST(Calls, LocksInCxx) { run(lock_calls_cxx); }
TEST(Calls, RcuInC) { run(rcu_calls_c); }
TEST(Calls, RcuInCxx) { run(rcu_calls_cxx); }
TEST(Calls, ThreadInC) { run(thread_calls_c); }
TEST(Calls, ThreadInCxx) { run(thread_calls_cxx); }

TEST(Layout, IsTheSameInCAndCxx) {
  size_t n, n_cxx;
  const layout* c = layout_calls_c(&n);
  const layout* cxx = layout_calls_cxx(&n_cxx);
  ASSERT_EQ(n, n_cxx);
  for (size_t i = 0; i < n; i++) {
    EXPECT_STREQ(c[i].name, cxx[i].name);
    EXPECT_EQ(c[i].first, cxx[i].first) << c[i].name;
    EXPECT_EQ(c[i].second, cxx[i].second) << c[i].name;
  }
}

}  // namespace
}  // namespace ovsthread
