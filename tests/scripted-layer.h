// SPDX-License-Identifier: Apache-2.0
//
// ScriptedLayer: a transaction layer (lib/elision-rtm.h) that does what a test
// says.  tests/libovsthread-scripted.la is the library built upon it.
//
// A test declares a Script and says what each begin() of its thread does:
//
//   Script script;
//   script.restore(table);                     // memory outside the stack
//   script.abort_at_begin(kStatusConflict);    // the first begin()
//   script.abort_at_access(2, 0);              // the second
//   ovs_mutex_lock(&mutex); ...                // the third runs
//   EXPECT_EQ(script.trace(), "fail(4) start access fail(0) start access ...");
//
// What is not in the list runs.  An abort is a real one: registers, the stack
// up to the frame that holds the Script, the thread's block of the engine
// (tls_elision) and the memory given to restore() are put back, and begin()
// returns a second time with the status.  All other memory keeps what the
// aborted run wrote, so a test counts runs in a static or heap variable.
//
// Transactions of a script exclude nobody: while one runs, no other thread may
// touch what it touches.  What another thread does to a transaction is scripted
// instead: a step's OTHER is run by a thread of its own after the abort, before
// begin() returns.
//
// Without a script, whole test suites run upon the layer with transactions that
// abort or run by chance (seed: OVSTHREAD_TEST_SEED, default 1).  While the
// process has one thread these are ProcessTransactions, so that they can run
// into a safe point and undo all; afterwards each one aborts at its begin, with
// any status.  While a Script exists, threads without one always abort. UndoAll
// leaves nothing to chance.
#ifndef OVSTHREAD_TESTS_SCRIPTED_LAYER_H_
#define OVSTHREAD_TESTS_SCRIPTED_LAYER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "elision-rtm.h"

namespace ovsthread {

class ScriptedLayer {
 public:
  static constexpr bool kCompiled = true;
  static constexpr uint32_t kStarted = ~0u;

  static uint32_t begin();
  static void end();
  template <uint8_t code>
  [[noreturn]] static void abort() {
    abort_with(code);
  }
  static bool active();
  static void access(const void* address);
  static uint64_t now();
  static const char* why_not() { return nullptr; }

  // What now() says, if not 0.
  static inline std::atomic<uint64_t> time{0};

 private:
  [[noreturn]] static void abort_with(uint8_t code);
};

using TransactionLayer = ScriptedLayer;

// One of each kind that a transaction may abort with, for those who draw.
inline constexpr uint32_t kAbortStatuses[] = {
    0,
    kStatusRetry,
    kStatusConflict,
    kStatusConflict | kStatusRetry,
    kStatusCapacity,
    kStatusNested | kStatusExplicit,
    kStatusExplicit | 0xffu << 24,
};

class Script {
 public:
  using Action = std::function<void()>;

  // Inline, since the frame that declares it is where the restored part of the
  // stack ends.
  __attribute__((always_inline)) Script()
      : Script(static_cast<const void*>(__builtin_frame_address(0))) {}
  ~Script();
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  // To be restored, too.
  template <class T>
  void restore(T& object) {
    restore(&object, sizeof object);
  }

  // To be run by the thread itself after each abort of a transaction that ran:
  // puts back what restore() can't.
  void undo_with(Action undo);

  // Each for one more begin().
  void abort_at_begin(uint32_t status, Action other = nullptr);
  // N: 1 for the first access, which is that of the outermost lock's word.
  void abort_at_access(unsigned n, uint32_t status, Action other = nullptr);
  void abort_at_commit(uint32_t status, Action other = nullptr);
  // OTHER is run if the engine itself aborts.  BEFORE is run by another thread
  // first: between the engine's last look at the lock and the transaction.
  void run(Action other = nullptr, Action before = nullptr);

  // Whether the thread is inside a transaction that the library did not start.
  void set_foreign(bool foreign);

  // For a test that plays many short scripts in a row.

  // Drops the steps that are left.
  void forget_steps();
  // OTHER and BEFORE are from now on called in the thread of the script, here.
  void run_others_in(std::function<void(const Action&)> runner);
  // How many transactions were begun so far.
  unsigned n_begins() const;

  // For a test in which other threads act while the transaction runs.

  bool running() const;
  // Whether the transaction that runs has accessed OBJECT or changed it; what
  // other threads write to it then aborts it.  OBJECT is restored.
  template <class T>
  bool touched(const T& object) const {
    return touched(&object, sizeof object);
  }
  // Another thread has written to OBJECT, which was not touched.
  template <class T>
  void changed_elsewhere(const T& object) {
    changed_elsewhere(&object, sizeof object);
  }
  // Aborts the transaction that runs, now.
  [[noreturn]] void abort_now(uint32_t status, Action other = nullptr);
  // OTHER is run if the transaction that runs aborts.
  void if_aborted(Action other);
  // That of the last abort of a transaction that ran.
  uint32_t last_status() const;

  // What happened since the last call: "start", "access", "commit",
  // "fail(STATUS)" for a scripted abort, "abort(CODE)" for the engine's own,
  // both in hexadecimal.
  std::string trace();

 private:
  friend ScriptedLayer;
  class State;

  explicit Script(const void* base);
  void restore(void* data, size_t size);
  bool touched(const void* object, size_t size) const;
  void changed_elsewhere(const void* object, size_t size);

  // Elsewhere, since this object is itself in the restored part of the stack.
  State* state_;
};

// While one exists, every transaction of the process runs, and an abort undoes
// all that it did, on the heap, too: a ProcessTransaction.  For tests in which
// no thread was ever started.
class UndoAll {
 public:
  UndoAll();
  ~UndoAll();
  UndoAll(const UndoAll&) = delete;
  UndoAll& operator=(const UndoAll&) = delete;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_SCRIPTED_LAYER_H_
