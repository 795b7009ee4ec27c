// SPDX-License-Identifier: Apache-2.0
//
// The library's own numbering of threads, and their names.
//
// Lock words carry this number, not the kernel's, which changes across fork.
#ifndef OVSTHREAD_LIB_THREAD_ID_H_
#define OVSTHREAD_LIB_THREAD_ID_H_

#include <cstdint>

namespace ovsthread {

inline constexpr uint32_t kThreadIdUnset = UINT32_MAX;

// A thread that has no number yet reads kThreadIdUnset here.
extern thread_local uint32_t tls_thread_id
    __attribute__((tls_model("initial-exec")));

// Gives the calling thread the next number: 0, 1, 2, ...; none is used twice.
// The thread must have none yet.  Lock-free.
uint32_t thread_id_assign();

// The calling thread's number, assigned at the first call.  Lock-free.
inline uint32_t thread_id() {
  uint32_t id = tls_thread_id;
  return __builtin_expect(id == kThreadIdUnset, 0) ? thread_id_assign() : id;
}

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_ID_H_
