// SPDX-License-Identifier: Apache-2.0
//
// Messages of the library itself.  All of them leave through the handler of
// ovsthread/log.h.
#ifndef OVSTHREAD_LIB_LOG_H_
#define OVSTHREAD_LIB_LOG_H_

#include <ovsthread/log.h>

#include <cstdarg>

namespace ovsthread {

// Formats one line as printf does and hands it to the handler.  The text is cut
// at 1023 bytes.  Never called inside a transaction: a caller that may be in
// one passes a safe point first (lib/elision.h).
void log_message(ovsthread_log_level level, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
void vlog_message(ovsthread_log_level level, const char* format, va_list args)
    __attribute__((format(printf, 2, 0)));

// The last line of a misuse or of a failure that the API cannot return: logs it
// at OVSTHREAD_LOG_FATAL, then abort()s.  Passes a safe point first, so that a
// message about an elided section is seen.
[[noreturn]] void fatal(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOG_H_
