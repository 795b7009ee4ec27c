// SPDX-License-Identifier: Apache-2.0
#include "model/sequence.h"

#include <cstdio>
#include <iterator>

#include "model/lock-types.h"
#include "scripted-layer.h"

namespace ovsthread::model {
namespace {

struct Kind {
  const char* name;
  unsigned weight;      // how often it is drawn
  unsigned with_other;  // if the other thread takes part
};

constexpr Kind kKinds[Step::kKinds] = {
    {"lock", 24, 24},
    {"try lock", 12, 12},
    {"read", 10, 10},
    {"try read", 6, 6},
    {"unlock", 34, 34},
    {"destroy", 3, 3},
    {"init", 3, 3},
    {"wait", 0, 2},
    {"signal", 1, 2},
    {"safe point", 4, 4},
    {"quiesce", 1, 1},
    {"postpone", 2, 2},
    {"set mode", 1, 1},
    {"fault", 5, 5},
    {"other: try lock", 0, 10},
    {"other: try read", 0, 5},
    {"other: unlock", 0, 8},
    {"other: destroy", 0, 2},
    {"other: lock", 0, 3},
    {"other: read", 0, 2},
    {"other: wait", 0, 2},
    {"other: change mode", 0, 2},
};

// SplitMix64.
class Random {
 public:
  Random(uint64_t seed, uint64_t index)
      : state_(seed * 0xd1342543de82ef95 + index * 0x5851f42d4c957f2d) {
    next();
  }

  // Less than BOUND.
  unsigned below(unsigned bound) {
    return static_cast<unsigned>((next() >> 32) * bound >> 32);
  }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  uint64_t state_;
};

constexpr unsigned sum_of(unsigned Kind::*weight) {
  unsigned sum = 0;
  for (const Kind& kind : kKinds) sum += kind.*weight;
  return sum;
}

Step::What draw_kind(Random& random, bool with_other) {
  constexpr unsigned kSum = sum_of(&Kind::weight);
  constexpr unsigned kSumWithOther = sum_of(&Kind::with_other);
  unsigned at = random.below(with_other ? kSumWithOther : kSum);
  unsigned i = 0;
  for (;; i++) {
    unsigned weight = with_other ? kKinds[i].with_other : kKinds[i].weight;
    if (at < weight) return static_cast<Step::What>(i);
    at -= weight;
  }
}

Fate draw_fate(Random& random, bool with_other, unsigned locks) {
  Fate fate = {Fate::kRuns, 0, 0, -1, -1};
  if (!random.one_in(2)) {
    fate.when = static_cast<Fate::When>(1 + random.below(3));
    fate.n = static_cast<uint8_t>(1 + random.below(4));
    fate.status = kAbortStatuses[random.below(std::size(kAbortStatuses))];
  }
  if (with_other && random.one_in(4)) {
    int8_t& lock = random.one_in(2) ? fate.before : fate.after;
    lock = static_cast<int8_t>(random.below(locks));
  }
  return fate;
}

}  // namespace

Sequence draw_sequence(uint64_t seed, uint64_t index) {
  Random random(seed, index);
  Sequence sequence;
  unsigned mode = random.below(16);
  sequence.mode = mode < 9    ? OVS_ELISION_ALWAYS
                  : mode < 15 ? OVS_ELISION_AUTO
                              : OVS_ELISION_OFF;
  // Some take more locks than a thread's list holds.
  bool deep = random.one_in(16);
  bool with_other = random.one_in(5);
  unsigned locks = deep ? kLocks : 1 + random.below(4);
  unsigned n = deep ? 20 + random.below(30) : 4 + random.below(16);
  for (unsigned i = 0; i < kLocks; i++) {
    sequence.types[i] = static_cast<uint8_t>(random.below(kLockTypes.size()));
    sequence.elide[i] = !random.one_in(3);
  }
  for (unsigned i = random.below(6); i > 0; i--) {
    sequence.fates.push_back(draw_fate(random, with_other, locks));
  }
  for (unsigned i = 0; i < n; i++) {
    Step::What what = draw_kind(random, with_other);
    if (deep && i < n / 2 && what == Step::kUnlock) what = Step::kLock;
    sequence.steps.push_back({what, static_cast<uint8_t>(random.below(locks)),
                              static_cast<uint8_t>(random.below(256))});
  }
  return sequence;
}

std::string to_string(const Sequence& sequence, const char* prefix) {
  static constexpr const char* kModes[] = {"auto", "off", "always"};
  static constexpr const char* kWhen[] = {"runs", "aborts at its begin",
                                          "aborts at access",
                                          "aborts at its commit"};
  std::string text =
      std::string(prefix) + "mode " + kModes[sequence.mode] + "\n";
  char line[160];
  for (size_t i = 0; i < sequence.fates.size(); i++) {
    const Fate& fate = sequence.fates[i];
    snprintf(line, sizeof line, "%stransaction %zu %s", prefix, i + 1,
             kWhen[fate.when]);
    text += line;
    if (fate.when == Fate::kAtAccess) text += " " + std::to_string(fate.n);
    if (fate.when != Fate::kRuns) {
      snprintf(line, sizeof line, " with status %#x", fate.status);
      text += line;
    }
    if (fate.before >= 0) {
      text += "; before, the other takes lock " + std::to_string(fate.before);
    }
    if (fate.after >= 0) {
      text += "; after an abort, the other takes lock " +
              std::to_string(fate.after);
    }
    text += "\n";
  }
  for (size_t i = 0; i < sequence.steps.size(); i++) {
    const Step& step = sequence.steps[i];
    snprintf(line, sizeof line, "%sstep %zu: %s, lock %u (%s%s), detail %u\n",
             prefix, i, kKinds[step.what].name, step.lock,
             kLockTypes[sequence.types[step.lock]].name,
             sequence.elide[step.lock] ? "" : ", not to be elided",
             step.detail);
    text += line;
  }
  return text;
}

}  // namespace ovsthread::model
