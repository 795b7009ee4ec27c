// SPDX-License-Identifier: Apache-2.0
//
// Lock statistics as a table for people, as JSON (RFC 8259) and in the text
// exposition format of Prometheus, version 0.0.4: the samples of one metric in
// one group behind its HELP and TYPE lines, no two with the same labels, and in
// label values a backslash before each backslash, quote and line feed.
#include <ovsthread/lock-stats.h>

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Entry = ovs_lock_stats_entry;

// The text so far; it is null once memory was short.
class Text {
 public:
  Text() : stream_(open_memstream(&data_, &size_)) {}
  ~Text() {
    if (stream_ != nullptr) fclose(stream_);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    if (stream_ == nullptr) return;
    va_list args;
    va_start(args, format);
    vfprintf(stream_, format, args);
    va_end(args);
  }

  void add_bytes(const char* bytes, size_t n) {
    if (stream_ != nullptr) fwrite_unlocked(bytes, 1, n, stream_);
  }

  char* take() {
    if (stream_ == nullptr) return nullptr;
    bool failed = ferror(stream_) != 0;
    failed |= fclose(stream_) != 0;
    stream_ = nullptr;
    if (!failed) return data_;
    free(data_);
    return nullptr;
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  FILE* stream_;
};

// How many bytes at TEXT are one character of UTF-8; 0: none are.
int character(const unsigned char* text) {
  if (text[0] < 0x80) return 1;
  int n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
  if (text[0] < 0xc2 || text[0] > 0xf4) return 0;
  for (int i = 1; i < n; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  // No overlong forms, no surrogates, nothing beyond the last code point.
  if ((text[0] == 0xe0 && text[1] < 0xa0) ||
      (text[0] == 0xed && text[1] > 0x9f) ||
      (text[0] == 0xf0 && text[1] < 0x90) ||
      (text[0] == 0xf4 && text[1] > 0x8f)) {
    return 0;
  }
  return n;
}

// Quoted as both formats have it; what is no UTF-8, and control characters but
// for the line feed, become question marks.
void add_quoted(Text& text, const char* what) {
  text.add_bytes("\"", 1);
  while (*what != '\0') {
    int n = character(reinterpret_cast<const unsigned char*>(what));
    if (*what == '\n') {
      text.add_bytes("\\n", 2);
    } else if (n == 0 || (n == 1 && (*what < ' ' || *what == '\x7f'))) {
      text.add_bytes("?", 1);
    } else {
      if (*what == '"' || *what == '\\') text.add_bytes("\\", 1);
      text.add_bytes(what, static_cast<size_t>(n));
    }
    what += std::max(n, 1);
  }
  text.add_bytes("\"", 1);
}

bool has_several_processes(const ovs_lock_stats& stats) {
  for (size_t i = 1; i < stats.n; i++) {
    if (stats.entries[i].pid != stats.entries[0].pid) return true;
  }
  return false;
}

uint64_t all_aborts(const Entry& entry) {
  uint64_t sum = 0;
  for (uint64_t n : entry.aborts) sum += n;
  return sum;
}

// The table.

// Left-justified and padded to WIDTH, without what could steer a terminal.
void add_plain(Text& text, const char* what, size_t width) {
  size_t n = 0;
  for (; *what != '\0'; what++, n++) {
    text.add_bytes(*what >= ' ' && *what < '\x7f' ? what : "?", 1);
  }
  text.add("%*s", static_cast<int>(std::max(width, n) - n), "");
}

void add_time(Text& text, uint64_t ns) {
  double value = static_cast<double>(ns);
  const char* unit = "ns";
  for (const char* next : {"us", "ms", "s"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = next;
  }
  text.add(" %6.*f %-2s", ns < 1000 ? 0 : 1, value, unit);
}

void add_table(Text& text, const ovs_lock_stats& stats) {
  bool pids = has_several_processes(stats);
  size_t lock_width = 4;
  size_t site_width = 4;
  for (size_t i = 0; i < stats.n; i++) {
    lock_width = std::max(lock_width, strlen(stats.entries[i].lock));
    site_width = std::max(site_width, strlen(stats.entries[i].site));
  }
  if (pids) text.add("%7s  ", "PID");
  add_plain(text, "LOCK", lock_width);
  text.add("  ");
  add_plain(text, "SITE", site_width);
  text.add("  %-5s %12s %8s %10s %10s %9s %9s  %s\n", "USE", "ACQUIRED",
           "ELIDED", "ABORTS", "WAITS", "WAITED", "LONGEST", "WAY");
  for (size_t i = 0; i < stats.n; i++) {
    const Entry& entry = stats.entries[i];
    if (pids) text.add("%7d  ", entry.pid);
    add_plain(text, entry.lock, lock_width);
    text.add("  ");
    add_plain(text, entry.site, site_width);
    double percent = entry.acquisitions == 0
                         ? 0
                         : 100 * static_cast<double>(entry.elided) /
                               static_cast<double>(entry.acquisitions);
    text.add("  %-5s %12" PRIu64 " %6.1f %% %10" PRIu64 " %10" PRIu64,
             ovs_lock_use_name(entry.use), entry.acquisitions, percent,
             all_aborts(entry), entry.contended);
    add_time(text, entry.waited_ns);
    add_time(text, entry.longest_ns);
    text.add("  %s\n", ovs_lock_way_name(entry.way));
  }
}

// JSON.

template <class Name, class Enum>
void add_counts(Text& text, const char* what, const uint64_t* counts, int n,
                Name name, Enum) {
  text.add(",\"%s\":{", what);
  for (int i = 0; i < n; i++) {
    text.add("%s\"%s\":%" PRIu64, i == 0 ? "" : ",", name(static_cast<Enum>(i)),
             counts[i]);
  }
  text.add("}");
}

void add_json(Text& text, const ovs_lock_stats& stats) {
  text.add("{\"locks\":[");
  for (size_t i = 0; i < stats.n; i++) {
    const Entry& entry = stats.entries[i];
    text.add("%s{\"pid\":%d,\"lock\":", i == 0 ? "" : ",", entry.pid);
    add_quoted(text, entry.lock);
    text.add(",\"site\":");
    add_quoted(text, entry.site);
    text.add(",\"id\":%" PRIu32 ",\"address\":\"0x%" PRIx64 "\"", entry.id,
             entry.address);
    text.add(",\"use\":\"%s\",\"way\":\"%s\"", ovs_lock_use_name(entry.use),
             ovs_lock_way_name(entry.way));
    text.add(",\"acquisitions\":%" PRIu64 ",\"elided\":%" PRIu64
             ",\"real\":%" PRIu64,
             entry.acquisitions, entry.elided, entry.real);
    text.add(",\"contended\":%" PRIu64 ",\"waited_ns\":%" PRIu64
             ",\"longest_ns\":%" PRIu64,
             entry.contended, entry.waited_ns, entry.longest_ns);
    add_counts(text, "aborts", entry.aborts, OVS_N_ABORTS,
               ovs_elision_abort_name, ovs_elision_abort());
    add_counts(text, "safe_points", entry.safe_points, OVS_N_SAFE_POINTS,
               ovs_safe_point_name, ovs_safe_point());
    text.add("}");
  }
  text.add("]}\n");
}

// Prometheus.

class Exposition {
 public:
  Exposition(Text& text, const ovs_lock_stats& stats)
      : text_(text), stats_(stats) {}

  // SAMPLES adds those of an entry.
  template <class Samples>
  void metric(const char* name, const char* type, const char* help,
              Samples samples) {
    name_ = name;
    text_.add("# HELP ovsthread_lock_%s %s\n# TYPE ovsthread_lock_%s %s\n",
              name, help, name, type);
    for (size_t i = 0; i < stats_.n; i++) samples(stats_.entries[i]);
  }

  void sample(const Entry& entry, uint64_t value, const char* label = nullptr,
              const char* word = "") {
    begin(entry, label, word);
    text_.add("} %" PRIu64 "\n", value);
  }
  void seconds(const Entry& entry, uint64_t ns) {
    begin(entry, nullptr, "");
    text_.add("} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000,
              ns % 1000000000);
  }

 private:
  void begin(const Entry& entry, const char* label, const char* word) {
    text_.add("ovsthread_lock_%s{lock=", name_);
    add_quoted(text_, entry.lock);
    text_.add(",site=");
    add_quoted(text_, entry.site);
    text_.add(",id=\"%" PRIu32 "\",use=\"%s\",pid=\"%d\"", entry.id,
              ovs_lock_use_name(entry.use), entry.pid);
    if (label != nullptr) text_.add(",%s=\"%s\"", label, word);
  }

  Text& text_;
  const ovs_lock_stats& stats_;
  const char* name_ = "";
};

void add_exposition(Text& text, const ovs_lock_stats& stats) {
  Exposition out(text, stats);
  out.metric("acquisitions_total", "counter",
             "Acquisitions, elided and for real.", [&](const Entry& entry) {
               out.sample(entry, entry.elided, "how", "elided");
               out.sample(entry, entry.real, "how", "real");
             });
  out.metric("aborts_total", "counter", "Aborts of elided sections by cause.",
             [&](const Entry& entry) {
               for (int i = 0; i < OVS_N_ABORTS; i++) {
                 out.sample(
                     entry, entry.aborts[i], "cause",
                     ovs_elision_abort_name(static_cast<ovs_elision_abort>(i)));
               }
             });
  out.metric("safe_points_total", "counter",
             "Aborts at what no transaction can do, by kind.",
             [&](const Entry& entry) {
               for (int i = 0; i < OVS_N_SAFE_POINTS; i++) {
                 out.sample(
                     entry, entry.safe_points[i], "kind",
                     ovs_safe_point_name(static_cast<ovs_safe_point>(i)));
               }
             });
  out.metric("waits_total", "counter", "Acquisitions that had to wait.",
             [&](const Entry& entry) { out.sample(entry, entry.contended); });
  out.metric("wait_seconds_total", "counter", "How long they waited.",
             [&](const Entry& entry) { out.seconds(entry, entry.waited_ns); });
  out.metric("longest_wait_seconds", "gauge", "The longest wait.",
             [&](const Entry& entry) { out.seconds(entry, entry.longest_ns); });
  out.metric("way", "gauge", "What acquisitions do now: always 1.",
             [&](const Entry& entry) {
               out.sample(entry, 1, "way", ovs_lock_way_name(entry.way));
             });
}

}  // namespace

char* ovs_lock_stats_format(const ovs_lock_stats* stats,
                            ovs_lock_stats_syntax syntax) {
  Text text;
  switch (syntax) {
    case OVS_LOCK_STATS_JSON:
      add_json(text, *stats);
      break;
    case OVS_LOCK_STATS_PROMETHEUS:
      add_exposition(text, *stats);
      break;
    default:
      add_table(text, *stats);
  }
  return text.take();
}
