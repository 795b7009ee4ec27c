/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that was not linked to the library loads it, after it has started a
 * thread: its thread-local storage must still find room in the static block. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void *library;

static void *call(void *aux) {
  const char *(*version)(void);

  *(void **)&version = dlsym(library, "ovsthread_version");
  return version ? (void *)version() : aux;
}

static void *wait_for_library(void *start) {
  pthread_barrier_wait(start);
  return call(NULL);
}

int main(int argc, char *argv[]) {
  pthread_barrier_t start;
  pthread_t thread;
  void *version = NULL;

  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&thread, NULL, wait_for_library, &start);
  library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  pthread_barrier_wait(&start);
  pthread_join(thread, &version);
  if (!version || version != call(NULL)) {
    return 1;
  }
  printf("dlopen %s\n", (const char *)version);
  return 0;
}
