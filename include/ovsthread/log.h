/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the library's messages go.  C and C++.
 *
 * The library writes a message only for a misuse that it is about to abort on,
 * for a thread that holds up grace periods, and for a change in what elision
 * does.  Everything goes through one handler; the default one writes a line to
 * stderr. */
#ifndef OVSTHREAD_LOG_H_
#define OVSTHREAD_LOG_H_

#include <ovsthread/annotations.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ovsthread_log_level {
  OVSTHREAD_LOG_INFO,
  OVSTHREAD_LOG_WARN,
  OVSTHREAD_LOG_FATAL /* The process ends right after the message. */
};

/* Takes one MESSAGE, a line without its newline.  May be called by any thread,
 * never inside a transaction.  It must not take a lock of this library. */
typedef void ovsthread_log_handler(enum ovsthread_log_level level,
                                   const char *message, void *aux);

/* Sends messages to HANDLER with AUX from now on; NULL restores the default.
 * Not to be called while another thread may be logging.  Progress: lock-free.
 */
OVSTHREAD_API void ovsthread_set_log_handler(ovsthread_log_handler *handler,
                                             void *aux);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_LOG_H_ */
