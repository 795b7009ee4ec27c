// SPDX-License-Identifier: Apache-2.0
//
// The environment decides the mode that a process starts in.
#include <ovsthread/elision.h>

#include <cstdio>
#include <cstdlib>

#include "start-testing.h"

namespace ovsthread {
namespace {

[[noreturn]] void report() {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  const char* const kModes[] = {"auto", "off", "always"};
  std::fprintf(stderr, "mode %s, %s: %s\n", kModes[ovs_elision_get_mode()],
               status.active ? "active" : "inactive", status.reason);
  std::exit(0);
}

// Whether transactions work is for the new process to find out: it need not run
// under the tool that this one runs under.
constexpr const char* kAuto =
    "^mode auto, (active: trial transactions committed|inactive: )";

TEST_F(Start, WithoutAWordTheModeIsAuto) {
  unset("OVSTHREAD_ELISION");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), kAuto);
}

TEST_F(Start, InModeAuto) {
  set("OVSTHREAD_ELISION", "auto");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0), kAuto);
}

TEST_F(Start, InModeOff) {
  set("OVSTHREAD_ELISION", "off");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "^mode off, inactive: switched off by OVSTHREAD_ELISION=off\n");
}

TEST_F(Start, InModeAlwaysOrWithAWarning) {
  set("OVSTHREAD_ELISION", "always");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "^mode always, active: |"
              "OVSTHREAD_ELISION=always: locks are taken for real: .*\n"
              "mode auto, inactive: ");
}

TEST_F(Start, AnyOtherWordIsWarnedOf) {
  set("OVSTHREAD_ELISION", "sometimes");
  EXPECT_EXIT(report(), testing::ExitedWithCode(0),
              "OVSTHREAD_ELISION=sometimes: not off, auto or always; auto is "
              "used\nmode auto, ");
}

}  // namespace
}  // namespace ovsthread
