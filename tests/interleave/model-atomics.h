// SPDX-License-Identifier: Apache-2.0
//
// ModelAtomics: the back end of lib/atomics.h that searches interleavings.
//
// An algorithm that is a template on its atomics runs here on relacy: its
// threads are fibers, each atomic operation is a point at which another thread
// may go on, and a load may return an older value wherever the C++ memory model
// lets it.  The search sees failed RL_ASSERTs, data races on Var, deadlocks,
// livelocks, use of a destroyed Atomic or Var, and leaks.
//
// How to write a test (message-passing.cc is the smallest):
//
//   template <class A> struct Algorithm {       // the code under test, from
//   lib/
//     typename A::template Atomic<int> ready{0};
//     ...  ready.store(1, A::release(1));       // (1) ...; pairs with (2).
//   };
//
//   struct Scenario : rl::test_suite<Scenario, 2> {     // 2 threads
//     Algorithm<ModelAtomics> algorithm;        // fresh in every run
//     void before() {}                          // alone, before the threads
//     void thread(unsigned index) { ...  RL_ASSERT(condition); }
//     void after() {}                           // alone, after the threads
//     void invariant() {}                       // between any two steps
//   };
//
//   int main(int argc, char** argv) {
//     using namespace ovsthread::interleave;
//     return run(argc, argv, {full<Scenario>("what it shows", {1, 2}),
//                             random<Bigger>("what that shows", {3})});
//   }
//
// {1, 2} are the numbered orders of which this scenario shows that they are
// needed: run() searches once with all orders as written, which must find
// nothing, then once per number with that order weakened to relaxed, which must
// find a failure.  Every number of an algorithm belongs into such a list.  The
// command line is described in driver.h.
//
// What to keep in mind:
// - A scenario must be deterministic but for its interleaving: choices are made
//   with rl::rand(limit), no branch depends on an address, nothing outlives a
//   run.  State that is global in the library belongs into an object that the
//   scenario owns.  thread_local does not work (the threads are fibers of one
//   thread); rl::thread_index() tells who runs.
// - Loops that wait call A::relax(), else the search never ends.
// - A default-constructed Atomic holds T(), a default-constructed Var nothing.
//   A thread that may reach an Atomic before its constructor happens-before the
//   access fails the run, as it should.
// - Elided sections are modelled by ModelTransactions (model-transactions.h).
// - Plain members are not watched: data that an order protects must be a Var.
// - A full search grows steeply: 2 threads of about 5 steps end in seconds, and
//   what does not end is searched at random (or with few preemptions: bounded).
// - The model knows no load buffering, i.e. no load that returns a value stored
//   later; seq_cst is the C++11 total order.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_MODEL_ATOMICS_H_
#define OVSTHREAD_TESTS_INTERLEAVE_MODEL_ATOMICS_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "atomics.h"
#include "interleave/model-transactions.h"
#include "interleave/relacy.h"

namespace ovsthread {

struct ModelAtomics {
  // The number whose order becomes relaxed; 0: none.  Set by the driver.
  static inline int weakened = 0;

  static std::memory_order acquire(int n) {
    return unless_weakened(n, std::memory_order_acquire);
  }
  static std::memory_order release(int n) {
    return unless_weakened(n, std::memory_order_release);
  }
  static std::memory_order acq_rel(int n) {
    return unless_weakened(n, std::memory_order_acq_rel);
  }
  static std::memory_order seq_cst(int n) {
    return unless_weakened(n, std::memory_order_seq_cst);
  }

  // Where an operation stands in the source, for the history of a failure.
  struct Where : rl::debug_info {
    Where(const char* function = __builtin_FUNCTION(),
          const char* file = __builtin_FILE(), unsigned line = __builtin_LINE())
        : rl::debug_info(function, file, line) {}
  };

  // Finds the use of an Atomic or Var that was destroyed.  (relacy's own mark
  // is a plain store at the end of a lifetime, which compilers drop.)
  class Alive {
   public:
    Alive() : mark_(kMark) {}
    ~Alive() { mark_ = 0; }
    void check() const {
      // Near null where an order is missing; relacy reports that, too.
      RL_ASSERT(reinterpret_cast<uintptr_t>(this) >= 4096 && mark_ == kMark);
    }

   private:
    static constexpr uint32_t kMark = 0x616c6976;
    volatile uint32_t mark_;
  };

  // What one expression does to OBJECT, in the course of which other threads
  // may run: it must be alive before and after.
  template <class Object>
  class Use {
   public:
    Use(Object& object, const Alive& alive) : object_(object), alive_(alive) {
      alive_.check();
    }
    ~Use() { alive_.check(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Object& operator*() const { return object_; }
    Object* operator->() const { return &object_; }

   private:
    Object& object_;
    const Alive& alive_;
  };

  template <class T>
  class Atomic {
   public:
    Atomic() : value_(T()) {}
    Atomic(T value) : value_(value) {}  // NOLINT: as std::atomic
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order, Where where = Where()) const {
      if (ModelTransactions::active()) return logged();
      return live()->load(model(order), where);
    }
    void store(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) {
        log(value);
      } else {
        live()->store(value, model(order), where);
      }
    }
    T exchange(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) return log(value);
      return swap(value, model(order), where);
    }
    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure, Where where = Where()) {
      if (ModelTransactions::active()) {
        T found = logged();
        if (found == expected) log(desired);
        return std::exchange(expected, found) == found;
      }
      // relacy takes no order for the failure that is stronger than that for
      // the success; there a fence behind the load stands in.
      bool as_given = failure == std::memory_order_relaxed ||
                      failure == success ||
                      (failure == std::memory_order_acquire &&
                       (success == std::memory_order_acq_rel ||
                        success == std::memory_order_seq_cst));
      bool done = live()->compare_exchange(
          rl::bool_t<false>(), expected, desired, model(success),
          as_given ? model(failure) : rl::mo_relaxed, where);
      if (!done && !as_given) fence(failure, where);
      return done;
    }
    T fetch_add(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) return log(logged() + value);
      return live()->fetch_add(value, model(order), where);
    }
    T fetch_sub(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) return log(logged() - value);
      return live()->fetch_sub(value, model(order), where);
    }
    T fetch_or(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) return log(logged() | value);
      return live()->fetch_or(value, model(order), where);
    }
    T fetch_and(T value, std::memory_order order, Where where = Where()) {
      if (ModelTransactions::active()) return log(logged() & value);
      return live()->fetch_and(value, model(order), where);
    }

   private:
    // Inside a transaction: the value, and the value before VALUE.
    T logged() const {
      return decode<T>(ModelTransactions::entry(const_cast<Atomic*>(this),
                                                encode(live()->debug_value()),
                                                apply)
                           .value);
    }
    T log(T value) {
      ModelTransactions::Entry& entry =
          ModelTransactions::entry(this, encode(live()->debug_value()), apply);
      entry.written = true;
      return decode<T>(std::exchange(entry.value, encode(value)));
    }

    static void apply(const ModelTransactions::Entry& entry,
                      ModelTransactions::Step step) {
      Atomic* self = static_cast<Atomic*>(entry.object);
      if (step == ModelTransactions::Step::kAcquire) {
        // What reads the newest value and writes nothing is a
        // compare-and-swap that fails.
        T other = decode<T>(encode(self->live()->debug_value()) ^ 1);
        self->live()->compare_exchange(rl::bool_t<false>(), other, other,
                                       rl::mo_acquire, rl::mo_acquire, Where());
      } else if (step == ModelTransactions::Step::kRelease) {
        self->swap(decode<T>(entry.value), rl::mo_acq_rel, Where());
      }
    }

    T swap(T value, rl::memory_order order, Where where) {
      return live()->rmw(rl::rmw_type_t<rl::rmw_type_swap>(), value, order,
                         where);
    }

    Use<rl::atomic<T>> live() { return {value_, alive_}; }
    Use<const rl::atomic<T>> live() const { return {value_, alive_}; }

    rl::atomic<T> value_;
    Alive alive_;
  };

  // Converts from and to T, so that it reads as the plain T it stands for.
  template <class T>
  class Var {
   public:
    Var() = default;
    Var(T value) : raw_(value), value_(value) {}  // NOLINT: as T
    Var(const Var& other) : Var(static_cast<T>(other)) {}
    Var& operator=(const Var& other) { return *this = static_cast<T>(other); }

    operator T() const {  // NOLINT: as T
      if (ModelTransactions::active()) return decode<T>(entry().value);
      return (*live())(Where()).load();
    }
    T operator->() const { return *this; }
    Var& operator=(T value) {
      if (ModelTransactions::active()) {
        ModelTransactions::Entry& logged = entry();
        logged.value = encode(value);
        logged.written = true;
      } else {
        write(value);
      }
      return *this;
    }
    template <class U>
    Var& operator+=(U value) {
      return *this = static_cast<T>(*this) + value;
    }
    template <class U>
    Var& operator-=(U value) {
      return *this = static_cast<T>(*this) - value;
    }
    Var& operator++() { return *this += 1; }
    Var& operator--() { return *this -= 1; }

   private:
    ModelTransactions::Entry& entry() const {
      return ModelTransactions::entry(const_cast<Var*>(this),
                                      encode((alive_.check(), raw_)), apply);
    }

    static void apply(const ModelTransactions::Entry& entry,
                      ModelTransactions::Step step) {
      if (step != ModelTransactions::Step::kData) return;
      Var* self = static_cast<Var*>(entry.object);
      if (entry.written) {
        self->write(decode<T>(entry.value));
      } else {
        (*self->live())(Where()).load();
      }
    }

    void write(T value) {
      raw_ = value;
      (*live())(Where()).store(value);
    }

    Use<rl::var<T>> live() { return {value_, alive_}; }
    Use<const rl::var<T>> live() const { return {value_, alive_}; }

    T raw_ = T();  // As value_, to be read without leaving a trace.
    rl::var<T> value_;
    Alive alive_;
  };

  static void fence(std::memory_order order, Where where = Where()) {
    if (order != std::memory_order_relaxed && !ModelTransactions::active()) {
      rl::atomic_thread_fence(model(order), where);
    }
  }
  // Full fences, both.
  static void light_fence(std::memory_order order, Where where = Where()) {
    fence(order, where);
  }
  static void heavy_fence(std::memory_order order, Where where = Where()) {
    fence(order, where);
  }

  static void relax(Where where = Where()) {
    // A processor that pauses inside a transaction aborts it.
    if (ModelTransactions::active()) ModelTransactions::fail(0);
    rl::yield(1, where);
  }

 private:
  template <class T>
  static uint64_t encode(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    uint64_t encoded = 0;
    std::memcpy(&encoded, &value, sizeof value);
    return encoded;
  }
  template <class T>
  static T decode(uint64_t encoded) {
    T value;
    std::memcpy(&value, &encoded, sizeof value);
    return value;
  }

  static std::memory_order unless_weakened(int n, std::memory_order order) {
    return n == weakened ? std::memory_order_relaxed : order;
  }

  static rl::memory_order model(std::memory_order order) {
    switch (order) {
      case std::memory_order_relaxed:
        return rl::mo_relaxed;
      case std::memory_order_consume:
      case std::memory_order_acquire:
        return rl::mo_acquire;
      case std::memory_order_release:
        return rl::mo_release;
      case std::memory_order_acq_rel:
        return rl::mo_acq_rel;
      case std::memory_order_seq_cst:
        break;
    }
    return rl::mo_seq_cst;
  }
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_MODEL_ATOMICS_H_
