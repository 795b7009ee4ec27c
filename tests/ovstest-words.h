// SPDX-License-Identifier: Apache-2.0
//
// Small pieces of text that several commands print.
#ifndef OVSTHREAD_TESTS_OVSTEST_WORDS_H_
#define OVSTHREAD_TESTS_OVSTEST_WORDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "ovsthread/elision.h"

namespace ovstest {

// "4 threads"; an "s" is enough of a plural here.
inline std::string count_of(uint64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// As the user writes it.
inline absl::string_view mode_name(ovs_elision_mode mode) {
  switch (mode) {
    case OVS_ELISION_OFF:
      return "off";
    case OVS_ELISION_ALWAYS:
      return "always";
    case OVS_ELISION_AUTO:
      break;
  }
  return "auto";
}

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_WORDS_H_
