// SPDX-License-Identifier: Apache-2.0
//
// The calls of the thread that is watched.
#include <sched.h>

#include <cerrno>

#include "elision-engine.h"
#include "model/player.h"
#include "rcu.h"

namespace ovsthread::model {

void Player::acquire(Cell& cell, const char* where, bool exclusive,
                     bool try_only) {
  const LockType& type = cell.type();
  if (!exclusive && type.read == nullptr) return;
  unsigned index = index_of(cell);
  Answer answer = ask(cell, Who::kMe, exclusive, try_only);
  bool inside = script_.running();
  if (answer == Answer::kWaits) {
    if (inside) {
      script_.if_aborted([this, &cell] { release_elsewhere(cell); });
    } else {
      other_.start([this, &cell] { release_when_waited_for(cell); });
    }
  }
  unsigned disturbed = disturbed_[index];
  unsigned begins = script_.n_begins();
  expects_misuse_ = is_misuse(answer);
  int result = 0;
  bool misused = reports_misuse(restored_.misuse, [&] {
    if (exclusive && try_only) {
      result = type.try_lock(cell.lock, where);
    } else if (exclusive) {
      type.lock(cell.lock, where);
    } else if (try_only) {
      result = type.try_read(cell.lock, where);
    } else {
      type.read(cell.lock, where);
    }
  });
  if (!other_is_stuck()) other_.finish();
  if (misused || result != 0) note_no_hold(cell);
  expects_misuse_ = false;
  if (!misused && result != 0 && result != EBUSY) {
    differ("lock %u: the try returned %d", index, result);
  }
  Answer now = ask(cell, Who::kMe, exclusive, try_only);
  if (misused) {
    if (!is_misuse(now)) {
      differ("lock %u: a message instead of %s: %s", index, name_of(now),
             caught().text);
    }
    // The process would have ended before the engine hears of it.
    if (cell.model.holds_of(Who::kMe) == 0) {
      elision::LibraryEngine::took_for_real(
          *reinterpret_cast<elision::LibraryEngine::Word*>(&cell.lock), false);
    }
    return check_message(cell, now, where);
  }
  Answer got = result == EBUSY ? Answer::kBusy : Answer::kDone;
  bool was_disturbed = disturbed_[index] != disturbed;
  if (got != now && !(got == Answer::kBusy && try_only && was_disturbed)) {
    differ("lock %u: %s instead of %s", index, name_of(got), name_of(now));
  }
  bool started = script_.n_begins() != begins;
  if (!inside && mode_ == OVS_ELISION_OFF && started) {
    differ("lock %u: a transaction although elision is off", index);
  }
  if (got == Answer::kBusy) return;
  if (!inside && mode_ == OVS_ELISION_ALWAYS && answer == Answer::kDone &&
      !was_disturbed && n_holds(Who::kMe) == 0 && stuck_at_ != &cell &&
      !started) {
    differ("lock %u: no transaction was tried", index);
  }
  if (!inside) watch_vetoes(cell, where, started);
  if (cell.model.exclusive(Who::kMe)) {
    cell.model.did_lock(Who::kMe);
    cell.where = where;
  } else {
    enter(cell, Who::kMe, exclusive, where);
  }
}

// Ends what a safe point began, if CELL is not held.
void Player::note_no_hold(const Cell& cell) {
  if (suspended_by_ != &cell || cell.model.holds_of(Who::kMe)) return;
  suspended_by_ = nullptr;
}

void Player::watch_vetoes(const Cell& cell, const char* where, bool started) {
  unsigned site = 0;
  while (kWhere[site] != where) site++;
  bool& did_not_fit = did_not_fit_[index_of(cell)][site];
  if (mode_ == OVS_ELISION_AUTO && did_not_fit) {
    n_came_back_++;
    n_tried_again_ += started;
  }
  did_not_fit = started && !script_.running() &&
                elision::classify(script_.last_status()) == OVS_ABORT_CAPACITY;
}

void Player::unlock(Cell& cell, const char* where) {
  Answer answer = cell.model.unlock(Who::kMe);
  bool is_last = cell.model.holds_of(Who::kMe) == 1;
  expects_misuse_ = is_misuse(answer);
  if (answer == Answer::kDone) leave(cell, Who::kMe);
  bool misused = reports_misuse(restored_.misuse,
                                [&] { cell.type().unlock(cell.lock, where); });
  expects_misuse_ = false;
  check_call(cell, "unlock", misused, answer, where);
  if (misused) return;
  cell.model.did_unlock(Who::kMe);
  note_no_hold(cell);
  if (is_last && stuck_at_ == &cell && stuck_ != Stuck::kOnCondition) {
    if (script_.running()) differ("a waiter was woken inside a transaction");
    other_.finish();
    other_got_lock();
  }
}

void Player::destroy(Cell& cell, const char* where) {
  if (stuck_at_ == &cell && stuck_ == Stuck::kOnCondition) return;
  Answer answer = cell.model.destroy();
  expects_misuse_ = is_misuse(answer);
  bool misused = reports_misuse(restored_.misuse,
                                [&] { cell.type().destroy(cell.lock, where); });
  expects_misuse_ = false;
  check_call(cell, "destroy", misused, answer, where);
  if (misused) return;
  cell.model.did_destroy();
}

void Player::wait(Cell& cell, const char* where) {
  const LockType& type = cell.type();
  if (type.wait == nullptr || other_is_stuck()) return;
  Answer answer = cell.model.wait(Who::kMe);
  signalled_ = answer != Answer::kDone;
  if (!script_.running() && answer == Answer::kDone) {
    cell.ended++;
    other_.start([this, &cell, &type] {
      type.lock(cell.lock, kElsewhere);
      if (cell.begun != cell.ended) differ("a wait did not release its mutex");
      signalled_ = true;
      pthread_cond_signal(&condition_);
      type.unlock(cell.lock, kElsewhere);
    });
    while (!is_slept_on(cell.lock)) sched_yield();
  }
  expects_misuse_ = is_misuse(answer);
  bool misused = reports_misuse(restored_.misuse, [&] {
    do {
      type.wait(condition_, cell.lock, where);
    } while (!signalled_);
  });
  expects_misuse_ = false;
  check_call(cell, "wait", misused, answer, where);
  if (misused) return;
  if (script_.running()) differ("waited inside a transaction");
  other_.finish();
  cell.begun++;
  cell.where = where;
}

void Player::signal(Cell& cell) {
  if (stuck_at_ != &cell || stuck_ != Stuck::kOnCondition ||
      !cell.model.exclusive(Who::kMe)) {
    return;
  }
  // A system call.
  if (script_.running()) script_.abort_now(0);
  signalled_ = true;
  pthread_cond_signal(&condition_);
  while (!is_slept_on(cell.lock)) sched_yield();
  stuck_ = Stuck::kAfterCondition;
}

void Player::post() {
  if (n_posts_ == kMaxPosts) return;
  unsigned n = n_posts_++;
  restored_.posts[n] = true;
  rcu::postpone([](void* runs) { ++*static_cast<unsigned*>(runs); },
                &post_runs_[n]);
}

// The other thread's calls.  Those that would wait are left out.

}  // namespace ovsthread::model
