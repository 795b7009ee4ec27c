// SPDX-License-Identifier: Apache-2.0
#include "model/player.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "elision-engine.h"
#include "rcu.h"

namespace ovsthread::model {
namespace {

bool is_acquisition(Step::What what) { return what <= Step::kTryRead; }

}  // namespace

Player::Player(Script& script, Differ on_difference)
    : script_(script), differ_(on_difference) {
  my_number_ = elision::tls_elision.held.self();
  other_.run([this] { other_number_ = elision::tls_elision.held.self(); });
  rcu::quiesce();  // Registers the thread.
  catch_misuse();
  script_.restore(restored_);
  script_.undo_with([this] { after_abort(); });
  script_.run_others_in(
      [this](const Script::Action& action) { run_for_script(action); });
}

void Player::differ(const char* format, ...) {
  char what[1200];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  char line[1300];
  snprintf(line, sizeof line, "step %u: %s", executing_.index, what);
  differ_(line);
  abort();
}

void Player::play(const Sequence& sequence) {
  set_up(sequence);
  unsigned n = static_cast<unsigned>(sequence.steps.size());
  for (unsigned i = 0; i < n; i++) play_step(i, sequence.steps[i]);
  wind_up(n);
  check_at_rest();
  script_.forget_steps();
  script_.trace();
}

void Player::set_up(const Sequence& sequence) {
  memset(static_cast<void*>(restored_.cells), 0, sizeof restored_.cells);
  memset(restored_.posts, 0, sizeof restored_.posts);
  memset(did_not_fit_, 0, sizeof did_not_fit_);
  memset(post_runs_, 0, sizeof post_runs_);
  n_posts_ = 0;
  stuck_at_ = nullptr;
  suspended_by_ = nullptr;
  expects_misuse_ = false;
  n_cells_ = 1;
  for (const Step& step : sequence.steps) use(step.lock);
  for (const Fate& fate : sequence.fates) use(fate.before), use(fate.after);
  for (unsigned i = 0; i < n_cells_; i++) {
    Cell& cell = restored_.cells[i];
    cell.type_index = sequence.types[i];
    cell.type().init(cell.lock);
    cell.model.init(cell.type().nests);
    if (sequence.elide[i]) change_mode(cell.lock);
  }
  for (const Fate& fate : sequence.fates) set_fate(fate);
  mode_ = sequence.mode;
  if (ovs_elision_set_mode(mode_) != 0) differ("the mode was not accepted");
}

void Player::use(int lock) {
  if (lock >= static_cast<int>(n_cells_)) {
    n_cells_ = static_cast<unsigned>(lock) + 1;
  }
}

void Player::set_fate(const Fate& fate) {
  Script::Action before;
  Script::Action after;
  if (fate.before >= 0) {
    Cell& cell = restored_.cells[fate.before];
    before = [this, &cell] {
      keeps_ = true;
      take_elsewhere(cell, true);
    };
    after = [this, &cell] { release_elsewhere(cell); };
  } else if (fate.after >= 0) {
    Cell& cell = restored_.cells[fate.after];
    after = [this, &cell] { take_elsewhere(cell, true); };
  }
  switch (fate.when) {
    case Fate::kRuns:
      return script_.run(after, before);
    case Fate::kAtBegin:
      return script_.abort_at_begin(fate.status, after);
    case Fate::kAtAccess:
      return script_.abort_at_access(fate.n, fate.status, after);
    case Fate::kAtCommit:
      return script_.abort_at_commit(fate.status, after);
  }
}

void Player::play_step(unsigned index, const Step& step) {
  Cell& cell = restored_.cells[step.lock];
  const char* where = kWhere[step.detail % kSites];
  executing_ = restored_.current = {index, step};
  holds_ = n_holds(Who::kMe);
  switch (step.what) {
    case Step::kLock:
    case Step::kTryLock:
    case Step::kRead:
    case Step::kTryRead:
      acquire(cell, where, is_exclusive(step.what), !is_blocking(step.what));
      break;
    case Step::kUnlock:
      unlock(cell, where);
      break;
    case Step::kDestroy:
      destroy(cell, where);
      break;
    case Step::kInit:
      if (cell.model.live()) break;
      cell.type().init(cell.lock);
      cell.model.init(cell.type().nests);
      break;
    case Step::kWait:
      wait(cell, where);
      break;
    case Step::kSignal:
      signal(cell);
      break;
    case Step::kSafePoint:
      elision::safe_point(OVS_SAFE_POINT_MESSAGE);
      if (script_.running()) differ("a safe point passed in a transaction");
      break;
    case Step::kQuiesce:
      rcu::quiesce();
      if (script_.running()) differ("quiesced in a transaction");
      break;
    case Step::kPostpone:
      post();
      break;
    case Step::kSetMode:
      if (ovs_elision_set_mode(step.detail % 2 ? OVS_ELISION_ALWAYS
                                               : OVS_ELISION_OFF) != 0) {
        differ("the mode was not accepted");
      }
      mode_ = ovs_elision_get_mode();
      if (script_.running()) differ("the mode changed in a transaction");
      break;
    case Step::kFault: {
      static constexpr uint32_t kStatuses[] = {
          0, kStatusConflict | kStatusRetry, kStatusCapacity, kStatusRetry};
      if (script_.running()) script_.abort_now(kStatuses[step.detail % 4]);
      break;
    }
    case Step::kOtherTryLock:
    case Step::kOtherTryRead:
    case Step::kOtherUnlock:
    case Step::kOtherDestroy:
    case Step::kOtherChangeMode:
      other_acts(step);
      break;
    case Step::kOtherLock:
    case Step::kOtherRead:
      other_waits(step);
      break;
    case Step::kOtherWait:
      other_waits_on_condition(cell);
      break;
    case Step::kKinds:
      break;
  }
  check();
}

// Releases what is held, through steps like any other.
void Player::wind_up(unsigned index) {
  if (stuck_at_ != nullptr && stuck_ == Stuck::kOnCondition) {
    uint8_t lock = static_cast<uint8_t>(index_of(*stuck_at_));
    if (stuck_at_->model.holds_of(Who::kMe) == 0) {
      play_step(index++, {Step::kLock, lock, 0});
    }
    play_step(index++, {Step::kSignal, lock, 0});
  }
  for (Cell& cell : cells()) {
    uint8_t lock = static_cast<uint8_t>(index_of(cell));
    while (cell.model.holds_of(Who::kMe)) {
      play_step(index++, {Step::kUnlock, lock, 0});
    }
  }
  if (stuck_at_ != nullptr) differ("the other thread still waits");
  for (Cell& cell : cells()) {
    if (cell.model.holds_of(Who::kOther)) {
      other_.run([&] { release_elsewhere(cell); });
    }
  }
}

unsigned Player::n_holds(Who who) const {
  unsigned n = 0;
  for (const Cell& cell : cells()) n += cell.model.holds_of(who);
  return n;
}

void Player::check() {
  bool any_elided = false;
  for (const Cell& cell : cells()) check_holds(cell, any_elided);
  if (elision::in_transaction() != script_.running()) {
    differ("the engine %s a transaction, the layer %s",
           elision::in_transaction() ? "believes in" : "knows of no",
           script_.running() ? "runs one" : "runs none");
  }
  if (suspended_by_ && script_.n_begins() != begins_before_) {
    differ("a transaction between a safe point and the unlock of lock %u",
           index_of(*suspended_by_));
  }
  if (script_.running() && !any_elided) {
    differ("a transaction is open although nothing is held elided");
  }
}

void Player::check_holds(const Cell& cell, bool& any_elided) {
  unsigned index = index_of(cell);
  const LockModel& model = cell.model;
  RealHolds real = cell.type().look(cell.lock);
  if (real.live != model.live()) differ("lock %u is not as live", index);
  if (!real.live) return;
  uint32_t owner = model.exclusive(Who::kOther) ? other_number_
                   : model.exclusive(Who::kMe)  ? my_number_
                                                : 0;
  unsigned mine = model.holds_of(Who::kMe);
  bool is_real = mine != 0 && real.owner == my_number_;
  if (real.owner != owner && !(owner == my_number_ && real.owner == 0)) {
    differ("lock %u has the owner %#x instead of %#x", index, real.owner,
           owner);
  }
  if (is_real && real.exclusive != mine) {
    differ("lock %u is held %u times instead of %u", index, real.exclusive,
           mine);
  }
  unsigned shared = model.shared(Who::kOther);
  if (real.shared < shared || real.shared - shared > model.shared(Who::kMe)) {
    differ("lock %u has %u readers, of %u and %u", index, real.shared, shared,
           model.shared(Who::kMe));
  }
  if (mine != 0 && !is_real && real.shared - shared != mine) {
    any_elided = true;
    if (!script_.running()) {
      differ("lock %u is held in no way: no transaction runs", index);
    }
    if (!script_.touched(cell.lock)) {
      differ("lock %u is held in no way: not subscribed", index);
    }
    if (model.exclusive(Who::kMe) && !real.at_rest) {
      differ("lock %u is elided although it is not at rest", index);
    }
  }
}

void Player::check_at_rest() {
  if (script_.running()) differ("a transaction is open at the end");
  for (Cell& cell : cells()) {
    unsigned index = index_of(cell);
    if (cell.model.live() && !cell.type().look(cell.lock).at_rest) {
      differ("lock %u is not at rest at the end", index);
    }
    if (elision::tls_elision.held.find(&cell.lock) != nullptr) {
      differ("lock %u is on the list of held ones at the end", index);
    }
    if (cell.begun != cell.ended) {
      differ("of %u sections of lock %u, %u ended", cell.begun, index,
             cell.ended);
    }
  }
  if (elision::tls_elision.suspended_by != nullptr) {
    differ("elision is still suspended at the end");
  }
  if (n_posts_ == 0) return;
  rcu::barrier();
  for (unsigned i = 0; i < n_posts_; i++) {
    if (restored_.posts[i] && post_runs_[i] != 1) {
      differ("postponed function %u ran %u times", i, post_runs_[i]);
    }
  }
}

void Player::enter(Cell& cell, Who who, bool exclusive, const char* where) {
  if (cell.begun != cell.ended) {
    differ("lock %u was taken inside a section of it", index_of(cell));
  }
  if (exclusive) {
    cell.model.did_lock(who);
    cell.begun++;
  } else {
    cell.model.did_read(who);
  }
  cell.where = where;
}

// Before the call, as the last access of the section.
void Player::leave(Cell& cell, Who who) {
  if (cell.model.exclusive(who) == 1) cell.ended++;
}

// Of a call that is done or misused.
void Player::check_call(const Cell& cell, const char* call, bool misused,
                        Answer answer, const char* where) {
  if (misused != is_misuse(answer)) {
    differ("lock %u: %s: %s instead of %s", index_of(cell), call,
           misused ? caught().text : "done", name_of(answer));
  }
  if (misused) check_message(cell, answer, where);
}

void Player::check_message(const Cell& cell, Answer misuse, const char* where) {
  if (caught().in_transaction) {
    differ("a message inside a transaction: %s", caught().text);
  }
  char place[64];
  snprintf(place, sizeof place, "at %s", where);
  bool fits = strstr(caught().text, name_of(misuse)) &&
              strstr(caught().text, cell.type().kind) &&
              strstr(caught().text, place);
  // Of readers the lock names the last one that came.
  const char* other = strstr(caught().text, "held since ");
  if (fits && misuse >= Answer::kDeadlock && misuse <= Answer::kHeld && other &&
      cell.type().read == nullptr) {
    snprintf(place, sizeof place, "since %s", cell.where);
    fits = strstr(other, place) != nullptr;
  }
  if (!fits) {
    differ("lock %u: \"%s\" does not say %s, %s and %s", index_of(cell),
           caught().text, name_of(misuse), where,
           cell.where ? cell.where : "no other place");
  }
}

// A transaction that ran has been rolled back.
void Player::after_abort() {
  Current at = executing_;
  executing_ = restored_.current;
  uint32_t status = script_.last_status();
  if (!allowed(at, status)) {
    executing_ = at;
    differ("the engine gave the transaction up for no reason: %s, code %#x",
           ovs_elision_abort_name(elision::classify(status)),
           status_code(status));
  }
  expects_misuse_ = false;
  if (at.index != restored_.current.index &&
      elision::classify(status) == OVS_ABORT_SAFE_POINT) {
    suspended_by_ = &restored_.cells[restored_.current.step.lock];
    begins_before_ = script_.n_begins();
  }
}

bool Player::allowed(const Current& at, uint32_t status) const {
  if (!(status & kStatusExplicit) || (status & kStatusNested)) return true;
  const Step::What what = at.step.what;
  const Cell& cell = restored_.cells[at.step.lock];
  bool is_outermost = at.index == restored_.current.index;
  switch (elision::classify(status)) {
    case OVS_ABORT_BUSY:
      return is_acquisition(what) &&
             (is_blocking(what) || is_outermost || stuck_at_ == &cell) &&
             (cell.model.holds_of(Who::kOther) != 0 || stuck_at_ == &cell ||
              // A deadlock with its own read hold looks like that at first.
              expects_misuse_);
    case OVS_ABORT_SAFE_POINT:
      return what == Step::kSafePoint || what == Step::kQuiesce ||
             what == Step::kSetMode || what == Step::kWait ||
             what == Step::kPostpone || expects_misuse_ ||
             // A thread that has slept does not know who still sleeps.
             (what == Step::kUnlock && cell.type().look(cell.lock).waited_for);
    default:
      break;
  }
  if (status_code(status) != elision::kCodeListFull) {
    return status_code(status) != elision::kCodeSwitchedOff;
  }
  return is_acquisition(what) && holds_ >= 8;
}

}  // namespace ovsthread::model
