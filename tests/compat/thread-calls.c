/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads and per-thread data of ovs-thread.h as programs use them; see
 * calls.h. */
#include "ovs-thread.h"
#include "tests/compat/calls.h"

DEFINE_STATIC_PER_THREAD_DATA(int, number, 7)
DEFINE_STATIC_PER_THREAD_DATA(
    struct {
      int a;
      int b;
    },
    pair, {1, 2});
DEFINE_STATIC_PER_THREAD_DATA(const char *, unused_text, NULL);

#define DEFINE_COUNTER(NAME) DEFINE_STATIC_PER_THREAD_DATA(unsigned, NAME, 0)
DEFINE_COUNTER(counter)

#ifdef __cplusplus
DECLARE_EXTERN_PER_THREAD_DATA(struct ovsrcu_calls_cxx *, shared_cxx)
DEFINE_EXTERN_PER_THREAD_DATA(shared_cxx, NULL)
#define shared_get shared_cxx_get
#else
DECLARE_EXTERN_PER_THREAD_DATA(struct ovsrcu_calls_c *, shared_c)
DEFINE_EXTERN_PER_THREAD_DATA(shared_c, NULL)
#define shared_get shared_c_get
#endif

DEFINE_PER_THREAD_MALLOCED_DATA(char *, text)
DEFINE_PER_THREAD_MALLOCED_DATA(struct unknown *, unused_pointer);

static struct ovs_barrier barrier;
static int *main_number;
static int evaluations;

static void *check_thread(void *aux) {
  const char **failure = (const char **)aux;
  *failure = "per-thread data is not each thread's own";
  if (*number_get() != 7 || number_get() == main_number || *main_number != 8 ||
      text_get() != NULL || *ovsthread_id_get() == OVSTHREAD_ID_UNSET ||
      *ovsthread_id_get() != ovsthread_id_self() || ovsrcu_is_quiescent()) {
    return NULL;
  }
  free(text_set((char *)malloc(1)));
  ovs_barrier_block(&barrier);
  *failure = NULL;
  return failure;
}

static struct ovsthread_stats *stats_once(struct ovsthread_stats *stats) {
  evaluations++;
  return stats;
}

static void *new_bucket(void) { return calloc(1, sizeof(long)); }

const char *CALLS(thread)(void) {
  const char *failure;
  void *result;
  pthread_t thread;

  /* Per-thread data. */
  CHECK(*number_get() == 7);
  CHECK(number_get() == number_get_unsafe());
  CHECK(sizeof(number_type) == sizeof(int));
  *number_get() = 8;
  main_number = number_get();
  CHECK(pair_get()->a == 1 && pair_get()->b == 2);
  pair_get()->b = 3;
  CHECK(pair_get()->b == 3);
  CHECK(*counter_get() == 0);
  CHECK(*shared_get() == NULL);
  CHECK(text_get() == NULL);
  {
    char *first = (char *)malloc(1);
    char *second = (char *)malloc(1);
    CHECK(text_set(first) == NULL);
    CHECK(text_get() == first && text_get_unsafe() == first);
    CHECK(text_set_unsafe(second) == first);
    CHECK(text_set(NULL) == second);
    free(first);
    free(second);
  }

  /* A thread. */
  ovs_barrier_init(&barrier, 2);
  thread = ovs_thread_create("calls", check_thread, &failure);
  CHECK(!ovsrcu_is_quiescent());
  CHECK(!single_threaded());
  CHECK(!may_fork());
  ovs_barrier_block(&barrier);
  xpthread_join(thread, &result);
  ovs_barrier_destroy(&barrier);
  CHECK(result == (void *)&failure && failure == NULL);
  ovsrcu_quiesce_start();

  /* Statistics. */
  {
    static struct ovsthread_stats stats = {OVS_MUTEX_INITIALIZER, {NULL}};
    long *bucket = NULL;
    size_t idx;
    int buckets = 0;

    OVSTHREAD_STATS_FOR_EACH_BUCKET(bucket, idx, &stats) { buckets++; }
    CHECK(buckets == 0 && idx == 16 && bucket == NULL);

    *(long *)ovsthread_stats_bucket_get(&stats, new_bucket) = 5;
    CHECK(ovs_thread_stats_next_bucket(&stats, 0) == ovsthread_id_self() % 16);
    if (buckets)
      return "unreachable";
    else
      OVSTHREAD_STATS_FOR_EACH_BUCKET(bucket, idx, stats_once(&stats)) {
        CHECK(*bucket == 5 && idx == ovsthread_id_self() % 16);
        buckets++;
      }
    CHECK(buckets == 1 && idx == 16 && bucket && *bucket == 5);
    OVSTHREAD_STATS_FOR_EACH_BUCKET(bucket, idx, &stats) { break; }
    CHECK(idx == ovsthread_id_self() % 16);
    free(bucket);
    stats.buckets[idx] = NULL;
    ovsthread_stats_destroy(&stats);
  }
  return NULL;
}
