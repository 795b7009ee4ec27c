// SPDX-License-Identifier: Apache-2.0
//
// Whether a lock is better elided or taken for real: what is known of one lock,
// and what follows from it.  No atomics and no clock, so that tests reach every
// line; the mechanism that feeds it is in elision-sampling.h.
//
// Neither mode can be judged from the other one.  How long threads would wait
// for each other is unknown while they elide, how often they would conflict is
// unknown while they don't, and what the lock's line costs that travels between
// processors, or the memory accesses that a transaction keeps from overlapping,
// is not seen at all.  So the policy compares what both modes cost: all the
// time that threads spend per acquisition, inside and outside of sections.
//
// Only a hint makes it look, so that a lock that is fine is left alone:
//
//   mode    hint                                  since
//   real    two owners in turn, or waits          they may not need to wait
//   elide   one owner in all samples              an uncontended lock costs
//                                                 less than an elided section
//           aborts                                they may cost more than it
//                                                 saves
//           it costs more than the other one did  something has changed
//
// A hint starts a *trial*: the mode changes, and is measured.  The cheaper one
// stays.  A trial is short if it goes badly: with n acquisitions measured it
// ends as soon as the mode is 1 + kDoubt / n times as dear as the other one.
// After a trial that failed hints are ignored for a while, longer each time up
// to kMaxHoldOff acquisitions, so that a change of the workload is followed
// soon.  Only a trial of the real lock that cost many times what eliding does
// is not repeated until its cost is spread over so many more acquisitions, or
// aborts show that something has changed.
//
// State: mode and whether it is on trial.
//
//   settled  -- hint, not held off -->                       trial of the other
//   trial    -- dear -->                                     back, held off
//   trial    -- kTrial acquisitions measured -->             the cheaper one
#ifndef OVSTHREAD_LIB_ELISION_ADAPT_H_
#define OVSTHREAD_LIB_ELISION_ADAPT_H_

#include <algorithm>
#include <cstdint>

namespace ovsthread::elision {

// What an acquisition costs: the mean over windows.  A window in which
// something else happened counts as its neighbours do, since the mean is over
// medians of three.  If the median is far off, the mean is out of date and
// starts anew.
class Cost {
 public:
  static constexpr uint32_t kWindows = 8;

  void add(uint64_t cost) {
    n_ = std::min(n_ + 1, kWindows);
    auto [low, high] = std::minmax(last_[0], last_[1]);
    uint64_t middle = std::clamp(cost, low, high);
    if (n_ <= 2) {
      mean_ = n_ == 1 ? cost : (mean_ + cost) / 2;
    } else if (n_ == 3 || far_from(middle)) {
      n_ = 3;
      mean_ = middle;
    } else {
      mean_ = (mean_ * (n_ - 1) + middle) / n_;
    }
    last_[1] = last_[0];
    last_[0] = cost;
  }
  void clear() { *this = {}; }

  uint32_t windows() const { return n_; }  // at most kWindows
  uint64_t mean() const { return mean_; }
  // Whether the last window was like those before.
  bool steady() const { return n_ >= 2 && !far_from(last_[0]); }

 private:
  bool far_from(uint64_t cost) const {
    return 4 * cost < 3 * mean_ || 4 * cost > 5 * mean_;
  }

  uint64_t last_[2] = {};
  uint64_t mean_ = 0;
  uint32_t n_ = 0;
};

// What a thread tells of a lock when it samples it.
struct Sample {
  uint32_t owner;         // the thread
  uint32_t acquisitions;  // by it, of any lock, since its last sample
  uint32_t trouble;  // how often since it has waited (real) or aborted (elided)
  uint64_t since;    // when its last sample was; 0: never
  uint64_t now;

  bool timed() const { return since != 0 && now > since; }
};

class Adaptation {
 public:
  static constexpr uint32_t kMinHoldOff = 1024;
  static constexpr uint32_t kMaxHoldOff = 6144;
  static constexpr uint32_t kDearHoldOff = 24;

  bool elides() const { return elides_; }
  bool on_trial() const { return on_trial_; }
  // Grows with each change of the mode.
  uint32_t changes() const { return changes_; }

  // The lock has this mode, for whatever reason.
  void adopt(bool elides) {
    if (elides == elides_) return;
    change();
    settle();
    cost_[0].clear();
    cost_[1].clear();
  }

  // A sample; afterwards elides() is the mode that the lock should have.
  void add(const Sample& sample) {
    note_owner(sample.owner);
    trouble_ += sample.trouble;
    acquisitions_ += sample.acquisitions;
    held_off_ -= std::min(held_off_, sample.acquisitions);
    if (on_trial_) {
      judge(sample);
    } else {
      if (!measure(sample) || !mine().steady()) return;
      if (grew_worse()) held_off_ = 0;
      if (held_off_ == 0 && hinted()) begin_trial(sample.now);
    }
  }

  // After how many acquisitions a thread should sample again, ...
  uint32_t period() const {
    return on_trial_ ? 32 : mine().steady() ? 256 : 64;
  }
  // ... and after how much trouble at the latest.
  uint32_t patience() const { return on_trial_ ? 4 : kPatience; }

 private:
  // A window has this many acquisitions at least, and samples.
  static constexpr uint32_t kWindow = 256;
  static constexpr uint32_t kWindowSamples = 4;
  // Acquisitions that a trial measures.  It fails as soon as it is
  // 1 + kDoubt / n times as dear as the other mode in n acquisitions.
  static constexpr uint32_t kTrial = 512;
  static constexpr uint32_t kDoubt = 128;
  static constexpr uint32_t kMinTrial = 16;
  static constexpr uint32_t kPatience = 16;
  static constexpr uint32_t kMuchTrouble = 48;  // in 1024 acquisitions
  // A sample by another owner than before adds kTurn, one by the same takes 1.
  static constexpr uint32_t kTurn = 8;
  static constexpr uint32_t kMaxTurns = 2 * kTurn;

  Cost& mine() { return cost_[elides_]; }
  const Cost& mine() const { return cost_[elides_]; }
  const Cost& other() const { return cost_[!elides_]; }

  void note_owner(uint32_t owner) {
    if (owner == owner_) {
      turns_ -= turns_ > 0;
    } else if (owner_ != 0) {
      turns_ = std::min(turns_ + kTurn, kMaxTurns);
    }
    owner_ = owner;
  }
  bool alone() const { return turns_ == 0; }

  // In 1024 acquisitions.
  uint64_t trouble_rate() const {
    return uint64_t{trouble_} * 1024 / std::max(acquisitions_, 1u);
  }

  bool hinted() const {
    if (!elides_) return turns_ > kTurn || trouble_rate() > 16;
    return alone() || trouble_rate() > kMuchTrouble ||
           (other().windows() > 0 && mine().windows() >= 3 &&
            mine().mean() * 20 > other().mean() * 21);
  }

  // Whether eliding is much worse than when the real lock was last tried, and
  // found dearer.
  bool grew_worse() const {
    return elides_ && trouble_ >= kPatience && trouble_rate() > kMuchTrouble &&
           (trouble_rate() > 2 * usual_trouble_ + kMuchTrouble ||
            2 * mine().mean() > 3 * usual_cost_);
  }

  void open_window() { counted_ = samples_ = time_ = 0; }
  void count(const Sample& sample) {
    counted_ += sample.acquisitions;
    time_ += sample.now - sample.since;
    samples_++;
  }
  uint64_t window_cost() const {
    return time_ * kScale / std::max(counted_, 1u);
  }

  // Whether a window has ended.
  bool measure(const Sample& sample) {
    if (sample.timed()) count(sample);
    if (counted_ < kWindow || samples_ < kWindowSamples) return false;
    mine().add(window_cost());
    open_window();
    // So that what is long ago counts less.
    acquisitions_ -= acquisitions_ / 4;
    trouble_ -= trouble_ / 4;
    return true;
  }

  void begin_trial(uint64_t now) {
    usual_trouble_ = trouble_rate();
    usual_cost_ = mine().mean();
    change();
    on_trial_ = true;
    trial_began_ = now;
    open_window();
  }

  void judge(const Sample& sample) {
    // Before, it was in the other mode.
    if (sample.since < trial_began_ || !sample.timed()) return;
    count(sample);
    if (counted_ < kMinTrial) return;
    uint64_t cost = window_cost();
    bool dear = cost * counted_ > other().mean() * (counted_ + kDoubt);
    // What hardly ever commits is no use unless it is soon seen to be.
    bool idle = elides_ && 2 * trouble_ > acquisitions_ &&
                counted_ >= kTrial / 8 && cost * 10 > other().mean() * 9;
    if (!dear && !idle && counted_ < kTrial) return;
    // A tie goes to the real lock, all the more if its owner is alone.
    uint64_t bonus = alone() ? 10 : 50;
    bool cheaper = elides_
                       ? !idle && cost * (bonus + 1) <= other().mean() * bonus
                       : cost * bonus <= other().mean() * (bonus + 1);
    mine().clear();
    mine().add(cost);
    if (cheaper) {
      next_hold_off_ = kMinHoldOff;
      return settle();
    }
    change();
    settle();
    // A trial of the real lock may cost many times what eliding does; but it
    // needs no repetition unless eliding gets worse.
    if (elides_) {
      held_off_ +=
          kMinHoldOff *
          static_cast<uint32_t>(std::min<uint64_t>(
              kDearHoldOff * cost / std::max<uint64_t>(mine().mean(), 1),
              1024));
    }
  }

  void change() {
    elides_ = !elides_;
    changes_++;
    acquisitions_ = trouble_ = 0;
  }

  void settle() {
    on_trial_ = false;
    held_off_ = next_hold_off_;
    next_hold_off_ = std::min(2 * next_hold_off_, kMaxHoldOff);
    open_window();
  }

  static constexpr uint64_t kScale = 16;  // costs are in cycles / kScale

  Cost cost_[2];  // real, elided
  // Of the present window, or of the trial.
  uint64_t time_ = 0;     // spent by all threads
  uint32_t counted_ = 0;  // acquisitions
  uint32_t samples_ = 0;
  uint32_t owner_ = 0;
  uint32_t turns_ = 0;
  uint32_t changes_ = 0;
  uint32_t held_off_ = 0;
  uint32_t next_hold_off_ = kMinHoldOff;
  // Since the mode changed, less what is long ago.
  uint32_t acquisitions_ = 0;
  uint32_t trouble_ = 0;
  // When the other mode was last tried.
  uint64_t usual_trouble_ = 0;
  uint64_t usual_cost_ = 0;
  uint64_t trial_began_ = 0;
  bool elides_ = false;
  bool on_trial_ = false;
};

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_ADAPT_H_
