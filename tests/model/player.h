// SPDX-License-Identifier: Apache-2.0
//
// Plays sequences on real locks upon the scripted layer, and compares each
// answer, and the state after each step, with LockModel.
//
// The locks, their models and the data that they guard are memory that the
// script restores, so a rollback takes all three back together; where in the
// sequence the thread is, is on its stack.  What the other thread does to a
// lock that the running transaction has touched aborts it first, as the
// hardware would; a lock that the engine forgot to subscribe to is not touched,
// and both threads are found inside.
//
// How a hold is to be had (elided or for real) is no business of the model, but
// each one must be had somehow: its lock says so, or the transaction runs and
// has touched the lock.
#ifndef OVSTHREAD_TESTS_MODEL_PLAYER_H_
#define OVSTHREAD_TESTS_MODEL_PLAYER_H_

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>

#include "elision.h"
#include "model/lock-model.h"
#include "model/lock-types.h"
#include "model/misuse.h"
#include "model/second-thread.h"
#include "model/sequence.h"
#include "scripted-layer.h"

namespace ovsthread::model {

class Player {
 public:
  // ON_DIFFERENCE is called with a line that says what differs, and where; it
  // does not return.  There is one player in a process.  The object must not
  // lie on the part of the stack that SCRIPT restores.
  using Differ = void (*)(const char* what);
  Player(Script& script, Differ on_difference);

  void play(const Sequence& sequence);

  // How often the thread came, in mode auto, back to a lock and a site where a
  // transaction did not fit the time before; and started one all the same.
  unsigned n_came_back() const { return n_came_back_; }
  unsigned n_tried_again() const { return n_tried_again_; }

 private:
  // Where the calls say that they are.
  static constexpr const char* kWhere[] = {"a.c:1", "b.c:2", "c.c:3", "d.c:4"};
  static constexpr unsigned kSites = std::size(kWhere);
  static constexpr char kElsewhere[] = "other.c:9";
  static constexpr unsigned kMaxPosts = 256;

  struct Cell {
    const LockType& type() const { return kLockTypes[type_index]; }

    alignas(64) Lock lock;
    LockModel model;
    unsigned type_index;
    const char* where;  // of the last hold
    // Exclusive sections that were entered, and that were left.
    unsigned begun;
    unsigned ended;
  };

  struct Current {
    unsigned index;  // in the steps of the sequence
    Step step;
  };

  // What an abort takes back.
  struct Restored {
    Cell cells[kLocks];
    Current current;
    jmp_buf misuse;
    bool posts[kMaxPosts];  // those that count
  };

  [[noreturn]] void differ(const char* format, ...)
      __attribute__((format(printf, 2, 3)));

  void set_up(const Sequence& sequence);
  void use(int lock);
  void set_fate(const Fate& fate);
  void play_step(unsigned index, const Step& step);
  void wind_up(unsigned index);
  void check();
  void check_holds(const Cell& cell, bool& any_elided);
  void check_at_rest();

  // The thread that is watched.
  void acquire(Cell& cell, const char* where, bool exclusive, bool try_only);
  void unlock(Cell& cell, const char* where);
  void destroy(Cell& cell, const char* where);
  void wait(Cell& cell, const char* where);
  void signal(Cell& cell);
  void post();
  unsigned n_holds(Who who) const;
  void note_no_hold(const Cell& cell);
  void watch_vetoes(const Cell& cell, const char* where, bool started);

  // The other one.
  void other_acts(const Step& step);
  void other_waits(const Step& step);
  void other_waits_on_condition(Cell& cell);
  void take_elsewhere(Cell& cell, bool exclusive);
  void unlock_elsewhere(Cell& cell);
  void destroy_elsewhere(Cell& cell);
  void release_elsewhere(Cell& cell);
  void release_when_waited_for(Cell& cell);
  void run_for_script(const std::function<void()>& action);
  void other_got_lock();
  // Whether the watched thread has a hold of CELL that the lock does not show.
  bool holds_elided(const Cell& cell) const;
  bool other_is_stuck() const { return stuck_at_ != nullptr; }

  static bool is_blocking(Step::What what) {
    return what == Step::kLock || what == Step::kRead;
  }
  static bool is_exclusive(Step::What what) {
    return what == Step::kLock || what == Step::kTryLock;
  }
  static Answer ask(const Cell& cell, Who who, bool exclusive, bool try_only) {
    return exclusive ? cell.model.lock(who, try_only)
                     : cell.model.read(who, try_only);
  }
  void enter(Cell& cell, Who who, bool exclusive, const char* where);
  void leave(Cell& cell, Who who);

  void after_abort();
  bool allowed(const Current& at, uint32_t status) const;
  void check_call(const Cell& cell, const char* call, bool misused,
                  Answer answer, const char* where);
  void check_message(const Cell& cell, Answer misuse, const char* where);
  void note_disturbed(const Cell& cell) { disturbed_[index_of(cell)]++; }
  std::span<Cell> cells() { return {restored_.cells, n_cells_}; }
  std::span<const Cell> cells() const { return {restored_.cells, n_cells_}; }
  unsigned index_of(const Cell& cell) const {
    return static_cast<unsigned>(&cell - restored_.cells);
  }

  Script& script_;
  Differ differ_;
  SecondThread other_;
  uint32_t my_number_;
  uint32_t other_number_;
  Restored restored_{};
  unsigned n_cells_;  // that the sequence uses
  // The lock that was taken again because of a safe point, until it is
  // released; how many transactions had begun by then.
  const Cell* suspended_by_;
  unsigned begins_before_;

  Current executing_;  // as in restored_, but kept by aborts
  unsigned holds_;     // at the start of this step
  bool expects_misuse_;
  ovs_elision_mode mode_;
  unsigned disturbed_[kLocks];  // how often the other thread acted

  // The other thread waits for this lock, or on its condition; and how it does.
  Cell* stuck_at_;
  enum class Stuck { kWrites, kReads, kOnCondition, kAfterCondition } stuck_;
  // The other thread keeps a lock that the watched one wants.
  bool keeps_;
  bool signalled_;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;

  unsigned n_posts_;
  unsigned post_runs_[kMaxPosts];

  bool did_not_fit_[kLocks][kSites];
  unsigned n_came_back_ = 0;
  unsigned n_tried_again_ = 0;
};

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_PLAYER_H_
