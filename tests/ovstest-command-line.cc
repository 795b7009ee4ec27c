// SPDX-License-Identifier: Apache-2.0
#include "ovstest-command-line.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace ovstest {
namespace {

bool is_option(absl::string_view word) {
  return word.size() > 1 && word[0] == '-' && !absl::ascii_isdigit(word[1]) &&
         word[1] != '.';
}

}  // namespace

Setter whole_number(uint64_t* value, uint64_t min, uint64_t max) {
  return [=](absl::string_view text) -> std::string {
    uint64_t number;
    if (!text.empty() &&
        std::all_of(text.begin(), text.end(), absl::ascii_isdigit) &&
        absl::SimpleAtoi(text, &number) && number >= min && number <= max) {
      *value = number;
      return "";
    }
    return absl::StrCat("a whole number from ", min, " to ", max);
  };
}

Setter percentage(double* value) {
  return [=](absl::string_view text) -> std::string {
    double number;
    // The comparisons are false for a NaN.
    if (absl::SimpleAtod(text, &number) && number >= 0 && number <= 100) {
      *value = number;
      return "";
    }
    return "a number from 0 to 100";
  };
}

Setter file_name(std::string* value) {
  return [=](absl::string_view text) -> std::string {
    *value = std::string(text);
    return text.empty() ? "the name of a file" : "";
  };
}

Setter any_text(std::string* value) {
  return [=](absl::string_view text) -> std::string {
    *value = std::string(text);
    return "";
  };
}

void CommandLine::required(absl::string_view name, absl::string_view help,
                           Setter set) {
  arguments_.push_back({name, help, std::move(set), true});
}

void CommandLine::optional(absl::string_view name, absl::string_view help,
                           Setter set) {
  arguments_.push_back({name, help, std::move(set), false});
}

void CommandLine::option(absl::string_view name, absl::string_view value,
                         absl::string_view help, Setter set) {
  options_.push_back({name, value, "", help, std::move(set)});
}

void CommandLine::option_or_flag(absl::string_view name,
                                 absl::string_view value,
                                 absl::string_view default_value,
                                 absl::string_view help, Setter set) {
  options_.push_back({name, value, default_value, help, std::move(set)});
}

void CommandLine::flag(absl::string_view name, absl::string_view help,
                       bool* value) {
  options_.push_back({name, "", "", help, [value](absl::string_view) {
                        *value = true;
                        return std::string();
                      }});
}

absl::Status CommandLine::error(absl::string_view message) const {
  return absl::InvalidArgumentError(absl::StrCat(name_, ": ", message));
}

absl::Status CommandLine::set(absl::string_view what, const Setter& setter,
                              absl::string_view text) const {
  std::string allowed = setter(text);
  if (allowed.empty()) return absl::OkStatus();
  return error(absl::StrFormat("%s is \"%s\"; it must be %s", what,
                               absl::CHexEscape(text), allowed));
}

absl::Status CommandLine::parse(Words words) {
  std::vector<absl::string_view> values;
  while (!words.empty()) {
    absl::string_view word = words[0];
    if (word == "--help" || word == "-h") {
      std::fputs(help().c_str(), stdout);
      help_shown_ = true;
      return absl::OkStatus();
    } else if (word == "--") {
      values.insert(values.end(), words.begin() + 1, words.end());
      break;
    } else if (is_option(word)) {
      if (absl::Status status = parse_option(words); !status.ok()) {
        return status;
      }
    } else {
      values.push_back(word);
      words.remove_prefix(1);
    }
  }

  for (size_t i = 0; i < arguments_.size(); i++) {
    const Argument& argument = arguments_[i];
    if (i >= values.size()) {
      if (!argument.required) break;
      return error(absl::StrCat(argument.name, " is missing; try --help"));
    }
    absl::Status status = set(argument.name, argument.set, values[i]);
    if (!status.ok()) return status;
  }
  if (values.size() > arguments_.size()) {
    return error(absl::StrFormat("\"%s\" is one argument too many; try --help",
                                 absl::CHexEscape(values[arguments_.size()])));
  }
  return absl::OkStatus();
}

// Takes one option, and its value if that is a word of its own, off WORDS.
absl::Status CommandLine::parse_option(Words& words) {
  absl::string_view name = words[0];
  words.remove_prefix(1);
  size_t equals = name.find('=');
  bool attached = equals != absl::string_view::npos;
  absl::string_view value;
  if (attached) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }

  auto option = std::find_if(options_.begin(), options_.end(),
                             [&](const Option& o) { return o.name == name; });
  if (option == options_.end()) {
    return error(absl::StrFormat("there is no option \"%s\"; try --help",
                                 absl::CHexEscape(name)));
  }
  if (option->value.empty()) {
    if (attached) return error(absl::StrCat(name, " takes no value"));
  } else if (!attached && !option->default_value.empty()) {
    value = option->default_value;
  } else if (!attached) {
    if (words.empty()) {
      return error(
          absl::StrCat(name, " needs a value: ", name, "=", option->value));
    }
    value = words[0];
    words.remove_prefix(1);
  }
  return set(name, option->set, value);
}

std::string CommandLine::help() const {
  std::string usage = absl::StrCat("usage: ", name_);
  std::string details;
  for (const Argument& argument : arguments_) {
    absl::StrAppend(&usage, " ", argument.required ? "" : "[", argument.name,
                    argument.required ? "" : "]");
    absl::StrAppendFormat(&details, "  %-20s %s\n", argument.name,
                          argument.help);
  }
  if (!options_.empty()) usage += " [OPTION]...";
  details += "\nOptions:\n";
  for (const Option& option : options_) {
    absl::StrAppendFormat(
        &details, "  %-20s %s\n",
        option.default_value.empty()
            ? absl::StrCat(option.name, option.value.empty() ? "" : "=",
                           option.value)
            : absl::StrCat(option.name, "[=", option.value, "]"),
        option.help);
  }
  absl::StrAppendFormat(&details, "  %-20s %s\n", "--help",
                        "Prints this text.");
  return absl::StrCat(usage, "\n", summary_, "\n",
                      arguments_.empty() ? "" : "\n", details);
}

int finish(absl::string_view program, absl::Status status) {
  if (status.ok() && (std::fflush(stdout) != 0 || std::ferror(stdout))) {
    status = absl::DataLossError(absl::StrCat(
        "can't write to stdout: ", std::generic_category().message(errno)));
  }
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      absl::FPrintF(stderr, "%s\n", status.message());
      return 2;
    case absl::StatusCode::kUnimplemented:
      absl::FPrintF(stderr, "%s: %s\n", program, status.message());
      return 77;
    default:
      absl::FPrintF(stderr, "%s: %s\n", program, status.message());
      return 1;
  }
}

}  // namespace ovstest
