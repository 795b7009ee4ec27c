// SPDX-License-Identifier: Apache-2.0
//
// The command line of one subcommand: declared once, then parsed, explained by
// --help, and named in each complaint.
//
// A subcommand declares its arguments and options together with where their
// values go and what values are allowed.  An option is written --name=value or
// --name value and may stand anywhere; "--" ends the options.  A word like -5
// is an argument, not an option, so that a negative count is refused as a
// count.
//
// Every complaint is one line that says what is wrong and what is allowed.  It
// travels as an absl::Status, whose code decides the exit code of the program:
//
//   kOk                 0   done
//   kInvalidArgument    2   the command line is wrong
//   kUnimplemented     77   this machine can't do it
//   any other           1   a check failed
#ifndef OVSTHREAD_TESTS_OVSTEST_COMMAND_LINE_H_
#define OVSTHREAD_TESTS_OVSTEST_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ovstest {

using Words = absl::Span<const absl::string_view>;

// Takes the text of a value.  On failure it returns what is allowed, as in "a
// whole number from 1 to 64"; on success an empty string.
using Setter = std::function<std::string(absl::string_view text)>;

Setter whole_number(uint64_t* value, uint64_t min, uint64_t max);
Setter percentage(double* value);
Setter file_name(std::string* value);
Setter any_text(std::string* value);

template <class T>
Setter one_of(T* value, std::vector<std::pair<absl::string_view, T>> choices) {
  return [value, choices = std::move(choices)](absl::string_view text) {
    std::string allowed;
    for (const auto& [name, choice] : choices) {
      if (name == text) {
        *value = choice;
        return std::string();
      }
      absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", name);
    }
    return absl::StrCat("one of ", allowed);
  };
}

class CommandLine {
 public:
  // NAME as the user types it ("ovstest test-cmap check"), SUMMARY a sentence.
  CommandLine(absl::string_view name, absl::string_view summary)
      : name_(name), summary_(summary) {}

  // Arguments are positional; no required one may follow an optional one.
  void required(absl::string_view name, absl::string_view help, Setter set);
  void optional(absl::string_view name, absl::string_view help, Setter set);

  // An option with a value; VALUE is its name in the help.
  void option(absl::string_view name, absl::string_view value,
              absl::string_view help, Setter set);
  // An option whose value, which must then be attached (--name=value), may be
  // left out: it is DEFAULT_VALUE then.
  void option_or_flag(absl::string_view name, absl::string_view value,
                      absl::string_view default_value, absl::string_view help,
                      Setter set);
  // An option without one.
  void flag(absl::string_view name, absl::string_view help, bool* value);

  // Sets the values.  If WORDS ask for help, prints it to stdout instead and
  // sets help_shown(); the subcommand then has nothing more to do.
  absl::Status parse(Words words);
  bool help_shown() const { return help_shown_; }

  // An error of this command line, for what a single Setter can't see.
  absl::Status error(absl::string_view message) const;

 private:
  struct Argument {
    absl::string_view name;
    absl::string_view help;
    Setter set;
    bool required;
  };
  struct Option {
    absl::string_view name;
    absl::string_view value;          // Empty for a flag.
    absl::string_view default_value;  // Empty: there must be a value.
    absl::string_view help;
    Setter set;
  };

  absl::Status parse_option(Words& words);
  absl::Status set(absl::string_view what, const Setter& setter,
                   absl::string_view text) const;
  std::string help() const;

  std::string name_;
  std::string summary_;
  std::vector<Argument> arguments_;
  std::vector<Option> options_;
  bool help_shown_ = false;
};

// Ends PROGRAM: writes out stdout, prints the message of STATUS if it is one,
// and returns the exit code.  An error of usage names the command itself.
int finish(absl::string_view program, absl::Status status);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_COMMAND_LINE_H_
