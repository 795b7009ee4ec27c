// SPDX-License-Identifier: Apache-2.0
#include "lock-stats-recorder.h"

#include <time.h>

#include <cstdlib>

#include "lock-stats-registry.h"

namespace ovsthread::stats {

constinit Switch switched{};
constinit Recorder::Slot Recorder::no_slot_{};

namespace {

// Shared tallies have several writers.
bool is_shared(const Tally& tally) {
  return tally.place.load(kRelaxed) == kOthers;
}

void add(const Tally& tally, Count& count, uint64_t n) {
  if (__builtin_expect(is_shared(tally), 0)) {
    count.fetch_add(n, kRelaxed);
  } else {
    count.store(count.load(kRelaxed) + n, kRelaxed);
  }
}

void add_wait(Tally& tally, uint64_t ns) {
  add(tally, tally.contended, 1);
  add(tally, tally.waited_ns, ns);
  uint32_t epoch = current_epoch();
  if (tally.epoch.load(kRelaxed) != epoch) {
    tally.longest_ns.store(0, kRelaxed);
    tally.epoch.store(epoch, kRelaxed);
  }
  uint64_t longest = tally.longest_ns.load(kRelaxed);
  while (ns > longest &&
         !tally.longest_ns.compare_exchange(longest, ns, kRelaxed, kRelaxed)) {
  }
}

void set_way(Tally& tally, uint32_t way) {
  if (way != OVS_LOCK_WAY_UNKNOWN && tally.way.load(kRelaxed) != way) {
    tally.way.store(way, kRelaxed);
  }
}

}  // namespace

uint64_t Recorder::now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 +
         static_cast<uint64_t>(time.tv_nsec);
}

uint32_t Recorder::end_gap() {
  uint32_t weight = gap_;
  if (n_single_ < kSingly) {
    n_single_++;
  } else {
    // A linear congruence (Numerical Recipes); the upper bits are the good
    // ones.
    random_ = random_ * 1664525 + 1013904223;
    gap_ = 1 + random_ / (UINT32_MAX / kMaxGap + 1);
  }
  to_pass_ = gap_ - 1;
  return weight;
}

void Recorder::abort(const void* lock, const char* where, ovs_lock_use use,
                     ovs_elision_abort cause, unsigned safe_point) {
  n_notes_ = 0;
  Tally& tally = tally_of(lock, where, use);
  add(tally, tally.aborts[cause], 1);
  if (cause == OVS_ABORT_SAFE_POINT) {
    add(tally, tally.safe_points[safe_point], 1);
  }
  if (cause == OVS_ABORT_BUSY) wait();
}

void Recorder::end_wait(const void* lock, const char* where, ovs_lock_use use) {
  add_wait(tally_of(lock, where, use), waited());
  waiting_since_ = 0;
}

void Recorder::take_slowly(const void* lock, const char* where,
                           ovs_lock_use use) {
  uint64_t ns = waited();
  Tally& tally = tally_of(lock, where, use);
  add(tally, tally.real, weight_);
  if (__builtin_expect(ns != 0, 0)) add_wait(tally, ns);
  set_way(tally, way_);
  leave();
}

void Recorder::note(const void* lock, const char* where, ovs_lock_use use,
                    bool elided) {
  unsigned i = 0;
  while (i < n_notes_ && (notes_[i].lock != lock || notes_[i].where != where ||
                          notes_[i].use != use)) {
    i++;
  }
  if (i == kNotes) {
    not_noted_elided_ += elided;
    not_noted_real_ += !elided;
    return;
  }
  if (i == n_notes_) notes_[n_notes_++] = {lock, where, use, 0, 0};
  notes_[i].elided += elided;
  notes_[i].real += !elided;
}

void Recorder::add_notes() {
  Tally* tally = first_;
  if (__builtin_expect(waited_ != 0, 0)) add_wait(*tally, waited_);
  set_way(*tally, OVS_LOCK_WAY_ELIDES);
  const uint64_t weight = weight_;
  for (unsigned i = 0;;) {
    add(*tally, tally->elided, notes_[i].elided * weight);
    if (notes_[i].real != 0) add(*tally, tally->real, notes_[i].real * weight);
    if (++i == n_notes_) break;
    tally = &tally_of(notes_[i].lock, notes_[i].where, notes_[i].use);
  }
  n_notes_ = 0;
  if (__builtin_expect(not_noted_elided_ + not_noted_real_ != 0, 0)) {
    Tally& others = shared_tally();
    add(others, others.elided, not_noted_elided_ * weight);
    add(others, others.real, not_noted_real_ * weight);
  }
  leave();
}

void Recorder::forget() {
  if (slots_ != &no_slot_) free(slots_);
  slots_ = &no_slot_;
  mask_ = 0;
  n_used_ = 0;
  n_notes_ = 0;
  begin();
}

Recorder::Slot& Recorder::slot_of(const void* lock, const char* where,
                                  ovs_lock_use use) {
  for (uint32_t i = hash_of(lock, where, use);; i++) {
    Slot& slot = slots_[i & mask_];
    if ((slot.lock == lock && slot.where == where && slot.use == use) ||
        slot.lock == nullptr) {
      return slot;
    }
  }
}

// Whether there is room for one more, so that a search still ends.
bool Recorder::grow() {
  uint32_t n_old = mask_ + 1;
  if (n_used_ < n_old / 2) return true;
  if (n_old == kMaxSlots) return false;
  uint32_t n = slots_ == &no_slot_ ? kFirstSlots : 2 * n_old;
  Slot* slots = static_cast<Slot*>(calloc(n, sizeof *slots));
  if (slots == nullptr) return false;
  Slot* old = slots_;
  slots_ = slots;
  mask_ = n - 1;
  for (uint32_t i = 0; i < n_old; i++) {
    if (old[i].lock == nullptr) continue;
    slot_of(old[i].lock, old[i].where, old[i].use) = old[i];
  }
  if (old != &no_slot_) free(old);
  return true;
}

void Recorder::fill(Slot& slot, const void* lock, const char* where,
                    ovs_lock_use use) {
  Tally& tally = claim_tally(lock, where, use);
  const Place* place = is_shared(tally) ? nullptr : &place_of(tally);
  slot = {lock, where, use, &tally, place};
}

Tally& Recorder::tally_of(const void* lock, const char* where,
                          ovs_lock_use use) {
  if (Tally* tally = find(lock, where, use)) return *tally;
  Slot& slot = slot_of(lock, where, use);
  if (slot.lock == nullptr) {
    if (!grow()) return shared_tally();
    Slot& added = slot_of(lock, where, use);
    fill(added, lock, where, use);
    n_used_++;
    return *added.tally;
  }
  // Relaxed: as in find().
  if (slot.place != nullptr && slot.place->closed.load(kRelaxed)) {
    fill(slot, lock, where, use);
  }
  return *slot.tally;
}

}  // namespace ovsthread::stats
