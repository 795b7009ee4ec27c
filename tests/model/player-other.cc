// SPDX-License-Identifier: Apache-2.0
//
// The calls of the other thread.  It never waits but where the watched one is
// sure to let it go on.
#include <sched.h>

#include "elision-engine.h"
#include "model/player.h"

namespace ovsthread::model {
namespace {

// The other thread has no script, so all of its transactions abort.  That is no
// storm.
void forget_storm() {
  elision::Counts* counts = elision::tls_elision.counts;
  if (counts == nullptr) return;
  counts->storm =
      elision::StormWatch(counts->started.read(), counts->elided.read());
}

}  // namespace

void Player::take_elsewhere(Cell& cell, bool exclusive) {
  const LockType& type = cell.type();
  if (!exclusive && type.read == nullptr) return;
  note_disturbed(cell);
  forget_storm();
  Answer answer = ask(cell, Who::kOther, exclusive, true);
  int result = 0;
  jmp_buf buffer;
  bool misused = reports_misuse(buffer, [&] {
    result = (exclusive ? type.try_lock : type.try_read)(cell.lock, kElsewhere);
  });
  Answer got = result == 0 ? Answer::kDone : Answer::kBusy;
  if (misused ? !is_misuse(answer) : got != answer) {
    differ("lock %u: the other thread got %s instead of %s", index_of(cell),
           misused ? caught().text : name_of(got), name_of(answer));
  }
  if (misused) return check_message(cell, answer, kElsewhere);
  if (got == Answer::kBusy) return;
  if (cell.model.exclusive(Who::kOther)) {
    cell.model.did_lock(Who::kOther);
    cell.where = kElsewhere;
  } else {
    enter(cell, Who::kOther, exclusive, kElsewhere);
  }
}

void Player::unlock_elsewhere(Cell& cell) {
  note_disturbed(cell);
  Answer answer = cell.model.unlock(Who::kOther);
  if (answer == Answer::kDone) {
    leave(cell, Who::kOther);
    cell.model.did_unlock(Who::kOther);
  }
  jmp_buf buffer;
  bool misused = reports_misuse(
      buffer, [&] { cell.type().unlock(cell.lock, kElsewhere); });
  check_call(cell, "the other thread's unlock", misused, answer, kElsewhere);
}

void Player::destroy_elsewhere(Cell& cell) {
  note_disturbed(cell);
  Answer answer = cell.model.destroy();
  jmp_buf buffer;
  bool misused = reports_misuse(
      buffer, [&] { cell.type().destroy(cell.lock, kElsewhere); });
  check_call(cell, "the other thread's destroy", misused, answer, kElsewhere);
  if (!misused) cell.model.did_destroy();
}

void Player::release_elsewhere(Cell& cell) {
  note_disturbed(cell);
  while (cell.model.holds_of(Who::kOther)) {
    leave(cell, Who::kOther);
    cell.model.did_unlock(Who::kOther);
    cell.type().unlock(cell.lock, kElsewhere);
  }
}

void Player::release_when_waited_for(Cell& cell) {
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks && !cell.type().look(cell.lock).waited_for; i++) {
    sched_yield();
  }
  release_elsewhere(cell);
}

// A script's action, while no transaction runs.
void Player::run_for_script(const std::function<void()>& action) {
  if (other_is_stuck()) return;
  keeps_ = false;
  other_.run(action);
  const Step& step = restored_.current.step;
  if (keeps_ || !is_blocking(step.what)) return;
  Cell& cell = restored_.cells[step.lock];
  if (ask(cell, Who::kMe, is_exclusive(step.what), false) == Answer::kWaits) {
    other_.start([this, &cell] { release_when_waited_for(cell); });
  }
}

void Player::other_acts(const Step& step) {
  if (other_is_stuck()) return;
  Cell& cell = restored_.cells[step.lock];
  std::function<void()> action;
  switch (step.what) {
    case Step::kOtherUnlock:
      action = [this, &cell] { unlock_elsewhere(cell); };
      break;
    case Step::kOtherDestroy:
      action = [this, &cell] { destroy_elsewhere(cell); };
      break;
    case Step::kOtherChangeMode:
      action = [&cell] {
        if (cell.model.live()) change_mode(cell.lock);
      };
      break;
    default:
      action = [this, &cell, exclusive = step.what == Step::kOtherTryLock] {
        take_elsewhere(cell, exclusive);
      };
  }
  if (script_.running() && script_.touched(cell.lock)) {
    script_.abort_now(kStatusConflict | (step.detail % 2 ? kStatusRetry : 0u),
                      action);
  }
  other_.run(action);
  if (script_.running()) script_.changed_elsewhere(cell);
}

// For what the watched thread holds for real.
void Player::other_waits(const Step& step) {
  Cell& cell = restored_.cells[step.lock];
  const LockType& type = cell.type();
  bool exclusive = step.what == Step::kOtherLock;
  if (!type.sleeps || (!exclusive && type.read == nullptr)) return;
  if (other_is_stuck() || n_holds(Who::kOther) != 0) return;
  if (ask(cell, Who::kOther, exclusive, false) != Answer::kWaits) return;
  if (holds_elided(cell)) return;
  if (script_.running() && script_.touched(cell.lock)) return;
  stuck_at_ = &cell;
  stuck_ = exclusive ? Stuck::kWrites : Stuck::kReads;
  cell.model.set_writer_waits(exclusive && type.read != nullptr);
  other_.start([&cell, &type, exclusive] {
    (exclusive ? type.lock : type.read)(cell.lock, kElsewhere);
  });
  while (!is_slept_on(cell.lock)) sched_yield();
  if (script_.running()) script_.changed_elsewhere(cell);
}

void Player::other_waits_on_condition(Cell& cell) {
  const LockType& type = cell.type();
  if (type.wait == nullptr) return;
  // Else the watched thread could wait for it.
  if (other_is_stuck() || n_holds(Who::kOther) != 0) return;
  if (!cell.model.live() || !cell.model.is_free()) return;
  if (script_.running() && script_.touched(cell.lock)) return;
  note_disturbed(cell);
  stuck_at_ = &cell;
  stuck_ = Stuck::kOnCondition;
  signalled_ = false;
  other_.start([this, &cell, &type] {
    type.lock(cell.lock, kElsewhere);
    while (!signalled_) type.wait(condition_, cell.lock, kElsewhere);
    type.unlock(cell.lock, kElsewhere);
  });
  // Released through the gate.
  for (;;) {
    RealHolds real = type.look(cell.lock);
    if (!real.at_rest && real.owner == 0) break;
    sched_yield();
  }
  if (script_.running()) script_.changed_elsewhere(cell);
}

// The other thread waits no longer.
void Player::other_got_lock() {
  Cell& cell = *stuck_at_;
  stuck_at_ = nullptr;
  note_disturbed(cell);
  cell.model.set_writer_waits(false);
  if (stuck_ == Stuck::kAfterCondition) return;
  enter(cell, Who::kOther, stuck_ == Stuck::kWrites, kElsewhere);
}

bool Player::holds_elided(const Cell& cell) const {
  unsigned mine = cell.model.holds_of(Who::kMe);
  RealHolds real = cell.type().look(cell.lock);
  if (mine == 0 || real.owner == my_number_) return false;
  return real.shared != mine + cell.model.shared(Who::kOther);
}

}  // namespace ovsthread::model
