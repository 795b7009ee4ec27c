// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library, and the process's way from one thread to many.
#ifndef OVSTHREAD_LIB_THREAD_H_
#define OVSTHREAD_LIB_THREAD_H_

#include <pthread.h>
#include <sys/types.h>

namespace ovsthread {

// Starts a thread that calls START(ARG), named NAME (cut to 15 bytes) with its
// number behind, and RCU-active.  The first call also makes the caller active
// and starts the helper thread of RCU.  Forbids forking.  Blocking.
pthread_t create_thread(const char* name, void* (*start)(void*), void* arg);

// Whether create_thread() was never called.  Threads from pthread_create()
// don't count.  Wait-free.
bool single_threaded();

// CPUs that the process may use, at most 10 s ago; 0 if unknown.
int count_usable_cpus();

// fork() that ends the process, with status EXIT_FAILURE, where it fails or is
// forbidden.  WHERE names the caller's place.
pid_t fork_or_exit(const char* where);

// REASON is kept and must not be null.  Lock-free.
void forbid_fork(const char* reason);
bool fork_is_allowed();

// A message at fatal level, then exit(EXIT_FAILURE).
[[noreturn]] void fatal_exit(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_H_
