// SPDX-License-Identifier: Apache-2.0
//
// A transaction that can undo everything, at the price of a process.
//
// begin() forks.  The child keeps the state of that moment and waits; the
// parent runs the transaction.  On a commit the child just ends.  On an abort
// the child takes over: begin() returns there a second time, with the status,
// and memory, stack and thread-local data are what they were; the parent does
// nothing any more but to end as the child ends.  What is outside of the
// process (files, shared mappings) is not undone, and the process id changes.
//
// Only a process with one thread can do this, since a fork copies no other.
#ifndef OVSTHREAD_TESTS_PROCESS_TRANSACTION_H_
#define OVSTHREAD_TESTS_PROCESS_TRANSACTION_H_

#include <sys/types.h>

#include <cstdint>

namespace ovsthread {

class ProcessTransaction {
 public:
  static constexpr uint32_t kStarted = ~0u;

  static bool possible();

  // Returns kStarted, and after an abort once more, with its status.
  uint32_t begin();
  void commit();
  [[noreturn]] void abort(uint32_t status);

  bool running() const { return keeper_ != 0; }

 private:
  pid_t keeper_ = 0;
  int verdict_ = -1;  // To the keeper: a status, or nothing for a commit.
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_PROCESS_TRANSACTION_H_
