// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <ovsthread/version.h>

#include <string>

namespace {

TEST(Version, FunctionAndMacrosAgree) {
  EXPECT_STREQ(ovsthread_version(), OVSTHREAD_VERSION);
  EXPECT_EQ(std::to_string(OVSTHREAD_VERSION_MAJOR) + "." +
                std::to_string(OVSTHREAD_VERSION_MINOR) + "." +
                std::to_string(OVSTHREAD_VERSION_PATCH),
            ovsthread_version());
}

}  // namespace
