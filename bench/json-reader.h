// SPDX-License-Identifier: Apache-2.0
//
// Reads JSON (RFC 8259) that programs of this folder have written.
//
// Enough for that: \u escapes become a question mark, and what is no JSON is
// told from what is, but not where it goes wrong.
#ifndef OVSTHREAD_BENCH_JSON_READER_H_
#define OVSTHREAD_BENCH_JSON_READER_H_

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// A value of any kind; what it is not, is empty.
struct Json {
  std::string text;  // A string, or the word true, false or null.
  double number = NAN;
  std::vector<Json> elements;
  std::map<std::string, Json> members;

  // The member NAME, or null if there is none.
  const Json* find(const std::string& name) const {
    auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  }
};

class JsonReader {
 public:
  // The one value that TEXT is; nothing if it is not JSON.
  static std::optional<Json> read(const std::string& text) {
    JsonReader reader(text.c_str());
    Json value;
    if (!reader.value(&value)) return std::nullopt;
    reader.skip_space();
    if (*reader.next_ != '\0') return std::nullopt;
    return value;
  }

 private:
  explicit JsonReader(const char* text) : next_(text) {}

  void skip_space() {
    while (std::isspace(static_cast<unsigned char>(*next_))) next_++;
  }
  // Takes C if it comes next.
  bool take(char c) {
    skip_space();
    if (*next_ != c) return false;
    next_++;
    return true;
  }

  bool value(Json* value) {
    if (take('{')) return object(value);
    if (take('[')) return array(value);
    if (take('"')) return string(&value->text);
    for (const char* word : {"true", "false", "null"}) {
      if (std::strncmp(next_, word, std::strlen(word)) == 0) {
        value->text = word;
        next_ += std::strlen(word);
        return true;
      }
    }
    return number(&value->number);
  }

  bool object(Json* value) {
    if (take('}')) return true;
    do {
      std::string name;
      if (!take('"') || !string(&name) || !take(':')) return false;
      if (!this->value(&value->members[name])) return false;
    } while (take(','));
    return take('}');
  }

  bool array(Json* value) {
    if (take(']')) return true;
    do {
      if (!this->value(&value->elements.emplace_back())) return false;
    } while (take(','));
    return take(']');
  }

  // The opening quote is taken.
  bool string(std::string* text) {
    for (; *next_ != '"'; next_++) {
      if (*next_ == '\0') return false;
      if (*next_ != '\\') {
        *text += *next_;
        continue;
      }
      switch (*++next_) {
        case '\0':
          return false;
        case 'n':
          *text += '\n';
          break;
        case 't':
          *text += '\t';
          break;
        case 'u':
          for (int i = 0; i < 4; i++) {
            if (!std::isxdigit(static_cast<unsigned char>(*++next_))) {
              return false;
            }
          }
          *text += '?';
          break;
        default:
          *text += *next_;
      }
    }
    next_++;
    return true;
  }

  bool number(double* number) {
    char* end;
    *number = std::strtod(next_, &end);
    bool read = end != next_;
    next_ = end;
    return read;
  }

  const char* next_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_JSON_READER_H_
