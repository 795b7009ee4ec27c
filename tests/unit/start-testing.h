// SPDX-License-Identifier: Apache-2.0
//
// Tests of what happens when the process starts, in a process that starts anew.
#ifndef OVSTHREAD_TESTS_UNIT_START_TESTING_H_
#define OVSTHREAD_TESTS_UNIT_START_TESTING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace ovsthread {

// EXPECT_EXIT() starts the program again, in the environment that the test
// sets.
class Start : public testing::Test {
 protected:
  Start() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~Start() override {
    for (const auto& [name, value] : before_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }

  void set(const char* name, const char* value) {
    save(name);
    setenv(name, value, 1);
  }
  void unset(const char* name) {
    save(name);
    unsetenv(name);
  }

 private:
  void save(const char* name) {
    const char* value = std::getenv(name);
    before_.try_emplace(name, value == nullptr
                                  ? std::nullopt
                                  : std::optional<std::string>(value));
  }

  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_START_TESTING_H_
