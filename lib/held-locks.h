// SPDX-License-Identifier: Apache-2.0
//
// What a thread knows of its own locks.
//
// A lock's word tells who holds it for real and alone.  It can't tell the rest:
// an elided hold leaves no trace there, and of readers it only has the number.
// So each thread keeps a list of its elided holds and of all its read holds,
// each with its kind and where it was taken.  The list is private to its
// thread, so that a transaction may write it, and lives in static thread-local
// storage, since memory that appears at the first touch would abort the
// transaction that touches it.  It has room for a few holds; more read holds go
// to the heap, more elided ones do not happen (the transaction gives up).
//
// Progress: push_real(): lock-free, but for an allocation when the list is
// full. The rest: wait-free.
#ifndef OVSTHREAD_LIB_HELD_LOCKS_H_
#define OVSTHREAD_LIB_HELD_LOCKS_H_

#include <cstddef>
#include <cstdint>

namespace ovsthread {

enum class Hold : unsigned char {
  kElidedExclusive,  // a mutex, or an rwlock for writing
  kElidedShared,     // an rwlock for reading
  kCounted,          // for real: one of the readers in the lock's word
  kBiased,           // for real: a reader who is announced (rwlock-readers.h)
};

class HeldLock {
 public:
  void set(const void* lock, Hold hold, const char* where) {
    tagged_ = reinterpret_cast<uintptr_t>(lock) | static_cast<uintptr_t>(hold);
    where_ = where;
  }
  const void* lock() const {
    return reinterpret_cast<const void*>(tagged_ & ~kHoldMask);
  }
  Hold hold() const { return static_cast<Hold>(tagged_ & kHoldMask); }
  bool elided() const { return hold() < Hold::kCounted; }
  const char* where() const { return where_; }

 private:
  static constexpr uintptr_t kHoldMask = 3;  // locks are aligned to 4 or more

  uintptr_t tagged_;
  const char* where_;
};

// All zero at the start.
class HeldLocks {
 public:
  // The calling thread's number in the owner's bits of lock words, 0 if it has
  // none yet.
  uint32_t self_if_known() const { return self_; }

  // The same; not 0.
  uint32_t self() {
    return __builtin_expect(self_ == 0, 0) ? assign_self() : self_;
  }

  bool any_elided() const { return (engaged_ & (kSuspended - 1)) != 0; }

  // While suspended, the thread elides nothing.
  void suspend() { engaged_ |= kSuspended; }
  void resume() { engaged_ &= kSuspended - 1; }
  bool suspended() const { return engaged_ >= kSuspended; }

  // Whether it neither has elided holds nor is suspended: one test for both.
  bool disengaged() const { return engaged_ == 0; }

  // Whether there is no room for an elided hold.
  bool full() const { return n_ == kInline; }

  // For elided holds; not if full().
  void push_elided(const void* lock, Hold hold, const char* where) {
    inline_[n_++].set(lock, hold, where);
    engaged_++;
  }

  // For holds that are not elided.
  void push_real(const void* lock, Hold hold, const char* where) {
    if (__builtin_expect(full(), 0)) return push_to_heap(lock, hold, where);
    inline_[n_++].set(lock, hold, where);
  }

  // The youngest hold of LOCK, or null.
  HeldLock* find(const void* lock) {
    if (__builtin_expect(n_heap_ != 0, 0)) {
      if (HeldLock* held = find_in_heap(lock)) return held;
    }
    for (unsigned i = n_; i-- > 0;) {
      if (inline_[i].lock() == lock) return &inline_[i];
    }
    return nullptr;
  }

  // HELD comes from find() and no change came between.
  void remove(HeldLock* held) {
    engaged_ -= held->elided();
    if (__builtin_expect(n_heap_ != 0, 0) && in_heap(held)) {
      return remove_from_heap(held);
    }
    // The youngest hold moves into the gap; the order decides nothing but how
    // soon find() ends.
    const HeldLock& youngest = inline_[--n_];
    if (held != &youngest) *held = youngest;
  }

 private:
  static constexpr unsigned kInline = 8;
  static constexpr uint16_t kSuspended = 256;

  uint32_t assign_self();
  void push_to_heap(const void* lock, Hold hold, const char* where);
  HeldLock* find_in_heap(const void* lock);
  bool in_heap(const HeldLock* held) const {
    return held < inline_ || held >= inline_ + kInline;
  }
  void remove_from_heap(HeldLock* held);

  uint32_t self_;
  uint16_t n_;
  uint16_t engaged_;  // elided holds, plus kSuspended
  HeldLock inline_[kInline];
  HeldLock* heap_;
  uint32_t n_heap_;
  uint32_t heap_capacity_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_HELD_LOCKS_H_
