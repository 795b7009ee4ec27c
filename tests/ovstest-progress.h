// SPDX-License-Identifier: Apache-2.0
//
// What the program is doing, on one line of a terminal that is overwritten and
// at last wiped out.  Where stderr is no terminal nothing is written.
#ifndef OVSTHREAD_TESTS_OVSTEST_PROGRESS_H_
#define OVSTHREAD_TESTS_OVSTEST_PROGRESS_H_

#include <unistd.h>

#include <cstdio>
#include <string>

namespace ovstest {

class Progress {
 public:
  Progress() : terminal_(isatty(STDERR_FILENO)) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }

  void show(const std::string& text) {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

 private:
  bool terminal_;
};

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_PROGRESS_H_
