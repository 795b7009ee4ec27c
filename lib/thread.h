// SPDX-License-Identifier: Apache-2.0
//
// Threads of the library and the process's way from one thread to many.
#ifndef OVSTHREAD_LIB_THREAD_H_
#define OVSTHREAD_LIB_THREAD_H_

#include <pthread.h>

#include <cstdint>

namespace ovsthread {

// Whether no thread was created through the library yet; false forever after.
// Threads from pthread_create() don't count.  Wait-free.
bool single_threaded();

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_H_
