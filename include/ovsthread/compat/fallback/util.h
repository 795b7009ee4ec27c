/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none:
 * memory that is there or the program aborts, bits, and small conveniences. */
#ifndef OVSTHREAD_FALLBACK_UTIL_H
#define OVSTHREAD_FALLBACK_UTIL_H 1

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#include "compiler.h"
#include "openvswitch/util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* printf() lengths for size_t and ssize_t. */
#ifndef PRIuSIZE
#define PRIdSIZE "zd"
#define PRIiSIZE "zi"
#define PRIoSIZE "zo"
#define PRIuSIZE "zu"
#define PRIxSIZE "zx"
#define PRIXSIZE "zX"
#endif

#ifndef CACHE_LINE_SIZE
#define CACHE_LINE_SIZE 64
#endif

/* Discards VALUE where the compiler insists that it be looked at. */
#ifndef ovs_ignore
#define ovs_ignore(VALUE)                      \
  do {                                         \
    __typeof__(VALUE) ovs_ignored__ = (VALUE); \
    (void)ovs_ignored__;                       \
  } while (0)
#endif

/* Memory.  None of these returns NULL, except xasprintf's and xstrdup's
 * contents, which are the caller's. */
OVS_NO_RETURN static inline void out_of_memory(void) {
  fputs("virtual memory exhausted\n", stderr);
  abort();
}

static inline void *xcalloc(size_t count, size_t size) {
  void *p = count && size ? calloc(count, size) : malloc(1);
  if (!p) {
    out_of_memory();
  }
  return p;
}

static inline void *xzalloc(size_t size) { return xcalloc(1, size); }

static inline void *xmalloc(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) {
    out_of_memory();
  }
  return p;
}

static inline void *xrealloc(void *old, size_t size) {
  void *p = realloc(old, size ? size : 1);
  if (!p) {
    out_of_memory();
  }
  return p;
}

static inline void *xmemdup(const void *data, size_t size) {
  void *p = xmalloc(size);
  if (size) {
    memcpy(p, data, size);
  }
  return p;
}

static inline char *xmemdup0(const char *data, size_t length) {
  char *p = (char *)xmalloc(length + 1);
  if (length) {
    memcpy(p, data, length);
  }
  p[length] = '\0';
  return p;
}

static inline char *xstrdup(const char *string) {
  return xmemdup0(string, strlen(string));
}

/* Room for one element more than *N of SIZE bytes each; *N becomes the number
 * that there is room for. */
static inline void *x2nrealloc(void *old, size_t *n, size_t size) {
  size_t bytes;
  *n = *n ? 2 * *n : 1;
  if (__builtin_mul_overflow(*n, size, &bytes)) {
    out_of_memory();
  }
  return xrealloc(old, bytes);
}

OVS_PRINTF_FORMAT(1, 0)
static inline char *xvasprintf(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length < 0) {
    out_of_memory();
  }
  char *string = (char *)xmalloc((size_t)length + 1);
  vsnprintf(string, (size_t)length + 1, format, again);
  va_end(again);
  return string;
}

OVS_PRINTF_FORMAT(1, 2)
static inline char *xasprintf(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *string = xvasprintf(format, args);
  va_end(args);
  return string;
}

/* Memory that begins at a cache line and shares its last one with nothing. */
static inline void *xmalloc_cacheline(size_t size) {
  void *p;
  size_t lines = size / CACHE_LINE_SIZE + 1;
  if (size > SIZE_MAX - CACHE_LINE_SIZE ||
      posix_memalign(&p, CACHE_LINE_SIZE, lines * CACHE_LINE_SIZE)) {
    out_of_memory();
  }
  return p;
}

static inline void *xzalloc_cacheline(size_t size) {
  return memset(xmalloc_cacheline(size), 0, size);
}

static inline void free_cacheline(void *p) { free(p); }

/* Bits. */
static inline bool is_pow2(uintmax_t x) { return IS_POW2(x); }

/* X must not be 0. */
static inline int raw_ctz(uint64_t x) { return __builtin_ctzll(x); }

/* The index of the lowest 1-bit of X, which must not be 0. */
static inline int rightmost_1bit_idx(uint64_t x) { return raw_ctz(x); }

static inline uintmax_t rightmost_1bit(uintmax_t x) { return x & -x; }

static inline uintmax_t zero_rightmost_1bit(uintmax_t x) { return x & (x - 1); }

/* IDX, an integer variable of the caller's, takes the index of each 1-bit of
 * MAP, lowest first. */
#ifndef ULLONG_FOR_EACH_1
#define ULLONG_FOR_EACH_1(IDX, MAP)                                          \
  for (unsigned long long int ovs_map_##IDX##__ = (MAP);                     \
       ovs_map_##IDX##__ ? (((IDX) = __builtin_ctzll(ovs_map_##IDX##__)), 1) \
                         : 0;                                                \
       ovs_map_##IDX##__ &= ovs_map_##IDX##__ - 1)
#endif

/* Time. */
static inline void xgettimeofday(struct timeval *now) {
  if (gettimeofday(now, NULL)) {
    perror("gettimeofday failed");
    abort();
  }
}

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_FALLBACK_UTIL_H */
