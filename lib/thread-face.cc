// SPDX-License-Identifier: Apache-2.0
//
// The C++ face of threads.
#include <ovsthread/thread.h>

#include <cstring>

#include "log.h"
#include "thread-id.h"
#include "thread.h"

namespace ovsthread {

void Thread::start(const char* name, void* (*function)(void*), void* arg) {
  handle_ = create_thread(name, function, arg);
  joinable_ = true;
}

void Thread::join() {
  if (!joinable_) fatal("Thread::join called on a thread that is not joinable");
  int error = pthread_join(handle_, nullptr);
  if (error != 0) fatal("Thread::join failed: %s", strerrordesc_np(error));
  joinable_ = false;
}

unsigned this_thread_number() { return thread_id(); }

}  // namespace ovsthread
