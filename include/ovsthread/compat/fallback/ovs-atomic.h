/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none:
 * atomic variables, counters and reference counts, on C11's <stdatomic.h> in C
 * and on <atomic> in C++.
 *
 * Operations without a suffix are sequentially consistent, those with
 * _explicit take memory orders.  Reads and read-modify-writes deliver the old
 * value through a pointer. */
#ifndef OVS_ATOMIC_H
#define OVS_ATOMIC_H 1

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* Programs may include C headers inside extern "C". */
extern "C++" {
#include <atomic>
}

#define ATOMIC(TYPE) std::atomic<TYPE>

using std::atomic_bool;
using std::atomic_char;
using std::atomic_int;
using std::atomic_int16_t;
using std::atomic_int32_t;
using std::atomic_int64_t;
using std::atomic_int8_t;
using std::atomic_intmax_t;
using std::atomic_intptr_t;
using std::atomic_llong;
using std::atomic_long;
using std::atomic_ptrdiff_t;
using std::atomic_schar;
using std::atomic_short;
using std::atomic_size_t;
using std::atomic_uchar;
using std::atomic_uint;
using std::atomic_uint16_t;
using std::atomic_uint32_t;
using std::atomic_uint64_t;
using std::atomic_uint8_t;
using std::atomic_uintmax_t;
using std::atomic_uintptr_t;
using std::atomic_ullong;
using std::atomic_ulong;
using std::atomic_ushort;

using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

using std::atomic_compare_exchange_strong;
using std::atomic_compare_exchange_strong_explicit;
using std::atomic_compare_exchange_weak;
using std::atomic_compare_exchange_weak_explicit;
using std::atomic_fetch_add_explicit;
using std::atomic_fetch_and_explicit;
using std::atomic_fetch_or_explicit;
using std::atomic_fetch_sub_explicit;
using std::atomic_fetch_xor_explicit;
using std::atomic_flag;
using std::atomic_flag_clear;
using std::atomic_flag_clear_explicit;
using std::atomic_flag_test_and_set;
using std::atomic_flag_test_and_set_explicit;
using std::atomic_init;
using std::atomic_load_explicit;
using std::atomic_signal_fence;
using std::atomic_store;
using std::atomic_store_explicit;
using std::atomic_thread_fence;
#else
#include <stdatomic.h>

#define ATOMIC(TYPE) _Atomic(TYPE)

typedef ATOMIC(uint8_t) atomic_uint8_t;
typedef ATOMIC(int8_t) atomic_int8_t;
typedef ATOMIC(uint16_t) atomic_uint16_t;
typedef ATOMIC(int16_t) atomic_int16_t;
typedef ATOMIC(uint32_t) atomic_uint32_t;
typedef ATOMIC(int32_t) atomic_int32_t;
typedef ATOMIC(uint64_t) atomic_uint64_t;
typedef ATOMIC(int64_t) atomic_int64_t;
#endif

#ifndef atomic_read
#define atomic_read(SRC, DST) \
  atomic_read_explicit(SRC, DST, memory_order_seq_cst)
#define atomic_read_explicit(SRC, DST, ORDER) \
  (*(DST) = atomic_load_explicit(SRC, ORDER), (void)0)
#define atomic_read_relaxed(SRC, DST) \
  atomic_read_explicit(SRC, DST, memory_order_relaxed)
#define atomic_store_relaxed(DST, VALUE) \
  atomic_store_explicit(DST, VALUE, memory_order_relaxed)
#endif

#ifndef atomic_add
#define atomic_add(RMW, ARG, ORIG) \
  atomic_add_explicit(RMW, ARG, ORIG, memory_order_seq_cst)
#define atomic_sub(RMW, ARG, ORIG) \
  atomic_sub_explicit(RMW, ARG, ORIG, memory_order_seq_cst)
#define atomic_or(RMW, ARG, ORIG) \
  atomic_or_explicit(RMW, ARG, ORIG, memory_order_seq_cst)
#define atomic_xor(RMW, ARG, ORIG) \
  atomic_xor_explicit(RMW, ARG, ORIG, memory_order_seq_cst)
#define atomic_and(RMW, ARG, ORIG) \
  atomic_and_explicit(RMW, ARG, ORIG, memory_order_seq_cst)
#define atomic_add_explicit(RMW, ARG, ORIG, ORDER) \
  (*(ORIG) = atomic_fetch_add_explicit(RMW, ARG, ORDER), (void)0)
#define atomic_sub_explicit(RMW, ARG, ORIG, ORDER) \
  (*(ORIG) = atomic_fetch_sub_explicit(RMW, ARG, ORDER), (void)0)
#define atomic_or_explicit(RMW, ARG, ORIG, ORDER) \
  (*(ORIG) = atomic_fetch_or_explicit(RMW, ARG, ORDER), (void)0)
#define atomic_xor_explicit(RMW, ARG, ORIG, ORDER) \
  (*(ORIG) = atomic_fetch_xor_explicit(RMW, ARG, ORDER), (void)0)
#define atomic_and_explicit(RMW, ARG, ORIG, ORDER) \
  (*(ORIG) = atomic_fetch_and_explicit(RMW, ARG, ORDER), (void)0)
#define atomic_add_relaxed(RMW, ARG, ORIG) \
  atomic_add_explicit(RMW, ARG, ORIG, memory_order_relaxed)
#define atomic_sub_relaxed(RMW, ARG, ORIG) \
  atomic_sub_explicit(RMW, ARG, ORIG, memory_order_relaxed)
#endif

/* A counter that orders nothing.  The functions that change it return the old
 * value. */
typedef struct atomic_count {
  atomic_uint count;
} atomic_count;

#ifndef ATOMIC_COUNT_INIT
#define ATOMIC_COUNT_INIT(VALUE) \
  { VALUE }
#endif

static inline void atomic_count_init(atomic_count *counter,
                                     unsigned int value) {
  atomic_init(&counter->count, value);
}

static inline unsigned int atomic_count_inc(atomic_count *counter) {
  return atomic_fetch_add_explicit(&counter->count, 1u, memory_order_relaxed);
}

static inline unsigned int atomic_count_dec(atomic_count *counter) {
  return atomic_fetch_sub_explicit(&counter->count, 1u, memory_order_relaxed);
}

static inline unsigned int atomic_count_get(const atomic_count *counter) {
  return atomic_load_explicit(&counter->count, memory_order_relaxed);
}

static inline void atomic_count_set(atomic_count *counter, unsigned int value) {
  atomic_store_explicit(&counter->count, value, memory_order_relaxed);
}

/* A reference count.  Whoever brings it from 1 to 0 destroys the object and
 * sees all that other owners did to it. */
struct ovs_refcount {
  atomic_uint count;
};

#ifndef OVS_REFCOUNT_INITIALIZER
#define OVS_REFCOUNT_INITIALIZER \
  { 1 }
#endif

static inline void ovs_refcount_init(struct ovs_refcount *refcount) {
  /* The object is not shared yet, hence no order. */
  atomic_init(&refcount->count, 1u);
}

static inline void ovs_refcount_ref(struct ovs_refcount *refcount) {
  /* The caller owns a reference, so the count can't reach 0 meanwhile. */
  atomic_fetch_add_explicit(&refcount->count, 1u, memory_order_relaxed);
}

/* Takes a reference unless the count is 0; returns whether it did.  For an
 * object that is found by RCU and may be on its way out. */
static inline bool ovs_refcount_try_ref_rcu(struct ovs_refcount *refcount) {
  unsigned int count =
      atomic_load_explicit(&refcount->count, memory_order_relaxed);
  do {
    if (count == 0) {
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(
      &refcount->count, &count, count + 1, memory_order_relaxed,
      memory_order_relaxed));
  return true;
}

/* Drops a reference.  Returns the old count: 1 means that it was the last. */
static inline unsigned int ovs_refcount_unref(struct ovs_refcount *refcount) {
  return atomic_fetch_sub_explicit(&refcount->count, 1u, memory_order_acq_rel);
}

/* As above for an object that is destroyed through RCU, which orders. */
static inline unsigned int ovs_refcount_unref_relaxed(
    struct ovs_refcount *refcount) {
  return atomic_fetch_sub_explicit(&refcount->count, 1u, memory_order_relaxed);
}

static inline unsigned int ovs_refcount_read(
    const struct ovs_refcount *refcount) {
  return atomic_load_explicit(&refcount->count, memory_order_relaxed);
}

#endif /* OVS_ATOMIC_H */
