// SPDX-License-Identifier: Apache-2.0
//
// Statistics of locks as text, JSON and for Prometheus, to the letter.
#include <gtest/gtest.h>
#include <ovsthread/lock-stats.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ovsthread {
namespace {

ovs_lock_stats_entry entry(const char* lock, const char* site, uint32_t id) {
  ovs_lock_stats_entry result = {};
  std::snprintf(result.lock, sizeof result.lock, "%s", lock);
  std::snprintf(result.site, sizeof result.site, "%s", site);
  result.pid = 42;
  result.id = id;
  result.use = OVS_LOCK_USE_WRITE;
  result.way = OVS_LOCK_WAY_ELIDES;
  result.address = 0xabc0;
  result.elided = 30;
  result.real = 10;
  result.acquisitions = 40;
  result.contended = 7;
  result.waited_ns = 1234567890123;
  result.longest_ns = 4500;
  result.aborts[OVS_ABORT_CAPACITY] = 3;
  result.safe_points[OVS_SAFE_POINT_WAKE] = 2;
  return result;
}

std::string format(std::vector<ovs_lock_stats_entry> entries,
                   ovs_lock_stats_syntax syntax) {
  ovs_lock_stats stats = {entries.size(), entries.data()};
  char* text = ovs_lock_stats_format(&stats, syntax);
  std::string result = text;
  std::free(text);
  return result;
}

TEST(LockStatisticsFormat, Text) {
  EXPECT_EQ(format({entry("flows", "flows.c:1", 1),
                    entry("\x1b[2J", "a-longer-name.c:100", 2)},
                   OVS_LOCK_STATS_TEXT),
            "LOCK   SITE                 USE       ACQUIRED   ELIDED     ABORTS"
            "      WAITS    WAITED   LONGEST  WAY\n"
            "flows  flows.c:1            write           40   75.0 %          3"
            "          7 1234.6 s     4.5 us  elides\n"
            "?[2J   a-longer-name.c:100  write           40   75.0 %          3"
            "          7 1234.6 s     4.5 us  elides\n");
}

TEST(LockStatisticsFormat, TextOfSeveralProcesses) {
  ovs_lock_stats_entry other = entry("flows", "flows.c:1", 1);
  other.pid = 4242;
  std::string text =
      format({entry("flows", "flows.c:1", 1), other}, OVS_LOCK_STATS_TEXT);
  EXPECT_EQ(text.find("    PID  LOCK "), 0u);
  EXPECT_NE(text.find("\n     42  flows"), std::string::npos);
  EXPECT_NE(text.find("\n   4242  flows"), std::string::npos);
}

TEST(LockStatisticsFormat, TextOfAPlaceThatOnlyWaited) {
  ovs_lock_stats_entry waited = entry("flows", "flows.c:1", 1);
  waited.elided = waited.real = waited.acquisitions = 0;
  EXPECT_NE(format({waited}, OVS_LOCK_STATS_TEXT)
                .find("write            0    0.0 %          3"),
            std::string::npos);
}

TEST(LockStatisticsFormat, Json) {
  EXPECT_EQ(
      format({entry("a \"b\" \\ c\n\x01\xff\xc3\xa4", "flows.c:1", 1)},
             OVS_LOCK_STATS_JSON),
      "{\"locks\":[{\"pid\":42,\"lock\":\"a \\\"b\\\" \\\\ c\\n??\xc3\xa4\","
      "\"site\":\"flows.c:1\",\"id\":1,\"address\":\"0xabc0\",\"use\":"
      "\"write\","
      "\"way\":\"elides\",\"acquisitions\":40,\"elided\":30,\"real\":10,"
      "\"contended\":7,\"waited_ns\":1234567890123,\"longest_ns\":4500,"
      "\"aborts\":{\"busy\":0,\"conflict\":0,\"capacity\":3,\"cold\":0,"
      "\"nested\":0,\"safe_point\":0,\"other\":0},"
      "\"safe_points\":{\"condition_wait\":0,\"rcu_register\":0,\"quiesce\":0,"
      "\"synchronize\":0,\"barrier\":0,\"fork\":0,\"thread_start\":0,"
      "\"message\":0,\"wake\":2,\"migration\":0,\"allocation\":0,"
      "\"statistics\":0,\"mode_change\":0}}]}\n");
  EXPECT_EQ(format({}, OVS_LOCK_STATS_JSON), "{\"locks\":[]}\n");
}

TEST(LockStatisticsFormat, Prometheus) {
  std::string text = format({entry("a \"b\" \\ c\n\xff", "flows.c:1", 1)},
                            OVS_LOCK_STATS_PROMETHEUS);
  const std::string labels =
      "{lock=\"a \\\"b\\\" \\\\ c\\n?\",site=\"flows.c:1\",id=\"1\","
      "use=\"write\",pid=\"42\"";
  EXPECT_EQ(text.find("# HELP ovsthread_lock_acquisitions_total Acquisitions, "
                      "elided and for real.\n"
                      "# TYPE ovsthread_lock_acquisitions_total counter\n"
                      "ovsthread_lock_acquisitions_total" +
                      labels +
                      ",how=\"elided\"} 30\n"
                      "ovsthread_lock_acquisitions_total" +
                      labels + ",how=\"real\"} 10\n"),
            0u)
      << text;
  for (const std::string& sample :
       {"aborts_total" + labels + ",cause=\"capacity\"} 3\n",
        "safe_points_total" + labels + ",kind=\"wake\"} 2\n",
        "waits_total" + labels + "} 7\n",
        "wait_seconds_total" + labels + "} 1234.567890123\n",
        "longest_wait_seconds" + labels + "} 0.000004500\n",
        "way" + labels + ",way=\"elides\"} 1\n"}) {
    EXPECT_NE(text.find("\novsthread_lock_" + sample), std::string::npos)
        << sample;
  }
}

// The samples of a metric are one group behind one HELP and one TYPE line, and
// no two samples have the same labels, whatever the locks are called.
TEST(LockStatisticsFormat, PrometheusGroupsAndIsUnambiguous) {
  ovs_lock_stats_entry other_process = entry("one", "name.c:1", 1);
  other_process.pid = 43;
  std::istringstream text(format(
      {entry("one", "name.c:1", 1), entry("one", "name.c:1", 2), other_process},
      OVS_LOCK_STATS_PROMETHEUS));
  std::set<std::string> seen;
  std::string metric;
  for (std::string line; std::getline(text, line);) {
    if (line[0] == '#') {
      EXPECT_TRUE(seen.insert(line).second) << line;
      metric = line.substr(7, line.find(' ', 7) - 7);
      continue;
    }
    EXPECT_EQ(line.substr(0, line.find('{')), metric);
    EXPECT_TRUE(seen.insert(line.substr(0, line.find('}'))).second) << line;
  }
  EXPECT_GT(seen.size(), 60u);
}

// Only characters of UTF-8 pass.
TEST(LockStatisticsFormat, Utf8) {
  const struct {
    const char* bytes;
    const char* shown;
  } kCases[] = {
      {"\xc3\xa4", "\xc3\xa4"},
      {"\xe2\x82\xac", "\xe2\x82\xac"},
      {"\xf0\x9f\x94\x92", "\xf0\x9f\x94\x92"},
      {"\xed\x9f\xbf", "\xed\x9f\xbf"},
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"\xc1\xbf", "??"},            // overlong
      {"\xe0\x9f\xbf", "???"},       // overlong
      {"\xf0\x8f\xbf\xbf", "????"},  // overlong
      {"\xed\xa0\x80", "???"},       // a surrogate
      {"\xf4\x90\x80\x80", "????"},  // beyond the last
      {"\xf5\x80\x80\x80", "????"},  // no first byte
      {"\x80", "?"},                 // no first byte
      {"\xe2\x82", "??"},            // cut
      {"\xe2\x28\xa1", "?(?"},       // not continued
      {"\x7f\t", "??"},              // control characters
  };
  for (const auto& [bytes, shown] : kCases) {
    std::string text = format({entry(bytes, "x", 1)}, OVS_LOCK_STATS_JSON);
    EXPECT_NE(text.find("\"lock\":\"" + std::string(shown) + "\","),
              std::string::npos)
        << shown << ": " << text;
  }
}

}  // namespace
}  // namespace ovsthread
