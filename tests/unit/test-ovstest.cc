// SPDX-License-Identifier: Apache-2.0
//
// What ovstest's commands are put together from: the command line, JSON, the
// amounts of memory and the length of a sweep.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "ovstest-command-line.h"
#include "ovstest-json.h"
#include "ovstest-memory.h"
#include "ovstest-sweep-length.h"

namespace ovstest {
namespace {

struct Values {
  uint64_t count = 0;
  double percent = -1;
  bool loud = false;
  std::optional<int> colour;
  std::string file;
  uint64_t seconds = 0;
};

absl::Status parse(std::vector<absl::string_view> words, Values* values) {
  CommandLine line("prog cmd", "Does things.");
  line.required("COUNT", "How many.", whole_number(&values->count, 1, 64));
  line.optional("PERCENT", "How much.", percentage(&values->percent));
  line.flag("--loud", "Shouts.", &values->loud);
  line.option(
      "--colour", "COLOUR", "Which.",
      one_of<std::optional<int>>(&values->colour, {{"red", 1}, {"green", 2}}));
  line.option("--file", "FILE", "Where to.", file_name(&values->file));
  line.option_or_flag("--watch", "SECONDS", "2", "Again.",
                      whole_number(&values->seconds, 1, 9));
  return line.parse(words);
}

// The message, which must be of wrong usage and a single line.
std::string complaint(std::vector<absl::string_view> words) {
  Values values;
  absl::Status status = parse(std::move(words), &values);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
  return std::string(status.message());
}

TEST(CommandLine, SetsArgumentsAndOptionsInAnyOrder) {
  Values values;
  ASSERT_TRUE(
      parse({"--colour", "green", "7", "--loud", "0.5", "--file=x=y"}, &values)
          .ok());
  EXPECT_EQ(values.count, 7u);
  EXPECT_EQ(values.percent, 0.5);
  EXPECT_TRUE(values.loud);
  EXPECT_EQ(values.colour, 2);
  EXPECT_EQ(values.file, "x=y");
}

TEST(CommandLine, AValueMayBeLeftOut) {
  Values values;
  ASSERT_TRUE(parse({"--watch", "7"}, &values).ok());
  EXPECT_EQ(values.seconds, 2u);
  EXPECT_EQ(values.count, 7u);
  ASSERT_TRUE(parse({"7", "--watch=5"}, &values).ok());
  EXPECT_EQ(values.seconds, 5u);
  EXPECT_EQ(complaint({"7", "--watch="}),
            "prog cmd: --watch is \"\"; it must be a whole number from 1 to 9");
}

TEST(CommandLine, LeavesWhatIsNotGiven) {
  Values values;
  ASSERT_TRUE(parse({"1"}, &values).ok());
  EXPECT_EQ(values.percent, -1);
  EXPECT_FALSE(values.loud);
  EXPECT_FALSE(values.colour.has_value());
}

TEST(CommandLine, TakesWhatFollowsTwoDashesAsArguments) {
  Values values;
  ASSERT_TRUE(parse({"--", "3", "4"}, &values).ok());
  EXPECT_EQ(values.count, 3u);
  EXPECT_EQ(complaint({"--", "--loud"}),
            "prog cmd: COUNT is \"--loud\"; it must be a whole number from 1 "
            "to 64");
}

TEST(CommandLine, SaysWhatIsWrongAndWhatIsAllowed) {
  const char* allowed = "it must be a whole number from 1 to 64";
  for (const char* text : {"0", "65", "-5", "+5", "5.0", "five", "", " 5",
                           "18446744073709551616", "0x10"}) {
    EXPECT_EQ(complaint({text}),
              "prog cmd: COUNT is \"" + std::string(text) + "\"; " + allowed);
  }
  for (const char* text : {"-0.1", "100.1", "nan", "inf", "", "ten", "1e999"}) {
    EXPECT_EQ(complaint({"1", text}),
              "prog cmd: PERCENT is \"" + std::string(text) +
                  "\"; it must be a number from 0 to 100");
  }
  EXPECT_EQ(complaint({"1", "2", "--colour=blue"}),
            "prog cmd: --colour is \"blue\"; it must be one of red, green");
  EXPECT_EQ(complaint({"1", "--file="}),
            "prog cmd: --file is \"\"; it must be the name of a file");
  EXPECT_EQ(complaint({}), "prog cmd: COUNT is missing; try --help");
  EXPECT_EQ(complaint({"1", "2", "3"}),
            "prog cmd: \"3\" is one argument too many; try --help");
  EXPECT_EQ(complaint({"--quiet", "1"}),
            "prog cmd: there is no option \"--quiet\"; try --help");
  EXPECT_EQ(complaint({"1", "--loud=yes"}), "prog cmd: --loud takes no value");
  EXPECT_EQ(complaint({"1", "--colour"}),
            "prog cmd: --colour needs a value: --colour=COLOUR");
  EXPECT_EQ(complaint({"a\nb"}),
            "prog cmd: COUNT is \"a\\nb\"; it must be a whole number from 1 to "
            "64");
}

TEST(CommandLine, HelpNamesEverything) {
  Values values;
  CommandLine line("prog cmd", "Does things.");
  line.required("COUNT", "How many.", whole_number(&values.count, 1, 64));
  line.flag("--loud", "Shouts.", &values.loud);
  line.option_or_flag("--watch", "SECONDS", "2", "Again.",
                      whole_number(&values.seconds, 1, 9));
  testing::internal::CaptureStdout();
  EXPECT_TRUE(line.parse(std::vector<absl::string_view>{"--help"}).ok());
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "usage: prog cmd COUNT [OPTION]...\n"
            "Does things.\n\n"
            "  COUNT                How many.\n\n"
            "Options:\n"
            "  --loud               Shouts.\n"
            "  --watch[=SECONDS]    Again.\n"
            "  --help               Prints this text.\n");
  EXPECT_TRUE(line.help_shown());
}

TEST(CommandLine, StatusDecidesTheExitCode) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(finish("prog", absl::OkStatus()), 0);
  EXPECT_EQ(finish("prog", absl::InternalError("a")), 1);
  EXPECT_EQ(finish("prog", absl::InvalidArgumentError("prog cmd: b")), 2);
  EXPECT_EQ(finish("prog", absl::UnimplementedError("c")), 77);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "prog: a\nprog cmd: b\nprog: c\n");
}

TEST(Json, WritesNestedValues) {
  JsonWriter json;
  json.open_object()
      .member("n", uint64_t{18446744073709551615u})
      .member("text", "a \"b\" \\ \n")
      .member("half", 0.5)
      .member("missing", NAN)
      .member("yes", true);
  json.key("list").open_array().value(1u).open_object().close_object();
  json.open_array().close_array().value("x").close_array().close_object();
  EXPECT_EQ(json.text(),
            "{\"n\":18446744073709551615,"
            "\"text\":\"a \\\"b\\\" \\\\ \\u000a\","
            "\"half\":0.5,\"missing\":null,\"yes\":true,"
            "\"list\":[1,{},[],\"x\"]}");
}

TEST(Memory, IsAvailableAndReadable) {
  EXPECT_GT(available_memory(), 1u << 20);
  EXPECT_LT(available_memory(), uint64_t{1} << 60);
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(6.0 * (1 << 30)), "6.0 GiB");
}

// A pass over N elements takes FIXED seconds and PER_ELEMENT for each, times
// MISSES in a map of more than CACHED elements.
struct Machine {
  double fixed, per_element;
  double cached = 1e9, misses = 1;

  double seconds(uint64_t n) const {
    return fixed + static_cast<double>(n) * per_element *
                       (static_cast<double>(n) > cached ? misses : 1);
  }
};

TEST(Sweep, EndsWithinTwoMinutes) {
  constexpr Machine kMachines[] = {
      {0.1, 1e-7},           {0.1, 2e-5}, {2.5, 1e-5},
      {0.1, 1e-5, 20000, 4}, {0.1, 1e-3}, {0.1, 1e-6, 300000, 4},
      {0, 5e-5, 70000, 4},
  };
  for (const Machine& machine : kMachines) {
    double elapsed = 0;
    absl::StatusOr<uint64_t> n = choose_size(1e9, [&](uint64_t trial) {
      elapsed += machine.seconds(trial);
      return machine.seconds(trial);
    });
    ASSERT_TRUE(n.ok());
    double seconds = machine.seconds(*n);
    EXPECT_LE(seconds, 15);
    uint64_t passes = 0;
    // A pass may be slower than all before it.
    for (; another_pass(passes, seconds, elapsed); passes++) {
      elapsed += seconds *= 1.05;
    }
    EXPECT_GE(passes, 3u);
    EXPECT_LE(elapsed, 120);
  }
}

TEST(Sweep, BeginsNoPassThatWouldEndTooLate) {
  EXPECT_TRUE(another_pass(0, 0, 500));
  EXPECT_TRUE(another_pass(1, 30, 70));
  EXPECT_FALSE(another_pass(1, 30, 71));
  EXPECT_TRUE(another_pass(10, 1, 10));
  EXPECT_FALSE(another_pass(11, 1, 11));
}

TEST(Sweep, ChoosesNoMoreElementsThanFit) {
  auto fast = [](uint64_t) { return 1e-6; };
  EXPECT_EQ(*choose_size(1e12, fast), 20000000u);
  EXPECT_EQ(*choose_size(78901, fast), 70000u);
  EXPECT_EQ(*choose_size(10, fast), 1000u);
  EXPECT_EQ(*choose_size(1e12, [](uint64_t) { return 1e6; }), 1000u);
}

TEST(Sweep, StopsChoosingWhenAPassFails) {
  auto fails = [](uint64_t) -> absl::StatusOr<double> {
    return absl::InternalError("wrong");
  };
  EXPECT_EQ(choose_size(1e12, fails).status().message(), "wrong");
}

}  // namespace
}  // namespace ovstest
