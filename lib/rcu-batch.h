// SPDX-License-Identifier: Apache-2.0
//
// The callbacks that one thread has postponed: a queue with one owner, who
// posts, and one runner at a time, who takes the other end.
//
// The queue is a list of blocks.  The blocks at its end are *private* to the
// owner, its batch: their target is 0.  Handing the batch over stamps them with
// the number of a grace period, their *target*, and starts a new block; from
// then on they are the runner's once that grace period is over.  Posting is a
// plain store into the last block, so it may happen inside a transaction; only
// a full block and a hand-over allocate.
//
// The last block is never freed, so either side always has one to stand on, and
// a block's own fields say how far it is filled and run.  A copy of the memory
// at any instant is therefore a queue that can be taken over: fork relies on
// it.
#ifndef OVSTHREAD_LIB_RCU_BATCH_H_
#define OVSTHREAD_LIB_RCU_BATCH_H_

#include <ovsthread/cache-line.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "atomics.h"
#include "log.h"

namespace ovsthread::rcu {

using Function = void (*)(void*);

// Capacities of blocks: a thread that fills its block before it hands it over
// gets a larger one, one that uses little of it a smaller one.
template <class A, uint32_t kMinBlock = 64, uint32_t kMaxBlock = 1024>
class Batch {
 public:
  Batch() : oldest_(new_block(kMinBlock)), first_(oldest_), last_(oldest_) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    for (Block* block = oldest_; block != nullptr;) {
      Block* next = block->next.load(kRelaxed);  // Relaxed: nobody else left.
      free_block(block);
      block = next;
    }
  }

  // The owner's side.

  bool has_room() const {
    const Block* block = last_;
    return block->used < block->capacity;
  }

  // There must be room.  Wait-free.
  void post(Function function, void* arg) {
    Block* block = last_;
    uint32_t used = block->used;
    block->entries()[used].function = function;
    block->entries()[used].arg = arg;
    // A child of fork counts only entries that are there.
    std::atomic_signal_fence(std::memory_order_release);
    block->used = used + 1;
  }

  // Makes room, keeping the batch private.
  void grow() {
    const Block* block = last_;
    uint32_t capacity = block->capacity;
    append(new_block(capacity < kMaxBlock ? 2 * capacity : kMaxBlock));
  }

  // Whether nothing is private.
  bool empty() const {
    const Block* block = last_;
    return first_ == block && block->used == 0;
  }

  // Hands the private blocks over for the grace period that TICKET() returns;
  // it is called when nothing can fail any more.
  template <class Ticket>
  void hand_over(Ticket ticket) {
    const Block* last = last_;
    uint32_t capacity = last->capacity;
    if (first_ == last && last->used <= capacity / 4 && capacity > kMinBlock) {
      capacity /= 2;
    }
    Block* fresh = new_block(capacity);
    uint64_t target = ticket();
    for (Block* block = first_; block != nullptr;) {
      // Relaxed: the owner's own store.
      Block* next = block->next.load(kRelaxed);
      // (16) the entries of the block; pairs with (17).
      block->target.store(target, A::release(16));
      block = next;
    }
    append(fresh);
    first_ = fresh;
  }

  // The runner's side.

  // The target of the oldest block that has callbacks to run, 0 if there is
  // none.  Frees the blocks before it.
  uint64_t due() {
    for (;;) {
      Block* block = oldest_;
      // (17) the entries of the block; pairs with (16).
      uint64_t target = block->target.load(A::acquire(17));
      if (target == 0) return 0;
      if (block->done < block->used) return target;
      // Relaxed, and never null: the owner appended the next block before it
      // stored the seen that made this one due.
      Block* next = block->next.load(kRelaxed);
      oldest_ = next;
      free_block(block);
    }
  }

  // Runs the oldest block, after due() found it.
  void run() {
    Block* block = oldest_;
    uint32_t used = block->used;
    for (uint32_t i = block->done; i < used; i++) {
      // Before the call, so that a child of fork doesn't call it again.
      block->done = i + 1;
      std::atomic_signal_fence(std::memory_order_release);
      call(block->entries()[i].function, block->entries()[i].arg);
    }
  }

 private:
  struct Entry {
    typename A::template Var<Function> function;
    typename A::template Var<void*> arg;
  };

  struct alignas(OVSTHREAD_CACHE_LINE_SIZE) Block {
    // What the runner looks at while the owner posts.
    typename A::template Atomic<uint64_t> target{0};
    typename A::template Atomic<Block*> next{nullptr};
    typename A::template Var<uint32_t> done{0};
    // What the owner writes, then the entries.
    alignas(OVSTHREAD_CACHE_LINE_SIZE)
        typename A::template Var<uint32_t> used{0};
    uint32_t capacity = 0;

    Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  };

  static constexpr auto kAlignment = std::align_val_t{alignof(Block)};

  static Block* new_block(uint32_t capacity) {
    void* memory = operator new(sizeof(Block) + capacity * sizeof(Entry),
                                kAlignment, std::nothrow);
    if (memory == nullptr) fatal("out of memory for postponed callbacks");
    Block* block = new (memory) Block;
    block->capacity = capacity;
    for (uint32_t i = 0; i < capacity; i++) new (block->entries() + i) Entry;
    // A transaction that posts must not be the first to touch a page.
    constexpr uint32_t kPage = 4096 / sizeof(Entry);
    for (uint32_t i = 0; i < capacity; i += kPage) {
      block->entries()[i].arg = nullptr;
    }
    return block;
  }

  static void free_block(Block* block) {
    for (uint32_t i = 0; i < block->capacity; i++) block->entries()[i].~Entry();
    block->~Block();
    operator delete(block, kAlignment);
  }

  void append(Block* block) {
    Block* last = last_;
    // A child of fork finds each block that is linked complete, and last_
    // linked; an empty block behind that it forgets.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    last->next.store(block, kRelaxed);  // Relaxed: see due().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    last_ = block;
  }

// The function was posted through a cast of its parameter's pointer type.
#if defined(__clang__)
  __attribute__((no_sanitize("function")))
#endif
  static void
  call(Function function, void* arg) {
    function(arg);
  }

  using Pointer = typename A::template Var<Block*>;

  // The runner's.
  Pointer oldest_;
  // The owner's, on another line, so that the runner disturbs no transaction.
  // The blocks from first_ to the end are private.
  alignas(OVSTHREAD_CACHE_LINE_SIZE) Pointer first_;
  Pointer last_;
};

}  // namespace ovsthread::rcu

#endif  // OVSTHREAD_LIB_RCU_BATCH_H_
