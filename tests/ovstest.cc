// SPDX-License-Identifier: Apache-2.0
//
// ovstest: checks and measures the library on the machine at hand.
//
// This file holds the table of subcommands; each has a file of its own.
#include <config.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "ovstest-commands.h"

namespace ovstest {
namespace {

struct Command {
  absl::string_view name;
  absl::string_view help;
  absl::Status (*run)(Words words);
};

constexpr Command kCommands[] = {
    {"test-cmap check", "Checks cmap, through its C and its C++ face.",
     test_cmap_check},
    {"test-cmap benchmark", "Times cmap and hmap with lock elision off and on.",
     test_cmap_benchmark},
    {"test-cmap sweep", "The same over a range of mutation rates.",
     test_cmap_sweep},
    {"test-hmap", "Checks hmap.", test_hmap},
    {"test-rcu", "Checks RCU.", test_rcu},
    {"test-rwsem check", "Checks the recursive reader-writer semaphore.",
     test_rwsem_check},
    {"elision", "Says why locks are elided here, or why not.", elision},
    {"stats", "Shows the statistics of locks of running programs.", stats},
};

void print_help() {
  std::fputs(
      "usage: ovstest COMMAND [ARGUMENT]... [OPTION]...\n"
      "Checks and measures libovsthread on this machine.\n\nCommands:\n",
      stdout);
  for (const Command& command : kCommands) {
    absl::PrintF("  %-20s %s\n", command.name, command.help);
  }
  std::fputs(
      "\nOptions:\n"
      "  --help               Prints this text, or that of a command.\n"
      "  --version            Prints the version.\n"
      "\nExit status: 0 done, 1 a check failed, 2 wrong usage, 77 this "
      "machine\n"
      "can't do it.  Data goes to stdout, progress to stderr if it is a "
      "terminal.\n",
      stdout);
}

absl::Status run(Words words) {
  if (words.empty()) {
    return absl::InvalidArgumentError(
        "ovstest: a command is missing; try --help");
  }
  if (words[0] == "--help" || words[0] == "-h") {
    print_help();
    return absl::OkStatus();
  }
  if (words[0] == "--version") {
    absl::PrintF("ovstest (libovsthread) %s\n", PACKAGE_VERSION);
    return absl::OkStatus();
  }

  // A command is one word, or two of which several commands share the first.
  std::string pair =
      words.size() > 1 ? absl::StrCat(words[0], " ", words[1]) : "";
  std::string siblings;
  for (const Command& command : kCommands) {
    if (command.name == words[0]) return command.run(words.subspan(1));
    if (command.name == pair) return command.run(words.subspan(2));
    if (absl::StartsWith(command.name, absl::StrCat(words[0], " "))) {
      absl::StrAppend(&siblings, siblings.empty() ? "" : ", ", command.name);
    }
  }
  if (siblings.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("ovstest: there is no command \"%s\"; try --help",
                        absl::CHexEscape(words[0])));
  }
  if (words.size() > 1 && (words[1] == "--help" || words[1] == "-h")) {
    print_help();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "ovstest: \"%s\" is not a command; there are %s",
      absl::CHexEscape(pair.empty() ? words[0] : pair), siblings));
}

}  // namespace
}  // namespace ovstest

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("ovstest", ovstest::run(words));
}
