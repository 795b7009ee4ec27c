// SPDX-License-Identifier: Apache-2.0
//
// Hardware transactions: Intel RTM as a transaction layer.
//
// A transaction layer is a class with these static members; tests put another
// one in place of the hardware (elision-layer.h):
//
//   kCompiled        whether transactions can run at all in this build
//   begin()          starts a transaction and returns kStarted; if it aborts,
//                    returns a second time, memory and stack as they were, with
//                    a status of RTM's format: bits 0 to 5 below, bits 31 to 24
//                    the code of an explicit abort
//   end()            commits
//   abort<code>()    aborts the transaction
//   active()         whether the thread is inside a transaction, anyone's
//   access(address)  a place where a transaction touches shared memory
//   now()            a clock (cpu-clock.h)
//   why_not()        null, or in plain words why no transaction can run here
//
// The instructions appear here only.  They are written out, not taken from the
// compiler's intrinsics: those need a target option for the whole caller.
#ifndef OVSTHREAD_LIB_ELISION_RTM_H_
#define OVSTHREAD_LIB_ELISION_RTM_H_

#include <config.h>

#include <cstdint>

#include "cpu-clock.h"

namespace ovsthread {

inline constexpr uint32_t kStatusExplicit = 1 << 0;
inline constexpr uint32_t kStatusRetry = 1 << 1;
inline constexpr uint32_t kStatusConflict = 1 << 2;
inline constexpr uint32_t kStatusCapacity = 1 << 3;
inline constexpr uint32_t kStatusDebug = 1 << 4;
inline constexpr uint32_t kStatusNested = 1 << 5;

constexpr uint8_t status_code(uint32_t status) { return status >> 24; }

// In plain words why the hardware runs no transaction here, null if it may.
// Asks the CPU; only a trial shows whether transactions also commit.
const char* rtm_why_not();

#if OVSTHREAD_HAVE_RTM

class RtmLayer {
 public:
  static constexpr bool kCompiled = true;
  static constexpr uint32_t kStarted = ~0u;

  __attribute__((always_inline)) static uint32_t begin() {
    uint32_t status = kStarted;
    asm volatile(
        "xbegin 1f\n"
        "1:"
        : "+a"(status)
        :
        : "memory");
    return status;
  }
  static void end() { asm volatile("xend" ::: "memory"); }
  template <uint8_t code>
  [[noreturn]] static void abort() {
    asm volatile("xabort %0" ::"i"(code) : "memory");
    __builtin_unreachable();
  }
  static bool active() {
    bool result;
    asm volatile("xtest" : "=@ccnz"(result));
    return result;
  }
  static void access(const void*) {}
  static uint64_t now() { return cpu_clock(); }
  static const char* why_not() { return rtm_why_not(); }
};

#else

class RtmLayer {
 public:
  static constexpr bool kCompiled = false;
  static constexpr uint32_t kStarted = ~0u;

  static uint32_t begin() { return 0; }
  static void end() {}
  template <uint8_t code>
  [[noreturn]] static void abort() {
    __builtin_unreachable();
  }
  static bool active() { return false; }
  static void access(const void*) {}
  static uint64_t now() { return cpu_clock(); }
  static const char* why_not() { return rtm_why_not(); }
};

#endif

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_ELISION_RTM_H_
