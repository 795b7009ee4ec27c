// SPDX-License-Identifier: Apache-2.0
//
// Plays random sequences of operations on locks, with transactions that abort
// anywhere, and compares them with a plain model of what a lock promises
// (player.h).
//
// usage: lock-sequences [INDEX]     one sequence alone
//
// The seed is drawn and printed, or OVSTHREAD_TEST_SEED; how many sequences are
// played, OVSTHREAD_MODEL_SEQUENCES.  They are played in a child, so that
// crashes and hangs are found like differences; the sequence that fails is then
// made as short as it can be, each attempt in a child of its own.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "atomics.h"
#include "model/player.h"
#include "model/sequence.h"
#include "ovsthread-rwlock.h"
#include "scripted-layer.h"

namespace ovsthread::model {
namespace {

constexpr uint64_t kSequences = 1000000;

// What a child says before it ends.
struct Report {
  uint64_t index;
  bool differs;
  char what[1400];
  unsigned n_came_back;
  unsigned n_tried_again;
};
Report* report;

void differ(const char* what) {
  snprintf(report->what, sizeof report->what, "%s", what);
  report->differs = true;
  _exit(EXIT_FAILURE);
}

// Whether PLAY, in a child, neither differs nor crashes nor hangs.
template <class Play>
bool passes(Play play) {
  *report = {};
  pid_t child = fork();
  if (child < 0) {
    perror("fork");
    exit(EXIT_FAILURE);
  }
  if (child == 0) {
    Script script;
    // Elsewhere, since the stack is restored.
    static Player* player = new Player(script, differ);
    play(*player);
    report->n_came_back = player->n_came_back();
    report->n_tried_again = player->n_tried_again();
    _exit(EXIT_SUCCESS);
  }
  int status;
  if (waitpid(child, &status, 0) != child) {
    perror("waitpid");
    exit(EXIT_FAILURE);
  }
  if (WIFSIGNALED(status)) {
    snprintf(
        report->what, sizeof report->what, "%s",
        WTERMSIG(status) == SIGALRM ? "it hangs" : strsignal(WTERMSIG(status)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

// A sequence takes some microseconds: this is far more than any, or as many as
// are played under one alarm, need.
constexpr unsigned kPatienceSeconds = 20;
constexpr unsigned kPatienceSecondsAlone = 2;

bool passes_alone(const Sequence& sequence) {
  return passes([&](Player& player) {
    alarm(kPatienceSecondsAlone);
    player.play(sequence);
  });
}

// Takes out of LIST of SEQUENCE what it fails without.
template <class Item>
bool shorten(Sequence& sequence, std::vector<Item> Sequence::*list) {
  bool shorter = false;
  for (size_t i = (sequence.*list).size(); i-- > 0;) {
    Sequence attempt = sequence;
    (attempt.*list).erase((attempt.*list).begin() + static_cast<long>(i));
    if (passes_alone(attempt)) continue;
    sequence = std::move(attempt);
    shorter = true;
  }
  return shorter;
}

void explain(uint64_t seed, uint64_t index) {
  printf("# sequence %" PRIu64 " of seed %" PRIu64 ": %s\n", index, seed,
         report->what);
  fflush(stdout);
  Sequence sequence = draw_sequence(seed, index);
  if (passes_alone(sequence)) {
    printf("# alone it passes: what came before matters\n%s",
           to_string(sequence, "#   ").c_str());
    return;
  }
  while (shorten(sequence, &Sequence::steps) ||
         shorten(sequence, &Sequence::fates)) {
  }
  passes_alone(sequence);
  printf("# replay: OVSTHREAD_TEST_SEED=%" PRIu64 " lock-sequences %" PRIu64
         "\n# shortest: %s\n%s",
         seed, index, report->what, to_string(sequence, "#   ").c_str());
}

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? strtoull(text, nullptr, 0) : otherwise;
}

void play_all(Player& player, uint64_t seed, uint64_t n) {
  constexpr uint64_t kAlarmPeriod = 1024;
  for (uint64_t i = 0; i < n; i++) {
    if (i % kAlarmPeriod == 0) alarm(kPatienceSeconds);
    report->index = i;
    player.play(draw_sequence(seed, i));
  }
}

int run(int argc, char** argv) {
  report =
      static_cast<Report*>(mmap(nullptr, sizeof *report, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (report == MAP_FAILED) {
    perror("mmap");
    return EXIT_FAILURE;
  }
  uint64_t seed = number_from("OVSTHREAD_TEST_SEED", std::random_device()());
  uint64_t n = number_from("OVSTHREAD_MODEL_SEQUENCES", kSequences);
  printf("# seed %" PRIu64 "\n", seed);
  fflush(stdout);
  if (argc > 1) {
    uint64_t index = strtoull(argv[1], nullptr, 0);
    printf("1..1\n%s", to_string(draw_sequence(seed, index), "# ").c_str());
    bool passed = passes_alone(draw_sequence(seed, index));
    printf("%sok 1 - sequence %" PRIu64 "\n", passed ? "" : "not ", index);
    if (!passed) explain(seed, index);
    return passed ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  bool passed = passes([&](Player& player) { play_all(player, seed, n); });
  unsigned n_came_back = report->n_came_back;
  unsigned n_tried_again = report->n_tried_again;
  // Few returns say little, since places share the entries of a table.
  bool enough = passed && n_came_back >= 400;
  printf("1..%d\n%sok 1 - %" PRIu64 " sequences do as the model says\n",
         enough ? 2 : 1, passed ? "" : "not ", n);
  if (!passed) {
    explain(seed, report->index);
    return EXIT_FAILURE;
  }
  printf("# of %u returns, %u tried again\n", n_came_back, n_tried_again);
  if (!enough) return EXIT_SUCCESS;
  bool learns = n_tried_again * 8 <= n_came_back;
  printf("%sok 2 - what did not fit is left alone\n", learns ? "" : "not ");
  return learns ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace ovsthread::model

int main(int argc, char** argv) {
  if (OVSTHREAD_THREAD_SANITIZER) {
    puts("1..0 # SKIP the thread sanitizer does not know restored stacks");
    return EXIT_SUCCESS;
  }
  // The model looks for readers in the word, where announced ones are not.
  ovs_rwlock_set_bias(false);
  return ovsthread::model::run(argc, argv);
}
