// SPDX-License-Identifier: Apache-2.0
//
// Places where elision is no use, as one thread has learned them.
//
// A section that never fits into a transaction, or always reaches a safe point,
// costs an abort each time.  A place (a lock and a call site) that aborts so is
// closed for a window of acquisitions, which don't try; the first try behind
// the window either aborts again and doubles it, or ends the veto.  Aborts that
// may be bad luck (a safe point on an unusual path, a page touched first) close
// a place only if enough of them follow each other without a success between.
//
//   state \ event  abort                     entered, with no abort since the
//                                            last try
//   no entry       capacity: closed(first)   -
//                  else: strikes             -
//   strikes        capacity, or too many:    entry ends
//                  closed(first)
//   closed         -                         one less to go, for real
//   open again     closed(doubled)           entry ends
//
// Other aborts (conflicts, a busy lock) say nothing about the place: the try
// counts as not made.
// A commit is seen only at the next entry, since sections write nothing on the
// library's behalf.  Places that collide replace each other: a veto is a hint.
// Wait-free.
#ifndef OVSTHREAD_LIB_ELISION_VETO_H_
#define OVSTHREAD_LIB_ELISION_VETO_H_

#include <ovsthread/elision.h>

#include <cstdint>

namespace ovsthread::elision {

class Vetoes {
 public:
  static constexpr unsigned kFirstWindow = 16;
  static constexpr unsigned kMaxWindow = 1 << 14;
  // Strikes that close a place, and what aborts add.
  static constexpr unsigned kClosing = 16;
  static constexpr unsigned kSafePointStrikes = 4;
  static constexpr unsigned kColdStrikes = 1;

  // Whether the acquisition of LOCK at WHERE that begins now must not try.
  bool forbid(const void* lock, const char* where) {
    return __builtin_expect(n_entries_ != 0, 0) && look_up(lock, where);
  }

  // A try that forbid() allowed has ended for real because of CAUSE.
  void aborted(const void* lock, const char* where, ovs_elision_abort cause);

 private:
  static constexpr unsigned kLogEntries = 6;

  struct Entry {
    uint64_t place;   // 0: none
    uint16_t window;  // 0: never closed so far
    uint16_t to_go;   // acquisitions that don't try yet
    uint16_t strikes;
    bool tried;  // since the last abort
  };

  static uint64_t place_of(const void* lock, const char* where);
  Entry& entry_of(uint64_t place) {
    return entries_[place >> (64 - kLogEntries)];
  }
  bool look_up(const void* lock, const char* where);

  unsigned n_entries_ = 0;
  Entry entries_[1 << kLogEntries] = {};
};

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_VETO_H_
