// SPDX-License-Identifier: Apache-2.0
#include "elision-veto.h"

namespace ovsthread::elision {

uint64_t Vetoes::place_of(const void* lock, const char* where) {
  uint64_t hash = reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15 +
                  reinterpret_cast<uintptr_t>(where);
  return (hash ^ hash >> 32) * 0xd6e8feb86659fd93 | 1;
}

bool Vetoes::look_up(const void* lock, const char* where) {
  uint64_t place = place_of(lock, where);
  Entry& entry = entry_of(place);
  if (entry.place != place) return false;
  if (entry.to_go > 0) {
    entry.to_go--;
    return true;
  }
  if (entry.tried) {
    entry = {};
    n_entries_--;
  } else {
    entry.tried = true;
  }
  return false;
}

void Vetoes::aborted(const void* lock, const char* where,
                     ovs_elision_abort cause) {
  unsigned strikes = cause == OVS_ABORT_CAPACITY     ? kClosing
                     : cause == OVS_ABORT_SAFE_POINT ? kSafePointStrikes
                     : cause == OVS_ABORT_COLD       ? kColdStrikes
                                                     : 0;
  uint64_t place = place_of(lock, where);
  Entry& entry = entry_of(place);
  if (strikes == 0) {
    if (entry.place == place) entry.tried = false;
    return;
  }
  if (entry.place != place) {
    n_entries_ += entry.place == 0;
    entry = {};
    entry.place = place;
  }
  entry.tried = false;
  entry.strikes += strikes;
  if (entry.window == 0 && entry.strikes < kClosing) return;
  unsigned window = entry.window == 0 ? kFirstWindow : 2u * entry.window;
  entry.window = window < kMaxWindow ? window : kMaxWindow;
  entry.to_go = entry.window;
}

}  // namespace ovsthread::elision
