// SPDX-License-Identifier: Apache-2.0
#include "process-transaction.h"

#include <fcntl.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ovsthread {
namespace {

void check(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

}  // namespace

bool ProcessTransaction::possible() { return __libc_single_threaded; }

uint32_t ProcessTransaction::begin() {
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  // No fork handlers: to the program this is no fork.
  pid_t child = _Fork();
  check(child >= 0, "_Fork");
  if (child > 0) {
    close(ends[0]);
    keeper_ = child;
    verdict_ = ends[1];
    return kStarted;
  }
  close(ends[1]);
  uint32_t status;
  if (read(ends[0], &status, sizeof status) != sizeof status) _exit(0);
  close(ends[0]);
  return status;
}

void ProcessTransaction::commit() {
  close(verdict_);
  check(waitpid(keeper_, nullptr, 0) == keeper_, "waitpid");
  keeper_ = 0;
}

void ProcessTransaction::abort(uint32_t status) {
  check(write(verdict_, &status, sizeof status) == sizeof status, "write");
  int end;
  check(waitpid(keeper_, &end, 0) == keeper_, "waitpid");
  if (WIFSIGNALED(end)) {
    signal(WTERMSIG(end), SIG_DFL);
    raise(WTERMSIG(end));
  }
  _exit(WEXITSTATUS(end));
}

}  // namespace ovsthread
