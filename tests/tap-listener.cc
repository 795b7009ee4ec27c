// SPDX-License-Identifier: Apache-2.0
//
// main() of the GoogleTest programs: prints the results as TAP, the Test
// Anything Protocol, instead of GoogleTest's own format.
//
// A GoogleTest program exits with 0 when every test was skipped, so its exit
// status cannot tell a skip from a pass.  A TAP line can:
//
//   ok 1 - Suite.Name
//   ok 2 - Suite.Name # SKIP reason
//   not ok 3 - Suite.Name
//
// Each line is flushed at once, so that the child of a death test inherits no
// buffered line to print again, and what a crash leaves behind is complete.
//
// Where what runs is counted (configure --enable-coverage), the counts of the
// child of a death test are written out, too.
#include <config.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#if OVSTHREAD_COVERAGE
#include <pthread.h>

#include <csignal>

// Of libgcov; its header is C only.
extern "C" void __gcov_dump();
extern "C" void __gcov_reset();
#endif

namespace {

#if OVSTHREAD_COVERAGE
// A child counts from zero, and writes before it dies, which it does when the
// handler returns.
void count_children_too() {
  pthread_atfork(nullptr, nullptr, __gcov_reset);
  std::signal(SIGABRT, [](int) { __gcov_dump(); });
}
#else
void count_children_too() {}
#endif

// TAP results and diagnostics are single lines.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

class TapListener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { skip_reason_.clear(); }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) {
      skip_reason_ = one_line(part.message());
    } else if (part.failed()) {
      printf("# %s:%d:\n",
             part.file_name() != nullptr ? part.file_name() : "unknown file",
             part.line_number());
      print_diagnostic(part.message());
    }
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    const testing::TestResult& result = *info.result();
    printf("%sok %d - %s.%s", result.Failed() ? "not " : "", ++n_results_,
           info.test_suite_name(), info.name());
    if (result.Skipped()) printf(" # SKIP %s", skip_reason_.c_str());
    putchar('\n');
    fflush(stdout);
  }

  // The plan comes last, when a filter has said how many tests run.
  void OnTestProgramEnd(const testing::UnitTest&) override {
    printf("1..%d\n", n_results_);
    fflush(stdout);
  }

  static void print_diagnostic(const std::string& message) {
    for (size_t begin = 0; begin < message.size();) {
      size_t end = std::min(message.find('\n', begin), message.size());
      printf("#   %s\n", message.substr(begin, end - begin).c_str());
      begin = end + 1;
    }
    fflush(stdout);
  }

  int n_results_ = 0;
  std::string skip_reason_;
};

}  // namespace

int main(int argc, char** argv) {
  count_children_too();
  testing::InitGoogleTest(&argc, argv);
  testing::TestEventListeners& listeners =
      testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new TapListener);
  return RUN_ALL_TESTS();
}

// Under a sanitizer, too, an allocation that is too large fails.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
