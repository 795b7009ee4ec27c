// SPDX-License-Identifier: Apache-2.0
//
// Runs the body of a test in a process of its own, a child of fork, so that it
// starts from the state of a new process.  To be called while the test program
// has one thread.
#ifndef OVSTHREAD_TESTS_IN_PROCESS_H_
#define OVSTHREAD_TESTS_IN_PROCESS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "atomics.h"

namespace ovsthread {

// The exit status for a process of its own that ran a test.  The test's
// listeners report nothing from there.
inline int report_to_parent() {
  const testing::TestResult& result =
      *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); i++) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed()) continue;
    fprintf(stderr, "%s:%d: %s\n", part.file_name(), part.line_number(),
            part.message());
  }
  return testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS;
}

// A process that hangs fails.  Far more than any test takes.
constexpr unsigned kPatienceSeconds = 120;

// Whether a child of fork is usable whatever the other threads did.  The locks
// of the sanitizers' own allocators stay taken in it.
#if OVSTHREAD_THREAD_SANITIZER || defined(__SANITIZE_ADDRESS__)
constexpr bool kForkBesideThreads = false;
#elif defined(__has_feature)
constexpr bool kForkBesideThreads = !__has_feature(address_sanitizer);
#else
constexpr bool kForkBesideThreads = true;
#endif

template <class Body>
void in_process(const Body& body) {
  EXPECT_EXIT(
      {
        alarm(kPatienceSeconds);
        body();
        exit(report_to_parent());
      },
      testing::ExitedWithCode(EXIT_SUCCESS), "");
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_IN_PROCESS_H_
