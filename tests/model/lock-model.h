// SPDX-License-Identifier: Apache-2.0
//
// What a lock promises, in plain words of code: who may hold what, and what
// every operation answers.  It knows nothing of words, transactions or waiting.
//
// There are two threads, the one that a test watches and another one.
#ifndef OVSTHREAD_TESTS_MODEL_LOCK_MODEL_H_
#define OVSTHREAD_TESTS_MODEL_LOCK_MODEL_H_

#include <cstdint>

namespace ovsthread::model {

enum class Who : uint8_t { kMe, kOther };

// Misuse is told apart by what the message must say.
enum class Answer : uint8_t {
  kDone,
  kBusy,       // a try that fails
  kWaits,      // until the other thread has released
  kDeadlock,   // misuse from here on
  kNotHeld,    //
  kHeld,       // destroy
  kDestroyed,  //
  kUninitialised,
};

constexpr bool is_misuse(Answer answer) { return answer > Answer::kWaits; }

class LockModel {
 public:
  // NESTS: exclusive holds do, in one thread.
  void init(bool nests) {
    *this = {};
    state_ = State::kLive;
    nests_ = nests;
  }

  bool live() const { return state_ == State::kLive; }
  unsigned exclusive(Who who) const { return holds(who).exclusive; }
  unsigned shared(Who who) const { return holds(who).shared; }
  unsigned holds_of(Who who) const { return exclusive(who) + shared(who); }
  bool is_free() const {
    return holds_of(Who::kMe) == 0 && holds_of(Who::kOther) == 0;
  }

  // The other thread waits to hold it exclusively; readers get out of its way.
  void set_writer_waits(bool waits) { writer_waits_ = waits; }

  // TRY: doesn't wait.
  Answer lock(Who who, bool try_only) const {
    if (!live()) return dead();
    const Holds& mine = holds(who);
    if (mine.exclusive) {
      if (nests_) return Answer::kDone;
      return try_only ? Answer::kBusy : Answer::kDeadlock;
    }
    if (mine.shared) return try_only ? Answer::kBusy : Answer::kDeadlock;
    if (is_free()) return Answer::kDone;
    return try_only ? Answer::kBusy : Answer::kWaits;
  }

  Answer read(Who who, bool try_only) const {
    if (!live()) return dead();
    const Holds& mine = holds(who);
    if (mine.exclusive) return try_only ? Answer::kBusy : Answer::kDeadlock;
    if (exclusive(against(who)) || writer_waits_) {
      if (try_only) return Answer::kBusy;
      return mine.shared ? Answer::kDeadlock : Answer::kWaits;
    }
    return Answer::kDone;
  }

  Answer unlock(Who who) const {
    if (!live()) return dead();
    return holds_of(who) ? Answer::kDone : Answer::kNotHeld;
  }

  // To wait on a condition.
  Answer wait(Who who) const {
    if (!live()) return dead();
    return exclusive(who) ? Answer::kDone : Answer::kNotHeld;
  }

  Answer destroy() const {
    if (!live()) return dead();
    return is_free() ? Answer::kDone : Answer::kHeld;
  }

  // What an operation does that was answered by kDone.
  void did_lock(Who who) { holds(who).exclusive++; }
  void did_read(Who who) { holds(who).shared++; }
  void did_unlock(Who who) {
    Holds& mine = holds(who);
    mine.exclusive ? mine.exclusive-- : mine.shared--;
  }
  void did_destroy() { state_ = State::kDestroyed; }

  static Who against(Who who) {
    return who == Who::kMe ? Who::kOther : Who::kMe;
  }

 private:
  enum class State : uint8_t { kUninitialised, kLive, kDestroyed };
  struct Holds {
    uint16_t exclusive = 0;
    uint16_t shared = 0;
  };

  Answer dead() const {
    return state_ == State::kDestroyed ? Answer::kDestroyed
                                       : Answer::kUninitialised;
  }
  Holds& holds(Who who) { return holds_[static_cast<unsigned>(who)]; }
  const Holds& holds(Who who) const {
    return holds_[static_cast<unsigned>(who)];
  }

  State state_ = State::kUninitialised;
  bool nests_ = false;
  bool writer_waits_ = false;
  Holds holds_[2];
};

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_LOCK_MODEL_H_
