// SPDX-License-Identifier: Apache-2.0
//
// How results are written: as text for people and as JSON for programs.
#ifndef OVSTHREAD_TESTS_OVSTEST_REPORT_H_
#define OVSTHREAD_TESTS_OVSTEST_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "ovstest-json.h"
#include "ovstest-measure.h"
#include "ovstest-plan.h"

namespace ovstest {

// Milliseconds with three or more digits, "n/a" for a NaN.
std::string format_ms(double ms);

// "TM: elision auto ..." or why there is no such column.
std::string describe(const Elision& elision);

// The four lines of one container.
std::string format_result(const Result& result, const Plan& plan,
                          const Elision& elision);

// The member "elision" of an object.
void write_elision(const Elision& elision, JsonWriter* json);
// The elements of the array "results": one per phase.
void write_result(const Result& result, JsonWriter* json);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_REPORT_H_
