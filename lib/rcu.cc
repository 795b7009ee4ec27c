// SPDX-License-Identifier: Apache-2.0
//
// The one domain of the process: which thread has which record, who runs
// callbacks, and what happens at thread exit, fork and process exit.
//
// Until the first ovs_thread_create() there is no helper thread, and threads
// that quiesce run what is due.  That needs no special case for a process with
// one thread: no other record holds up a grace period then, so all of it is
// due.  A child of fork is back in that state.
//
// Nothing here is ever destroyed: threads may run while the process exits.
#include "rcu.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "atomics.h"
#include "elision.h"
#include "log.h"
#include "rcu-core.h"
#include "rcu-sleepers.h"
#include "thread-id.h"
#include "thread.h"

namespace ovsthread::rcu {
namespace {

using A = RealAtomics;
using Domain = Core<A, Sleepers>;
using Record = Domain::Record;
using elision::safe_point;

constinit Domain domain;

thread_local Record* tls_record = nullptr;
// The thread is past the point where its callbacks were handed over.
thread_local bool tls_exiting = false;

// Who runs the callbacks.
enum Mode : uint32_t {
  kQuiescers,  // Threads that quiesce; no helper exists.
  kHelper,     // The helper thread.
  kExit,       // The thread that is in exit(), and nobody after it.
};
A::Atomic<uint32_t> mode{kQuiescers};

A::Atomic<bool> helper_must_end{false};
A::Atomic<bool> helper_has_ended{false};

// How long callbacks may gather before the helper asks readers for a wake-up.
constexpr useconds_t kGatherMicroseconds = 1000;

// Registration.

pthread_key_t exit_key;
pthread_once_t init_once = PTHREAD_ONCE_INIT;

void unregister(Record& record) {
  domain.deactivate(record);
  tls_record = nullptr;
  domain.remove(record);
}

void on_thread_exit(void* aux) {
  Record& record = *static_cast<Record*>(aux);
  if (domain.is_running(record)) {
    fatal("thread %s ended inside an RCU callback", thread_name().text);
  }
  record.guard_depth = 0;
  record.guard_activated = false;
  tls_exiting = true;
  unregister(record);
}

void before_fork() { safe_point(OVS_SAFE_POINT_FORK); }

void in_child_of_fork() {
  domain.drop_others(tls_record);
  // Relaxed, here and below: nobody else is left.
  if (mode.load(kRelaxed) == kHelper) mode.store(kQuiescers, kRelaxed);
  helper_must_end.store(false, kRelaxed);
  helper_has_ended.store(false, kRelaxed);
}

void init() {
  if (pthread_key_create(&exit_key, on_thread_exit) != 0 ||
      pthread_atfork(before_fork, nullptr, in_child_of_fork) != 0) {
    fatal("no resources for RCU: thread-specific key or fork handler");
  }
}

Record& register_thread() {
  safe_point(OVS_SAFE_POINT_RCU_REGISTER);
  pthread_once(&init_once, init);
  // The warning about a thread that doesn't quiesce has only its number.
  thread_name_set(thread_name().text);
  tls_record = domain.add(thread_id());
  pthread_setspecific(exit_key, tls_record);
  return *tls_record;
}

Record& self() {
  return __builtin_expect(tls_record != nullptr, 1) ? *tls_record
                                                    : register_thread();
}

// For calls that may not come from inside a read-side guard.
Record& unguarded_self(const char* call) {
  Record& record = self();
  if (record.guard_depth != 0) {
    fatal("%s called inside a read-side guard by thread %s", call,
          thread_name().text);
  }
  return record;
}

// For calls that wait for callbacks.
Record& waiting_self(const char* call) {
  Record& record = unguarded_self(call);
  if (domain.is_running(record)) {
    fatal("%s called from an RCU callback by thread %s", call,
          thread_name().text);
  }
  return record;
}

// Whether the caller is the only thread that RCU and the library know of.
bool is_alone() { return single_threaded() && !domain.has_others(tls_record); }

bool quiescers_run_callbacks() {
  // Relaxed: the runner's lock decides who runs; a late look changes nothing.
  return mode.load(kRelaxed) == kQuiescers;
}

void quiesce_and_run(Record& record) {
  domain.quiesce(record);
  if (quiescers_run_callbacks() && domain.has_pending()) domain.run(record);
}

// Makes RECORD quiescent.  Wait-free, and allowed in a transaction, unless
// there are callbacks to hand over or to run.
void leave(Record& record) {
  bool run = quiescers_run_callbacks();
  if (!record.batch.empty() || (run && domain.has_pending())) {
    safe_point(OVS_SAFE_POINT_QUIESCE);
    if (run) quiesce_and_run(record);
  }
  domain.deactivate(record);
}

void post(Record& record, Function function, void* arg) {
  if (__builtin_expect(!record.batch.has_room(), 0)) {
    safe_point(OVS_SAFE_POINT_ALLOCATION);
    record.batch.grow();
  }
  record.batch.post(function, arg);
}

// All threads that are active now quiesce; RECORD is quiescent afterwards.
uint64_t wait_for_readers(Record& record) {
  domain.deactivate(record);
  uint64_t target = domain.advance();
  domain.wait_for_readers(target);
  return target;
}

void wait_for_callbacks(Record& record) {
  // Whoever postponed something before has handed it over by the end of this.
  wait_for_readers(record);
  uint64_t target = domain.epoch();
  domain.wait_for_readers(target);
  domain.wait_for_callbacks(target, record);
}

// The helper thread.

void* helper_main(void*) {
  char name[32];
  snprintf(name, sizeof name, "urcu%u", thread_id());
  thread_name_set(name);
  pthread_setname_np(pthread_self(), name);
  Record& record = self();
  // Relaxed: a request only.
  auto must_end = [] { return helper_must_end.load(kRelaxed); };
  for (;;) {
    domain.deactivate(record);
    domain.wait_for_work(must_end);
    if (must_end()) break;
    usleep(kGatherMicroseconds);
    domain.wait_for_readers(domain.epoch());
    domain.quiesce(record);
    domain.run(record);
  }
  // (18) all that the helper has done; pairs with (19).
  helper_has_ended.store(true, A::release(18));
  domain.sleepers().wake();
  return nullptr;
}

void stop_helper() {
  helper_must_end.store(true, kRelaxed);  // Relaxed: a request only.
  domain.sleepers().wake();
  Sleepers::Wait wait(domain.sleepers());
  for (;;) {
    wait.prepare();
    // (19) all that the helper has done; pairs with (18).
    if (helper_has_ended.load(A::acquire(19))) return;
    wait.sleep();
  }
}

}  // namespace

void start_helper() {
  safe_point(OVS_SAFE_POINT_THREAD_START);
  uint32_t expected = kQuiescers;
  // Relaxed: there is only a choice to make.
  if (!mode.compare_exchange(expected, kHelper, kRelaxed, kRelaxed)) return;
  pthread_once(&init_once, init);
  // Signals are for the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t helper;
  int error = pthread_create(&helper, nullptr, helper_main, nullptr);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error != 0) fatal("cannot create the RCU helper thread: error %d", error);
  pthread_detach(helper);
}

void postpone(Function function, void* arg) {
  Record* record = tls_record;
  if (__builtin_expect(record != nullptr && record->active, 1)) {
    post(*record, function, arg);
  } else if (tls_exiting) {
    retire(function, arg);  // Nobody would hand it over later.
  } else {
    domain.activate(self());
    post(*tls_record, function, arg);
  }
}

void retire(Function function, void* arg) {
  Record* record = tls_record;
  if (record != nullptr && record->active) {
    post(*record, function, arg);
    return;
  }
  safe_point(OVS_SAFE_POINT_QUIESCE);
  record = &self();
  domain.activate(*record);
  post(*record, function, arg);
  if (tls_exiting) {
    unregister(*record);
    pthread_setspecific(exit_key, nullptr);
  } else {
    domain.deactivate(*record);
  }
}

bool is_quiescent() {
  const Record* record = tls_record;
  return record == nullptr || !record->active;
}

uint64_t read_section() {
  // Relaxed: only the thread itself writes it.
  return tls_record == nullptr ? 0 : tls_record->seen.load(kRelaxed);
}

void quiesce() {
  safe_point(OVS_SAFE_POINT_QUIESCE);
  quiesce_and_run(unguarded_self("ovsrcu_quiesce"));
}

bool try_quiesce() {
  safe_point(OVS_SAFE_POINT_QUIESCE);
  if (is_alone()) {
    fatal("ovsrcu_try_quiesce called in a single-threaded process");
  }
  quiesce_and_run(unguarded_self("ovsrcu_try_quiesce"));
  return true;
}

void quiesce_start() {
  safe_point(OVS_SAFE_POINT_QUIESCE);
  leave(unguarded_self("ovsrcu_quiesce_start"));
}

void quiesce_end() {
  Record& record = self();
  // Inside a guard: stay active after it.
  record.guard_activated = false;
  if (!record.active) domain.activate(record);
}

void synchronize() {
  if (is_alone()) return;
  synchronize_keeping_state();
  quiesce_end();
}

void synchronize_keeping_state() {
  safe_point(OVS_SAFE_POINT_SYNCHRONIZE);
  Record& record = unguarded_self("synchronize");
  bool was_active = record.active;
  wait_for_readers(record);
  if (was_active) domain.activate(record);
}

void barrier() {
  barrier_keeping_state();
  quiesce_end();
}

void barrier_keeping_state() {
  safe_point(OVS_SAFE_POINT_BARRIER);
  Record& record = waiting_self("barrier");
  bool was_active = record.active;
  // Relaxed: whoever calls both from two threads gets either.
  if (mode.load(kRelaxed) == kExit) {
    wait_for_readers(record);
  } else {
    wait_for_callbacks(record);
  }
  was_active ? domain.quiesce(record) : domain.deactivate(record);
}

void exit() {
  safe_point(OVS_SAFE_POINT_BARRIER);
  Record& record = waiting_self("ovsrcu_exit");
  // Relaxed: joining the helper orders what follows.
  uint32_t old_mode = mode.exchange(kExit, kRelaxed);
  if (old_mode == kExit) return;
  domain.deactivate(record);
  if (old_mode == kHelper) stop_helper();
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; i++) {
    wait_for_callbacks(record);
    if (record.batch.empty()) break;
  }
}

void guard_lock() {
  Record& record = self();
  if (record.guard_depth++ != 0 || record.active) return;
  domain.activate(record);
  record.guard_activated = true;
}

void guard_unlock() {
  Record* record = tls_record;
  if (record == nullptr || record->guard_depth == 0) {
    fatal("read-side guard unlocked by thread %s, which does not hold it",
          thread_name().text);
  }
  if (--record->guard_depth != 0 || !record->guard_activated) return;
  record->guard_activated = false;
  leave(*record);
}

}  // namespace ovsthread::rcu
