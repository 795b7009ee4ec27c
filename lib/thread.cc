// SPDX-License-Identifier: Apache-2.0
#include "thread.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "atomics.h"
#include "elision.h"
#include "log.h"
#include "rcu.h"
#include "thread-id.h"

// A program with Open vSwitch's logging learns the thread's name through this.
extern "C" void set_subprogram_name(const char* name) __attribute__((weak));

namespace ovsthread {
namespace {

using A = RealAtomics;

constexpr size_t kMinStack = size_t{512} * 1024;
constexpr int kNameBytes = 15;

A::Atomic<bool> multithreaded{false};
A::Atomic<const char*> fork_forbidden{nullptr};

struct Start {
  void* (*function)(void*);
  void* arg;
  char name[kNameBytes + 1];
};

// The kernel keeps 15 bytes: the end, as it tells threads apart.
void set_kernel_name(const char* name) {
  size_t length = strlen(name);
  char cut[kNameBytes + 1];
  if (length > kNameBytes) {
    snprintf(cut, sizeof cut, ">%s", name + length - (kNameBytes - 1));
    name = cut;
  }
  pthread_setname_np(pthread_self(), name);
}

void* run_thread(void* aux) {
  Start start = *static_cast<Start*>(aux);
  delete static_cast<Start*>(aux);
  ThreadName name;
  snprintf(name.text, sizeof name.text, "%s%u", start.name, thread_id());
  ovsthread_id_var = thread_id();
  thread_name_set(name.text);
  set_kernel_name(name.text);
  if (set_subprogram_name != nullptr) set_subprogram_name(name.text);
  rcu::quiesce_end();
  return start.function(start.arg);
}

int64_t now_seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

int read_affinity() {
  // The kernel refuses a set smaller than its own.
  constexpr int kMaxCpus = 1 << 20;
  for (int cpus = CPU_SETSIZE; cpus <= kMaxCpus; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) return 0;
    size_t size = CPU_ALLOC_SIZE(cpus);
    bool ok = sched_getaffinity(0, size, set) == 0;
    int count = ok ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (ok || errno != EINVAL) return count;
  }
  return 0;
}

}  // namespace

pthread_t create_thread(const char* name, void* (*start)(void*), void* arg) {
  elision::safe_point(OVS_SAFE_POINT_THREAD_START);
  forbid_fork("multiple threads exist");
  // Relaxed: the new thread is created after it.
  if (!multithreaded.exchange(true, kRelaxed)) rcu::quiesce_end();

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  size_t stack = 0;
  pthread_attr_getstacksize(&attributes, &stack);
  if (stack < kMinStack) pthread_attr_setstacksize(&attributes, kMinStack);
  Start* aux = new (std::nothrow) Start{start, arg, {}};
  if (aux == nullptr) fatal("out of memory for thread %s", name);
  snprintf(aux->name, sizeof aux->name, "%s", name);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run_thread, aux);
  if (error != 0)
    fatal("cannot create thread %s: %s", name, strerrordesc_np(error));
  pthread_attr_destroy(&attributes);
  rcu::start_helper();
  return thread;
}

// Relaxed: whoever can be asked was created after the store.
bool single_threaded() { return !multithreaded.load(kRelaxed); }

int count_usable_cpus() {
  constexpr int64_t kMaxAge = 10;
  // The second it was read in, above the count.  One word, so that no reader
  // pairs one thread's time with another's count; relaxed, as it is all.
  static A::Atomic<uint64_t> cache{0};
  constexpr int kCountBits = 24;
  uint64_t cached = cache.load(kRelaxed);
  int64_t now = now_seconds() + kMaxAge + 1;
  if (now - static_cast<int64_t>(cached >> kCountBits) >= kMaxAge) {
    cached = static_cast<uint64_t>(now) << kCountBits |
             static_cast<uint64_t>(read_affinity());
    cache.store(cached, kRelaxed);
  }
  return static_cast<int>(cached & ((1u << kCountBits) - 1));
}

pid_t fork_or_exit(const char* where) {
  elision::safe_point(OVS_SAFE_POINT_FORK);
  // Relaxed: the reason is a constant.
  const char* reason = fork_forbidden.load(kRelaxed);
  if (reason != nullptr) {
    fatal_exit("%s: fork is forbidden: %s", where, reason);
  }
  pid_t pid = fork();
  if (pid < 0) fatal_exit("%s: fork failed: %s", where, strerrordesc_np(errno));
  return pid;
}

void forbid_fork(const char* reason) {
  if (reason == nullptr) fatal("forbid_forking called without a reason");
  fork_forbidden.store(reason, kRelaxed);  // Relaxed: as above.
}

// Relaxed: as above.
bool fork_is_allowed() { return fork_forbidden.load(kRelaxed) == nullptr; }

void fatal_exit(const char* format, ...) {
  elision::safe_point(OVS_SAFE_POINT_MESSAGE);
  va_list args;
  va_start(args, format);
  vlog_message(OVSTHREAD_LOG_FATAL, format, args);
  va_end(args);
  exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): what it is for.
}

}  // namespace ovsthread
