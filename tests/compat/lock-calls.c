/* SPDX-License-Identifier: Apache-2.0
 *
 * The locks of openvswitch/thread.h and ovs-thread.h as programs use them; see
 * calls.h. */
#include <errno.h>

#include "ovs-thread.h"
#include "tests/compat/calls.h"

static struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
static int balance OVS_GUARDED_BY(mutex);
static struct ovs_rwlock rwlock = OVS_RWLOCK_INITIALIZER;
static int limit OVS_GUARDED_BY(rwlock);
static struct ovs_spin spin;
static int spun OVS_GUARDED_BY(spin);
static struct ovs_mutex after OVS_ACQ_AFTER(mutex) = OVS_MUTEX_INITIALIZER;

struct account {
  int before;
  struct ovs_mutex mutex;
  struct ovs_rwlock rwlock;
  struct ovs_spin spin;
  int sum OVS_GUARDED;
};

static struct account account = {
    0, OVS_MUTEX_INITIALIZER, OVS_RWLOCK_INITIALIZER, {0, NULL}, 0};
static struct ovs_mutex adaptive = OVS_ADAPTIVE_MUTEX_INITIALIZER;
#ifndef __cplusplus
static struct ovs_mutex mutexes[] = {[0 ... 3] = OVS_MUTEX_INITIALIZER};
#endif

static void deposit(int amount) OVS_REQUIRES(mutex) { balance += amount; }

static int get_limit(void) OVS_REQ_RDLOCK(rwlock) { return limit; }

static void set_limit(int value) OVS_REQ_WRLOCK(rwlock) { limit = value; }

static void take(void) OVS_EXCLUDED(mutex) OVS_ACQUIRES(mutex) {
  ovs_mutex_lock(&mutex);
}

static void give_back(void) OVS_RELEASES(mutex) { ovs_mutex_unlock(&mutex); }

static int try_to_take(void) OVS_TRY_LOCK(0, mutex) {
  return ovs_mutex_trylock(&mutex);
}

static const char *annotated(void) OVS_EXCLUDED(mutex, rwlock) {
  bool free = false, busy;
  int found;
  take();
  deposit(2);
  ovs_mutex_lock(&after);
  ovs_mutex_unlock(&after);
  give_back();
  if (!try_to_take()) {
    free = true;
    deposit(-2);
    give_back();
  }
  CHECK(free);
  ovs_mutex_lock(&mutex);
  found = balance;
  ovs_mutex_unlock(&mutex);
  CHECK(found == 0);

  ovs_rwlock_wrlock(&rwlock);
  set_limit(3);
  ovs_rwlock_unlock(&rwlock);
  ovs_rwlock_rdlock(&rwlock);
  found = get_limit();
  ovs_rwlock_unlock(&rwlock);
  CHECK(found == 3);
  free = busy = false;
  if (!ovs_rwlock_tryrdlock(&rwlock)) {
    free = get_limit() == 3;
    ovs_rwlock_unlock(&rwlock);
  }
  if (!ovs_rwlock_trywrlock(&rwlock)) {
    set_limit(0);
    ovs_rwlock_unlock(&rwlock);
  } else {
    busy = true;
  }
  CHECK(free && !busy);

  ovs_spin_init(&spin);
  ovs_spin_lock(&spin);
  spun = 1;
  ovs_spin_unlock(&spin);
  free = false;
  if (!ovs_spin_trylock(&spin)) {
    free = ++spun == 2;
    ovs_spin_unlock(&spin);
  }
  CHECK(free);
  ovs_spin_destroy(&spin);
  return NULL;
}

static int evaluations;

static const struct account *account_once(void) {
  evaluations++;
  return &account;
}

/* What the analysis can't follow. */
OVS_NO_THREAD_SAFETY_ANALYSIS static const char *not_annotated(void) {
  evaluations = 0;
  ovs_mutex_lock(&account_once()->mutex);
  CHECK(ovs_mutex_trylock(&account_once()->mutex) == EBUSY);
  ovs_mutex_unlock(&account_once()->mutex);
  ovs_rwlock_rdlock(&account_once()->rwlock);
  CHECK(ovs_rwlock_trywrlock(&account_once()->rwlock) == EBUSY);
  CHECK(ovs_rwlock_tryrdlock(&account_once()->rwlock) == 0);
  ovs_rwlock_unlock(&account_once()->rwlock);
  ovs_rwlock_unlock(&account_once()->rwlock);
  CHECK(evaluations == 8);
  ovs_spin_init(&account.spin);
  ovs_spin_lock(&account_once()->spin);
  CHECK(ovs_spin_trylock(&account_once()->spin) == EBUSY);
  ovs_spin_unlock(&account_once()->spin);
  CHECK(evaluations == 11);

  void (*lock)(const struct ovs_mutex *, const char *) = ovs_mutex_lock_at;
  void (*unlock)(const struct ovs_mutex *) = ovs_mutex_unlock;
  lock(&adaptive, "somewhere:1");
  (ovs_mutex_unlock)(&adaptive);
  lock(&adaptive, "somewhere:2");
  unlock(&adaptive);
  void (*destroy)(struct ovs_mutex *) = ovs_mutex_destroy;
  void (*unlock_rwlock)(const struct ovs_rwlock *) = ovs_rwlock_unlock;
  ovs_rwlock_wrlock(&account.rwlock);
  unlock_rwlock(&account.rwlock);
  void (*lock_spin)(const struct ovs_spin *, const char *) = ovs_spin_lock_at;
  void (*unlock_spin)(const struct ovs_spin *) = ovs_spin_unlock;
  void (*destroy_spin)(struct ovs_spin *) = ovs_spin_destroy;
  lock_spin(&account.spin, "somewhere:3");
  (ovs_spin_unlock)(&account.spin);
  CHECK((ovs_spin_trylock_at)(&account.spin, "somewhere:4") == 0);
  unlock_spin(&account.spin);
  destroy_spin(&account.spin);

  struct ovs_mutex recursive, dynamic;
  ovs_mutex_init_recursive(&recursive);
  ovs_mutex_lock(&recursive);
  CHECK(ovs_mutex_trylock(&recursive) == 0);
  ovs_mutex_lock(&recursive);
  ovs_mutex_unlock(&recursive);
  ovs_mutex_unlock(&recursive);
  ovs_mutex_unlock(&recursive);
  ovs_mutex_destroy(&recursive);
  ovs_mutex_init_adaptive(&dynamic);
  ovs_mutex_lock(&dynamic);
  ovs_mutex_unlock(&dynamic);
  destroy(&dynamic);
  ovs_mutex_init(&dynamic);
  ovs_mutex_destroy(&dynamic);
#ifndef __cplusplus
  for (size_t i = 0; i < ARRAY_SIZE(mutexes); i++) {
    ovs_mutex_lock(&mutexes[i]);
    ovs_mutex_unlock(&mutexes[i]);
  }
#endif

  struct ovs_rwlock own_rwlock;
  ovs_rwlock_init(&own_rwlock);
  ovs_rwlock_wrlock(&own_rwlock);
  ovs_rwlock_unlock(&own_rwlock);
  ovs_rwlock_destroy(&own_rwlock);
  return NULL;
}

static const char *once(void) {
  static struct ovsthread_once done = OVSTHREAD_ONCE_INITIALIZER;
  int times = 0;
  for (int i = 0; i < 3; i++) {
    if (ovsthread_once_start(&done)) {
      times++;
      ovsthread_once_done(&done);
    }
  }
  CHECK(times == 1);
  struct ovsthread_once dynamic;
#ifdef __cplusplus
  dynamic = OVSTHREAD_ONCE_INITIALIZER;
#else
  dynamic = (struct ovsthread_once)OVSTHREAD_ONCE_INITIALIZER;
#endif
  if (ovsthread_once_start(&dynamic)) {
    ovsthread_once_done(&dynamic);
  }
  ovsthread_once_destroy(&dynamic);
  return NULL;
}

static struct ovs_mutex wait_mutex = OVS_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool ready OVS_GUARDED_BY(wait_mutex);

static void *signaller(void *aux) {
  ovs_mutex_lock(&wait_mutex);
  ready = true;
  ovs_mutex_unlock(&wait_mutex);
  xpthread_cond_signal(&condition);
  return aux;
}

static const char *conditions(void) {
  ovs_mutex_lock(&wait_mutex);
  ready = false;
  pthread_t thread = ovs_thread_create("signaller", signaller, NULL);
  while (!ready) {
    ovs_mutex_cond_wait(&condition, &wait_mutex);
  }
  ovs_mutex_unlock(&wait_mutex);
  xpthread_join(thread, NULL);
  ovsrcu_quiesce_start();
  return NULL;
}

const char *CALLS(lock)(void) {
  const char *(*const tests[])(void) = {annotated, not_annotated, once,
                                        conditions};
  for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
    const char *failure = tests[i]();
    if (failure) {
      return failure;
    }
  }
  return NULL;
}
