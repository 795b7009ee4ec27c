// SPDX-License-Identifier: Apache-2.0
//
// Assertions of the checking subcommands.  They return from the enclosing
// function, whose result is an absl::Status, whatever NDEBUG says.
#ifndef OVSTHREAD_TESTS_OVSTEST_REQUIRE_H_
#define OVSTHREAD_TESTS_OVSTEST_REQUIRE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#define REQUIRE(CONDITION)                                                   \
  do {                                                                       \
    if (!(CONDITION)) {                                                      \
      return absl::InternalError(absl::StrCat(__FILE__, ":", __LINE__, ": ", \
                                              #CONDITION, " is false"));     \
    }                                                                        \
  } while (0)

#define REQUIRE_OK(EXPRESSION)           \
  do {                                   \
    absl::Status status_ = (EXPRESSION); \
    if (!status_.ok()) return status_;   \
  } while (0)

#endif  // OVSTHREAD_TESTS_OVSTEST_REQUIRE_H_
