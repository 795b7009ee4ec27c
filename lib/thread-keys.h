// SPDX-License-Identifier: Apache-2.0
//
// Thread-specific data with many keys; the contract is that of ovsthread_key_*
// in compat/ovs-thread.h.
//
// Each thread has an array of values, indexed by the number of the key, that
// only grows.  The thread itself reads and writes it without a lock.  A mutex
// guards the set of keys, the list of threads, and whatever one thread does to
// the array of another or to the place of its own.
#ifndef OVSTHREAD_LIB_THREAD_KEYS_H_
#define OVSTHREAD_LIB_THREAD_KEYS_H_

#include <cstdint>

namespace ovsthread {

struct ThreadKey {
  uint32_t index;
  uint32_t running;  // Threads that are inside the destructor.
  void (*destructor)(void*);
};

// Blocking.  A key too many ends the process.
ThreadKey* thread_key_create(void (*destructor)(void*));
void thread_key_delete(ThreadKey* key);

// Blocking if KEY is new to the thread, else wait-free.
void thread_key_set(const ThreadKey* key, const void* value);
// Wait-free.
void* thread_key_get(const ThreadKey* key);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_KEYS_H_
