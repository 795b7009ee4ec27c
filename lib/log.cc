// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "elision.h"

namespace ovsthread {
namespace {

constexpr int kMaxMessage = 1024;

void write_to_stderr(ovsthread_log_level level, const char* message, void*) {
  static constexpr const char* kLevels[] = {"info", "warning", "fatal"};
  fprintf(stderr, "ovsthread: %s: %s\n", kLevels[level], message);
}

ovsthread_log_handler* handler = write_to_stderr;
void* handler_aux = nullptr;

}  // namespace

void log_message(ovsthread_log_level level, const char* format, ...) {
  char message[kMaxMessage];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  handler(level, message, handler_aux);
}

void fatal(const char* format, ...) {
  elision::safe_point(elision::SafePoint::kMessage);
  char message[kMaxMessage];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  handler(OVSTHREAD_LOG_FATAL, message, handler_aux);
  abort();
}

}  // namespace ovsthread

void ovsthread_set_log_handler(ovsthread_log_handler* new_handler, void* aux) {
  ovsthread::handler =
      new_handler != nullptr ? new_handler : ovsthread::write_to_stderr;
  ovsthread::handler_aux = aux;
}
