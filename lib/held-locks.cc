// SPDX-License-Identifier: Apache-2.0
#include "held-locks.h"

#include <cstdlib>

#include "lock-word.h"
#include "log.h"
#include "thread-id.h"

namespace ovsthread {

uint32_t HeldLocks::assign_self() { return self_ = lock_number(thread_id()); }

void HeldLocks::push_to_heap(const void* lock, Hold hold, const char* where) {
  if (n_heap_ == heap_capacity_) {
    uint32_t capacity = heap_capacity_ == 0 ? 4 * kInline : 2 * heap_capacity_;
    void* grown = realloc(heap_, capacity * sizeof *heap_);
    if (grown == nullptr) fatal("out of memory for a list of held read locks");
    heap_ = static_cast<HeldLock*>(grown);
    heap_capacity_ = capacity;
  }
  heap_[n_heap_++].set(lock, hold, where);
}

HeldLock* HeldLocks::find_in_heap(const void* lock) {
  for (uint32_t i = n_heap_; i-- > 0;) {
    if (heap_[i].lock() == lock) return &heap_[i];
  }
  return nullptr;
}

void HeldLocks::remove_from_heap(HeldLock* held) {
  *held = heap_[--n_heap_];
  // A transaction may yet be rolled back, and must not free memory.
  if (n_heap_ > 0 || any_elided()) return;
  free(heap_);
  heap_ = nullptr;
  heap_capacity_ = 0;
}

}  // namespace ovsthread
