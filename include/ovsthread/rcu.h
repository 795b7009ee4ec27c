// SPDX-License-Identifier: Apache-2.0
//
// Read-copy-update with the names of C++26's <rcu>, on the same domain as the C
// functions of compat/ovs-rcu.h.
//
//   ovsthread::rcu_domain& domain = ovsthread::rcu_default_domain();
//   {
//     std::scoped_lock guard(domain);              // reader
//     use(*config.load(std::memory_order_acquire));
//   }
//   config.store(new_config, std::memory_order_release);   // writer
//   ovsthread::rcu_retire(old_config);
//
// A region under the guard is protected: what is retired after it began is not
// deleted before it ends.  A thread that the C functions made active is always
// protected but for the moments in which it quiesces; such threads need no
// guard.  Nothing below changes which of the two a thread is.
//
// Deleters run in the library's helper thread once ovs_thread_create() or
// Thread (ovsthread/thread.h) has started one.  Until then they run when a
// thread leaves its outermost guard, quiesces, or is in rcu_barrier(): hold no
// lock there that a deleter takes.
#ifndef OVSTHREAD_RCU_H_
#define OVSTHREAD_RCU_H_

#include <ovsthread/annotations.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace ovsthread {

// The one domain.  Meets the Lockable requirements; a lock is never contended.
class OVSTHREAD_EXPORT rcu_domain {
 public:
  rcu_domain(const rcu_domain&) = delete;
  rcu_domain& operator=(const rcu_domain&) = delete;

  // Opens a region of protection.  Regions nest.  Progress: wait-free but for
  // the first call of a thread, which allocates.
  void lock() noexcept;
  // The same; returns true.
  bool try_lock() noexcept;
  // Closes the last region that is open.  Misuse, diagnosed: there is none.
  // Progress: wait-free where a helper thread runs deleters, but for
  // allocation; else see above.
  void unlock() noexcept;

 private:
  friend OVSTHREAD_API rcu_domain& rcu_default_domain() noexcept;
  constexpr rcu_domain() = default;
};

OVSTHREAD_API rcu_domain& rcu_default_domain() noexcept;

// Blocks until all regions that are open now have been closed and all threads
// that are active in the sense of the C functions have quiesced.  Misuse,
// diagnosed: inside a region.  Progress: blocking.
OVSTHREAD_API void rcu_synchronize(
    rcu_domain& domain = rcu_default_domain()) noexcept;

// Blocks until the deleters of all that was retired before, by any thread, have
// run.  Misuse, diagnosed: inside a region, or in a deleter.  Progress:
// blocking.
OVSTHREAD_API void rcu_barrier(
    rcu_domain& domain = rcu_default_domain()) noexcept;

namespace detail {
// Calls FUNCTION(ARG) after a grace period.  Wait-free but for allocation.
OVSTHREAD_API void rcu_retire_call(void (*function)(void*), void* arg);
}  // namespace detail

// Deletes OBJECT with DELETER when no region can hold it any more.  A deleter
// without state costs no allocation.  Throws std::bad_alloc, or what copying
// the deleter throws, and does nothing then.
template <class T, class Deleter = std::default_delete<T>>
void rcu_retire(T* object, Deleter deleter = Deleter(),
                rcu_domain& /*domain*/ = rcu_default_domain()) {
  void* arg = const_cast<std::remove_cv_t<T>*>(object);
  if constexpr (std::is_empty_v<Deleter> &&
                std::is_default_constructible_v<Deleter>) {
    detail::rcu_retire_call([](void* p) { Deleter()(static_cast<T*>(p)); },
                            arg);
  } else {
    struct Retired {
      T* object;
      Deleter deleter;
    };
    detail::rcu_retire_call(
        [](void* p) {
          std::unique_ptr<Retired> retired(static_cast<Retired*>(p));
          retired->deleter(retired->object);
        },
        new Retired{object, std::move(deleter)});
  }
}

// A base that lets T retire itself without any allocation:
//
//   struct Config : ovsthread::rcu_obj_base<Config> { ... };
//   old_config->retire();
template <class T, class Deleter = std::default_delete<T>>
class rcu_obj_base {
 public:
  // As rcu_retire(); at most once in the life of the object.
  void retire(Deleter deleter = Deleter(),
              rcu_domain& /*domain*/ = rcu_default_domain()) noexcept {
    deleter_ = std::move(deleter);
    detail::rcu_retire_call(
        [](void* p) {
          rcu_obj_base* base = static_cast<rcu_obj_base*>(p);
          Deleter stored = std::move(base->deleter_);
          stored(static_cast<T*>(base));
        },
        this);
  }

 protected:
  rcu_obj_base() = default;
  rcu_obj_base(const rcu_obj_base&) = default;
  rcu_obj_base(rcu_obj_base&&) noexcept = default;
  rcu_obj_base& operator=(const rcu_obj_base&) = default;
  rcu_obj_base& operator=(rcu_obj_base&&) noexcept = default;
  ~rcu_obj_base() = default;

 private:
  [[no_unique_address]] Deleter deleter_;
};

}  // namespace ovsthread

#endif  // OVSTHREAD_RCU_H_
