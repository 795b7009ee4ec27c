// SPDX-License-Identifier: Apache-2.0
#include "elision-rtm.h"

#if OVSTHREAD_HAVE_RTM

#include <cpuid.h>

// Present in a program with the thread sanitizer, whoever was built with it.
extern "C" void __tsan_init() __attribute__((weak));

namespace ovsthread {
namespace {

// Valgrind's client request 0x1001, to which the real CPU answers nothing: the
// rotations come to 128 bits and the exchange is with itself.
bool under_valgrind() {
  uintptr_t request[6] = {0x1001};
  uintptr_t result = 0;
  asm volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(result)
      : "a"(request)
      : "cc", "memory");
  return result != 0;
}

}  // namespace

const char* rtm_why_not() {
  if (under_valgrind()) {
    return "the program runs under Valgrind, which aborts every transaction";
  }
  if (&__tsan_init != nullptr) {
    return "the program runs under the thread sanitizer, which cannot see"
           " transactions";
  }
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kRtm = 1 << 11;
  constexpr unsigned kRtmAlwaysAbort = 1 << 11;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & kRtm)) {
    return "the CPU has no RTM, or the kernel switched it off"
           " (CPUID.7 EBX bit 11 is clear)";
  }
  if (edx & kRtmAlwaysAbort) {
    return "the CPU aborts every transaction (RTM_ALWAYS_ABORT, CPUID.7 EDX"
           " bit 11, is set)";
  }
  return nullptr;
}

}  // namespace ovsthread

#else

const char* ovsthread::rtm_why_not() {
  return "the library was built without the instructions";
}

#endif
