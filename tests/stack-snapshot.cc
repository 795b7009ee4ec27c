// SPDX-License-Identifier: Apache-2.0
#include "stack-snapshot.h"

#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#define OVSTHREAD_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OVSTHREAD_ASAN 1
#endif
#endif

#ifdef OVSTHREAD_ASAN
extern "C" void __asan_handle_no_return();
#endif

namespace ovsthread {
namespace {

// Copies stacks with what the address sanitizer put between the variables, so
// it must neither see this nor recognise a memcpy.
__attribute__((noinline, no_sanitize("address"))) void copy_bytes(
    volatile char* to, const volatile char* from, size_t size) {
  using Word = volatile uintptr_t;
  for (; size >= sizeof(Word); size -= sizeof(Word)) {
    *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
    to += sizeof(Word);
    from += sizeof(Word);
  }
  while (size--) *to++ = *from++;
}

thread_local StackSnapshot* resuming;

[[noreturn]] void die(const char* problem) {
  std::fprintf(stderr, "stack snapshot: %s\n", problem);
  std::abort();
}

}  // namespace

StackSnapshot::StackSnapshot()
    : copy_(std::make_unique<char[]>(kMaxDepth)),
      own_stack_(std::make_unique<char[]>(kOwnStack)) {}

// Not instrumented, since it returns from a frame that it did not enter.
__attribute__((noinline, no_sanitize("address"))) uint32_t StackSnapshot::take(
    const void* base) {
  resumed_ = false;
  getcontext(&context_);
  if (resumed_) return value_;
  copy_stack(base);
  return kTaken;
}

// A frame of its own, so that all of take()'s lies above its frame address.
__attribute__((noinline)) void StackSnapshot::copy_stack(const void* base) {
  low_ = static_cast<char*>(__builtin_frame_address(0));
  size_ = static_cast<size_t>(static_cast<const char*>(base) - low_);
  if (size_ > kMaxDepth) die("the base is too far away");
  copy_bytes(copy_.get(), low_, size_);
}

void StackSnapshot::resume(uint32_t value) {
  resumed_ = true;
  value_ = value;
#ifdef OVSTHREAD_ASAN
  __asan_handle_no_return();
#endif
  resuming = this;
  ucontext_t restorer;
  getcontext(&restorer);
  restorer.uc_stack.ss_sp = own_stack_.get();
  restorer.uc_stack.ss_size = kOwnStack;
  restorer.uc_link = nullptr;
  makecontext(&restorer, restore, 0);
  setcontext(&restorer);
  die("setcontext failed");
}

void StackSnapshot::restore() {
  copy_bytes(resuming->low_, resuming->copy_.get(), resuming->size_);
  setcontext(&resuming->context_);
  die("setcontext failed");
}

}  // namespace ovsthread
