// SPDX-License-Identifier: Apache-2.0
#include "thread-keys.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "atomics.h"
#include "elision.h"
#include "log.h"

namespace ovsthread {
namespace {

using Value = RealAtomics::Atomic<void*>;

constexpr uint32_t kMaxKeys = 1u << 20;

struct Values {
  Value* values;
  uint32_t size;
  Values* next;
  Values* previous;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t destructor_ended = PTHREAD_COND_INITIALIZER;

// Guarded by the mutex.
ThreadKey** keys;     // By index; null where free.
uint32_t room;        // The size of keys.
uint32_t first_free;  // No index below it is free.
Values* threads;

pthread_key_t exit_key;
pthread_once_t init_once = PTHREAD_ONCE_INIT;
thread_local Values* tls_values = nullptr;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&mutex); }
  ~Lock() { pthread_mutex_unlock(&mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

template <class T>
T* grow(T* old, uint32_t old_size, uint32_t size) {
  T* array =
      static_cast<T*>(realloc(static_cast<void*>(old), size * sizeof(T)));
  if (array == nullptr) fatal("out of memory for thread-specific data");
  memset(static_cast<void*>(array + old_size), 0,
         (size - old_size) * sizeof(T));
  return array;
}

// Takes the value of INDEX and notes that its destructor is about to run, if
// there are both.
ThreadKey* start_destructor(Values& thread, uint32_t index, void** value) {
  Lock lock;
  // Relaxed, as all accesses to values: another thread's happen under the
  // mutex.
  *value = thread.values[index].load(kRelaxed);
  if (*value == nullptr) return nullptr;
  thread.values[index].store(nullptr, kRelaxed);
  ThreadKey* key = keys[index];
  if (key == nullptr || key->destructor == nullptr) return nullptr;
  key->running++;
  return key;
}

void on_thread_exit(void* aux) {
  Values* thread = static_cast<Values*>(aux);
  for (uint32_t i = 0; i < thread->size; i++) {
    void* value;
    ThreadKey* key = start_destructor(*thread, i, &value);
    if (key == nullptr) continue;
    key->destructor(value);
    Lock lock;
    if (--key->running == 0) pthread_cond_broadcast(&destructor_ended);
  }
  Lock lock;
  (thread->previous != nullptr ? thread->previous->next : threads) =
      thread->next;
  if (thread->next != nullptr) thread->next->previous = thread->previous;
  tls_values = nullptr;
  free(static_cast<void*>(thread->values));
  delete thread;
}

void before_fork() { pthread_mutex_lock(&mutex); }
void in_parent_of_fork() { pthread_mutex_unlock(&mutex); }
void in_child_of_fork() {
  for (uint32_t i = 0; i < room; i++) {
    if (keys[i] != nullptr) keys[i]->running = 0;
  }
  pthread_mutex_unlock(&mutex);
}

void init() {
  if (pthread_key_create(&exit_key, on_thread_exit) != 0 ||
      pthread_atfork(before_fork, in_parent_of_fork, in_child_of_fork) != 0) {
    fatal("no resources for thread-specific data");
  }
}

// Makes room for INDEX in the calling thread's values.
void add_room(uint32_t index) {
  elision::safe_point(OVS_SAFE_POINT_ALLOCATION);
  pthread_once(&init_once, init);
  Lock lock;
  Values* thread = tls_values;
  if (thread == nullptr) {
    thread = new (std::nothrow) Values{nullptr, 0, threads, nullptr};
    if (thread == nullptr) fatal("out of memory for thread-specific data");
    if (threads != nullptr) threads->previous = thread;
    threads = thread;
    tls_values = thread;
    pthread_setspecific(exit_key, thread);
  }
  uint32_t size = thread->size < 8 ? 8 : thread->size;
  while (size <= index) size *= 2;
  thread->values = grow(thread->values, thread->size, size);
  thread->size = size;
}

}  // namespace

ThreadKey* thread_key_create(void (*destructor)(void*)) {
  elision::safe_point(OVS_SAFE_POINT_ALLOCATION);
  Lock lock;
  uint32_t index = first_free;
  while (index < room && keys[index] != nullptr) index++;
  if (index == kMaxKeys) abort();
  if (index == room) {
    uint32_t size = room == 0 ? 64 : 2 * room;
    keys = grow(keys, room, size);
    room = size;
  }
  ThreadKey* key = new (std::nothrow) ThreadKey{index, 0, destructor};
  if (key == nullptr) fatal("out of memory for a key of thread-specific data");
  keys[index] = key;
  first_free = index + 1;
  return key;
}

void thread_key_delete(ThreadKey* key) {
  elision::safe_point(OVS_SAFE_POINT_ALLOCATION);
  Lock lock;
  for (Values* thread = threads; thread != nullptr; thread = thread->next) {
    if (key->index < thread->size) {
      thread->values[key->index].store(nullptr, kRelaxed);
    }
  }
  while (key->running != 0) pthread_cond_wait(&destructor_ended, &mutex);
  keys[key->index] = nullptr;
  if (key->index < first_free) first_free = key->index;
  delete key;
}

void thread_key_set(const ThreadKey* key, const void* value) {
  const Values* thread = tls_values;
  if (thread == nullptr || key->index >= thread->size) {
    if (value == nullptr) return;
    add_room(key->index);
    thread = tls_values;
  }
  thread->values[key->index].store(const_cast<void*>(value), kRelaxed);
}

void* thread_key_get(const ThreadKey* key) {
  const Values* thread = tls_values;
  if (thread == nullptr || key->index >= thread->size) return nullptr;
  return thread->values[key->index].load(kRelaxed);
}

}  // namespace ovsthread
