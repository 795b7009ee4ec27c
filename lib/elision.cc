// SPDX-License-Identifier: Apache-2.0
#include "elision.h"

#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "elision-engine.h"
#include "log.h"

namespace ovsthread::elision {

constinit thread_local ThreadElision tls_elision{};
// Off until initialise().
constinit Histories histories;
constinit State state{kAttendNone, OVS_ELISION_OFF, OVS_ELISION_AUTO};

namespace {

// Why elision is active or not; for messages only.
RealAtomics::Atomic<const char*> reason{"the library has not been initialised"};

// What keeps transactions from running: null if trial ones committed.
constexpr const char* kUntried = "no transaction has been tried";
constexpr const char* kVanished =
    "transactions have stopped committing while the program ran, as when it is"
    " moved to a machine without them";
RealAtomics::Atomic<const char*> obstacle{kUntried};

// Whether trial transactions commit, which the mode must not forbid.  Through
// the engine, like every transaction.
bool trial_transactions_commit() {
  static constexpr LockKind kTrial = {.hold = Hold::kElidedExclusive,
                                      .mask = ~kLockElide,
                                      .owner_mask = ~0u,
                                      .owner_flag = 1,
                                      .recursive = 0,
                                      .real_only = 0,
                                      .recorded = false};
  // Several, so that no veto can forbid all of them.
  LibraryEngine::Word words[16] = {};
  bool committed = false;
  for (LibraryEngine::Word& word : words) {
    word.store(kLockLive | kLockElide, kRelaxed);
    Attempts attempts;
    if (LibraryEngine::acquire(kTrial, word, nullptr, true, attempts) ==
        Acquired::kElided) {
      LibraryEngine::release(tls_elision.held.find(&word));
      committed = true;
    }
  }
  return committed;
}

// Null if transactions work here, else why they don't.
const char* find_obstacle() {
  // Relaxed: the strings are constant, and trying twice does no harm.
  const char* found = obstacle.load(kRelaxed);
  if (found != kUntried && found != kVanished) return found;
  bool first = found == kUntried;
  found = TransactionLayer::why_not();
  if (found == nullptr) {
    // Relaxed: if others elide meanwhile, that is no harm.
    ovs_elision_mode before =
        state.effective.exchange(OVS_ELISION_ALWAYS, kRelaxed);
    if (!trial_transactions_commit()) {
      found = first ? "the CPU claims RTM, but no trial transaction committed"
                    : kVanished;
    }
    state.effective.store(before, kRelaxed);
    if (first) ovs_elision_counts_reset();
  }
  obstacle.store(found, kRelaxed);
  return found;
}

// Trivially destructible: threads may go on while the process exits.
pthread_mutex_t attention_lock = PTHREAD_MUTEX_INITIALIZER;

// To be called after each change of what it depends on.
void pay_attention() {
  pthread_mutex_lock(&attention_lock);
  // Relaxed: locks work in any state.
  ovs_elision_mode mode = LibraryProcess::mode();
  unsigned attention = mode == OVS_ELISION_OFF    ? kAttendNone
                       : mode == OVS_ELISION_AUTO ? kAttendMode
                                                  : kAttendAll;
  if (stats::switched.recording.load(kRelaxed)) attention |= kAttendCount;
  state.attention.store(static_cast<Attention>(attention), kRelaxed);
  pthread_mutex_unlock(&attention_lock);
}

void switch_to(ovs_elision_mode mode, bool active, const char* why) {
  // Relaxed: locks work in any state, and the reason is only read by people.
  reason.store(why, kRelaxed);
  state.mode.store(mode, kRelaxed);
  state.effective.store(active ? mode : OVS_ELISION_OFF, kRelaxed);
  pay_attention();
}

// Before main(), so that locks need not ask whether it has been done.
__attribute__((constructor)) void initialise() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  const char* setting = getenv("OVSTHREAD_ELISION");
  ovs_elision_mode mode = OVS_ELISION_AUTO;
  if (setting == nullptr || strcmp(setting, "auto") == 0) {
    mode = OVS_ELISION_AUTO;
  } else if (strcmp(setting, "always") == 0) {
    mode = OVS_ELISION_ALWAYS;
  } else if (strcmp(setting, "off") == 0) {
    switch_to(OVS_ELISION_OFF, false, "switched off by OVSTHREAD_ELISION=off");
    return;
  } else {
    log_message(OVSTHREAD_LOG_WARN,
                "OVSTHREAD_ELISION=%s: not off, auto or always; auto is used",
                setting);
  }
  if (ovs_elision_set_mode(mode) != 0) {
    log_message(OVSTHREAD_LOG_WARN,
                "OVSTHREAD_ELISION=always: locks are taken for real: %s",
                find_obstacle());
    ovs_elision_set_mode(OVS_ELISION_AUTO);
  }
}

}  // namespace

void suspect_storm() {
  // Relaxed: locks work in any state.
  ovs_elision_mode mode = state.effective.load(kRelaxed);
  const Counter& started = tls_elision.counts->started;
  uint64_t before = started.read();
  if (trial_transactions_commit() || started.read() == before) return;
  // Unless the mode was changed meanwhile.  Others that are inside transactions
  // have subscribed to the word.
  if (!state.effective.compare_exchange(mode, OVS_ELISION_OFF, kRelaxed,
                                        kRelaxed)) {
    return;
  }
  obstacle.store(kVanished, kRelaxed);
  reason.store(kVanished, kRelaxed);
  pay_attention();
}

bool in_transaction() { return tls_elision.held.any_elided(); }

void attend_to_recording() { pay_attention(); }

void waits_for(RealAtomics::Atomic<uint32_t>& word) {
  LibraryEngine::waits(word);
}

void attend_in_child() {
  // What it guards can be found out again, so no fork need wait for it.
  attention_lock = PTHREAD_MUTEX_INITIALIZER;
  pay_attention();
}

void safe_point(ovs_safe_point what) { LibraryEngine::safe_point(what); }

}  // namespace ovsthread::elision

int ovs_elision_set_mode(ovs_elision_mode mode) {
  using namespace ovsthread::elision;
  safe_point(OVS_SAFE_POINT_MODE_CHANGE);
  switch (mode) {
    case OVS_ELISION_OFF:
      switch_to(mode, false, "switched off by ovs_elision_set_mode()");
      return 0;
    case OVS_ELISION_AUTO:
    case OVS_ELISION_ALWAYS: {
      const char* found = find_obstacle();
      if (found == nullptr) {
        switch_to(mode, true, "trial transactions committed");
      } else if (mode == OVS_ELISION_ALWAYS) {
        return ENOTSUP;
      } else {
        switch_to(mode, false, found);
      }
      return 0;
    }
    default:
      return EINVAL;
  }
}

ovs_elision_mode ovs_elision_get_mode() {
  return ovsthread::elision::state.mode.load(ovsthread::kRelaxed);
}

void ovs_elision_get_status(ovs_elision_status* status) {
  using namespace ovsthread::elision;
  const char* found = obstacle.load(ovsthread::kRelaxed);
  if (found == kUntried) found = ovsthread::TransactionLayer::why_not();
  status->compiled = ovsthread::TransactionLayer::kCompiled;
  status->available = found == nullptr;
  status->active = LibraryEngine::active();
  status->reason = reason.load(ovsthread::kRelaxed);
}
