// SPDX-License-Identifier: Apache-2.0
//
// Returns from a function a second time, with the stack as it was.
//
// A hardware transaction that aborts goes on behind its begin instruction with
// registers and memory as they were, although the function that held the
// instruction has long returned.  Layers that imitate transactions in software
// do the same with a StackSnapshot: take() copies the registers and the part of
// the stack between its own frame and a base; resume() copies them back, from a
// stack of its own, and take() returns again.  To its callers this looks as an
// abort does: locals of every frame below the base have their old values,
// whether the frame still exists or not.  Memory elsewhere is not touched.
//
// The frames are left as longjmp() leaves them, without running destructors.
#ifndef OVSTHREAD_TESTS_STACK_SNAPSHOT_H_
#define OVSTHREAD_TESTS_STACK_SNAPSHOT_H_

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ovsthread {

class StackSnapshot {
 public:
  StackSnapshot();
  StackSnapshot(const StackSnapshot&) = delete;
  StackSnapshot& operator=(const StackSnapshot&) = delete;

  // Returns kTaken at once, and VALUE once resume(VALUE) is called.  The stack
  // up to BASE, an address in a frame that outlives the snapshot, is restored.
  // Replaces an earlier snapshot.
  static constexpr uint32_t kTaken = UINT32_MAX;
  uint32_t take(const void* base);

  // Must run in the thread that has called take(), deeper than BASE.
  [[noreturn]] void resume(uint32_t value);

 private:
  static constexpr size_t kMaxDepth = size_t{1} << 16;
  static constexpr size_t kOwnStack = size_t{1} << 16;

  void copy_stack(const void* base);
  static void restore();

  std::unique_ptr<char[]> copy_;       // Of [low_, low_ + size_).
  std::unique_ptr<char[]> own_stack_;  // Here restore() runs.
  char* low_ = nullptr;
  size_t size_ = 0;
  ucontext_t context_;  // In take().
  bool resumed_ = false;
  uint32_t value_ = kTaken;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_STACK_SNAPSHOT_H_
