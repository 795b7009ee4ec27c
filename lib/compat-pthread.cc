// SPDX-License-Identifier: Apache-2.0
//
// pthread functions that cannot fail.
#include <cstring>

#include "log.h"
#include "ovs-thread.h"

namespace {

void check(const char* function, int error) {
  if (error != 0) {
    ovsthread::fatal("%s failed: %s", function, strerrordesc_np(error));
  }
}

}  // namespace

void xpthread_mutexattr_init(pthread_mutexattr_t* attr) {
  check("pthread_mutexattr_init", pthread_mutexattr_init(attr));
}

void xpthread_mutexattr_destroy(pthread_mutexattr_t* attr) {
  check("pthread_mutexattr_destroy", pthread_mutexattr_destroy(attr));
}

void xpthread_mutexattr_settype(pthread_mutexattr_t* attr, int type) {
  check("pthread_mutexattr_settype", pthread_mutexattr_settype(attr, type));
}

void xpthread_mutexattr_gettype(pthread_mutexattr_t* attr, int* typep) {
  check("pthread_mutexattr_gettype", pthread_mutexattr_gettype(attr, typep));
}

void xpthread_rwlockattr_init(pthread_rwlockattr_t* attr) {
  check("pthread_rwlockattr_init", pthread_rwlockattr_init(attr));
}

void xpthread_rwlockattr_destroy(pthread_rwlockattr_t* attr) {
  check("pthread_rwlockattr_destroy", pthread_rwlockattr_destroy(attr));
}

#ifdef __GLIBC__
void xpthread_rwlockattr_setkind_np(pthread_rwlockattr_t* attr, int kind) {
  check("pthread_rwlockattr_setkind_np",
        pthread_rwlockattr_setkind_np(attr, kind));
}
#endif

void xpthread_cond_init(pthread_cond_t* cond, pthread_condattr_t* attr) {
  check("pthread_cond_init", pthread_cond_init(cond, attr));
}

void xpthread_cond_destroy(pthread_cond_t* cond) {
  check("pthread_cond_destroy", pthread_cond_destroy(cond));
}

void xpthread_cond_signal(pthread_cond_t* cond) {
  check("pthread_cond_signal", pthread_cond_signal(cond));
}

void xpthread_cond_broadcast(pthread_cond_t* cond) {
  check("pthread_cond_broadcast", pthread_cond_broadcast(cond));
}

void xpthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  check("pthread_key_create", pthread_key_create(key, destructor));
}

void xpthread_key_delete(pthread_key_t key) {
  check("pthread_key_delete", pthread_key_delete(key));
}

void xpthread_setspecific(pthread_key_t key, const void* value) {
  check("pthread_setspecific", pthread_setspecific(key, value));
}

void xpthread_sigmask(int how, const sigset_t* set, sigset_t* old_set) {
  check("pthread_sigmask", pthread_sigmask(how, set, old_set));
}

void xpthread_join(pthread_t thread, void** result) {
  check("pthread_join", pthread_join(thread, result));
}
