/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that was not linked to the library loads it while a thread runs.
 * The thread then uses it: the library's thread-local storage must have found
 * room in blocks that were laid out before. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "openvswitch/thread.h"

static void *library;
static pthread_barrier_t loaded;
static struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;

/* Makes FUNCTION, a pointer to a function, point to the one called NAME. */
static int find(const char *name, void *function) {
  void *found = dlsym(library, name);

  *(void **)function = found;
  return found != NULL;
}

/* Returns the library's version, or NULL if it lacks a function. */
static void *use(void) {
  void (*lock)(const struct ovs_mutex *, const char *where);
  void (*unlock)(const struct ovs_mutex *, const char *where);
  const char *(*version)(void);

  if (!find("ovs_mutex_lock_at", &lock) ||
      !find("ovs_mutex_unlock_at", &unlock) ||
      !find("ovsthread_version", &version)) {
    return NULL;
  }
  lock(&mutex, "dlopen.c");
  unlock(&mutex, "dlopen.c");
  return (void *)version();
}

static void *use_when_loaded(void *aux) {
  (void)aux;
  pthread_barrier_wait(&loaded);
  return use();
}

int main(int argc, char *argv[]) {
  pthread_t thread;
  void *version = NULL;

  pthread_barrier_init(&loaded, NULL, 2);
  pthread_create(&thread, NULL, use_when_loaded, NULL);
  library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  pthread_barrier_wait(&loaded);
  pthread_join(thread, &version);
  if (!version || version != use()) {
    return 1;
  }
  printf("dlopen %s\n", (const char *)version);
  return 0;
}
