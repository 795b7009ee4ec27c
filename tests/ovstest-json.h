// SPDX-License-Identifier: Apache-2.0
//
// Writes one JSON value (RFC 8259) piece by piece.  The caller opens and closes
// objects and arrays; commas and escapes are taken care of here.  A number that
// JSON can't express (a NaN stands for "not measured") becomes null.
#ifndef OVSTHREAD_TESTS_OVSTEST_JSON_H_
#define OVSTHREAD_TESTS_OVSTEST_JSON_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ovstest {

class JsonWriter {
 public:
  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_array() { return open('['); }
  JsonWriter& close_array() { return close(']'); }

  // Names the member of an object whose value follows.
  JsonWriter& key(absl::string_view name);

  JsonWriter& value(absl::string_view text);
  JsonWriter& value(const char* text) { return value(absl::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(uint64_t number);
  JsonWriter& value(unsigned number) { return value(uint64_t{number}); }
  JsonWriter& value(bool truth);

  template <class T>
  JsonWriter& member(absl::string_view name, const T& v) {
    return key(name).value(v);
  }

  // The text written so far.
  const std::string& text() const { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void quote(absl::string_view text);

  std::string text_;
  bool first_ = true;  // Nothing precedes in the innermost bracket, or a key.
};

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_JSON_H_
