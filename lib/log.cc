// SPDX-License-Identifier: Apache-2.0
#include "log.h"

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

void vlog_message(ovsthread_log_level level, const char* format, va_list args) {
  char message[kMaxMessage];
  vsnprintf(message, sizeof message, format, args);
  handler(level, message, handler_aux);
}

void log_message(ovsthread_log_level level, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vlog_message(level, format, args);
  va_end(args);
}

void fatal(const char* format, ...) {
  elision::safe_point(OVS_SAFE_POINT_MESSAGE);
  va_list args;
  va_start(args, format);
  vlog_message(OVSTHREAD_LOG_FATAL, format, args);
  va_end(args);
  abort();
}

}  // namespace ovsthread

void ovsthread_set_log_handler(ovsthread_log_handler* new_handler, void* aux) {
  ovsthread::handler =
      new_handler != nullptr ? new_handler : ovsthread::write_to_stderr;
  ovsthread::handler_aux = aux;
}
