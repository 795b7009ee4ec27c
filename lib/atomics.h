// SPDX-License-Identifier: Apache-2.0
//
// The atomic operations that the concurrent algorithms are written against.
//
// An algorithm takes a back end as its template parameter A, so that one source
// runs on the processor (RealAtomics, below) and in an exhaustive search over
// interleavings (ModelAtomics, in tests/interleave/).  A back end supplies
//
//   A::Atomic<T>      an atomic of type T; in the real one a single plain T, so
//                     that a C header can declare the member as T;
//   A::Var<T>         data that an atomic publishes; the model checks its
//   races; A::acquire(n)...  the memory order of the operation numbered n;
//   A::fence(order)   a fence;
//   A::light_fence(order), A::heavy_fence(order)   two that are fences to each
//                     other: light ones cost nothing, heavy ones much;
//   A::relax()        what a spinning thread does between two looks.
//
// Numbered pairing.  Every order but relaxed carries a number, unique within
// one algorithm (the files that share the first word of their name), and a
// comment at both ends names the partner:
//
//   // (1) publishes the node; pairs with (2).
//   slot.store(word, A::release(1));
//
// The model replaces the order of one chosen number by relaxed, and a test
// shows that a search then finds a failure: an order that nobody misses is not
// needed.  tests/lint/pairs.pl checks that each number has its partner.  A
// relaxed load of shared data says why relaxed is enough.
#ifndef OVSTHREAD_LIB_ATOMICS_H_
#define OVSTHREAD_LIB_ATOMICS_H_

#include <atomic>
#include <type_traits>

#if defined(__SANITIZE_THREAD__)
#define OVSTHREAD_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define OVSTHREAD_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define OVSTHREAD_THREAD_SANITIZER 0
#endif

namespace ovsthread {

struct RealAtomics {
  // One plain T, accessed through the compiler's builtins: the layout and the
  // constant initialisation are those of T, in C and in C++.
  template <class T>
  class Atomic {
    static_assert(std::is_trivially_copyable_v<T>);
    static_assert(sizeof(T) <= sizeof(void*));

   public:
    Atomic() = default;
    constexpr Atomic(T value) : value_(value) {}  // NOLINT: as std::atomic
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order) const {
      return __atomic_load_n(&value_, static_cast<int>(order));
    }
    void store(T value, std::memory_order order) {
      __atomic_store_n(&value_, value, static_cast<int>(order));
    }
    T exchange(T value, std::memory_order order) {
      return __atomic_exchange_n(&value_, value, static_cast<int>(order));
    }
    // On failure EXPECTED receives the value found.
    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure) {
      return __atomic_compare_exchange_n(&value_, &expected, desired, false,
                                         static_cast<int>(success),
                                         static_cast<int>(failure));
    }
    T fetch_add(T value, std::memory_order order) {
      return __atomic_fetch_add(&value_, value, static_cast<int>(order));
    }
    T fetch_sub(T value, std::memory_order order) {
      return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
    }
    T fetch_or(T value, std::memory_order order) {
      return __atomic_fetch_or(&value_, value, static_cast<int>(order));
    }
    T fetch_and(T value, std::memory_order order) {
      return __atomic_fetch_and(&value_, value, static_cast<int>(order));
    }

    // Where a system call or a vector load needs the address.
    T* address() { return &value_; }
    const T* address() const { return &value_; }

   private:
    T value_;
  };

  template <class T>
  using Var = T;

  static constexpr std::memory_order acquire(int) {
    return std::memory_order_acquire;
  }
  static constexpr std::memory_order release(int) {
    return std::memory_order_release;
  }
  static constexpr std::memory_order acq_rel(int) {
    return std::memory_order_acq_rel;
  }
  static constexpr std::memory_order seq_cst(int) {
    return std::memory_order_seq_cst;
  }

  static void fence(std::memory_order order) {
#if OVSTHREAD_THREAD_SANITIZER
    // The thread sanitizer does not model fences, and g++ rejects them; a
    // read-modify-write on a dummy orders at least as much.
    static unsigned dummy;
    __atomic_fetch_add(&dummy, 0, static_cast<int>(order));
#else
    std::atomic_thread_fence(order);
#endif
  }

  // Whether heavy fences make up for light ones; see atomics-fences.cc.
  static bool asymmetric;
  static void light_fence(std::memory_order order) {
    if (__builtin_expect(!asymmetric, 0)) return fence(order);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void heavy_fence(std::memory_order order) {
    if (__builtin_expect(!asymmetric, 0)) return fence(order);
    expedite();
  }

  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }

 private:
  static void expedite();
};

inline constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_ATOMICS_H_
