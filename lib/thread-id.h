// SPDX-License-Identifier: Apache-2.0
//
// The library's own numbering of threads, and their names.
//
// Lock words carry this number, not the kernel's, which changes across fork.
//
// Names are for diagnostics.  A thread that was given one can be named by its
// number for as long as it lives.  The registry behind that is a list of nodes
// that are reused but never freed, so a reader needs no lock and can meet any
// state of it: it takes a name only if the node carries the wanted number
// before and after the copy.
#ifndef OVSTHREAD_LIB_THREAD_ID_H_
#define OVSTHREAD_LIB_THREAD_ID_H_

#include <cstdint>

// The number as the C API shows it: unset until the program asks for it, even
// if a lock has numbered the thread before.
extern "C" __attribute__((
    visibility("default"))) __thread unsigned int ovsthread_id_var;

namespace ovsthread {

inline constexpr uint32_t kThreadIdUnset = UINT32_MAX;

// A thread that has no number yet reads kThreadIdUnset here.
// constinit: an access needs no check for a dynamic initialiser.
extern constinit thread_local uint32_t tls_thread_id;

// Gives the calling thread the next number: 0, 1, 2, ...; none is used twice.
// The thread must have none yet.  Lock-free.
uint32_t thread_id_assign();

// The calling thread's number, assigned at the first call.  Lock-free.
inline uint32_t thread_id() {
  uint32_t id = tls_thread_id;
  return __builtin_expect(id == kThreadIdUnset, 0) ? thread_id_assign() : id;
}

struct ThreadName {
  char text[32];  // Ends in a null character.
};

// Names the calling thread, cutting NAME to 31 bytes.  Lock-free, but may
// allocate.
void thread_name_set(const char* name);

// The calling thread's name: as set, else "main" or the kernel's.
ThreadName thread_name();

// The name of thread ID: as set if it lives, else "thread<ID>".  Lock-free.
ThreadName thread_name(uint32_t id);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_ID_H_
