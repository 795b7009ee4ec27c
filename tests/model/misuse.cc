// SPDX-License-Identifier: Apache-2.0
#include "model/misuse.h"

#include <ovsthread/log.h>

#include <cstdio>

#include "elision.h"

namespace ovsthread::model {
namespace {

thread_local jmp_buf* target;
Caught last;

void take_message(ovsthread_log_level level, const char* message, void*) {
  if (level != OVSTHREAD_LOG_FATAL) return;
  snprintf(last.text, sizeof last.text, "%s", message);
  last.in_transaction = elision::in_transaction();
  longjmp(*target, 1);
}

}  // namespace

void catch_misuse() { ovsthread_set_log_handler(take_message, nullptr); }

bool reports_misuse(jmp_buf& buffer, void (*f)(void*), void* aux) {
  target = &buffer;
  if (_setjmp(buffer) != 0) return true;
  f(aux);
  return false;
}

const Caught& caught() { return last; }

const char* name_of(Answer answer) {
  switch (answer) {
    case Answer::kDone:
      return "done";
    case Answer::kBusy:
      return "busy";
    case Answer::kWaits:
      return "waits";
    case Answer::kDeadlock:
      return "deadlock: ";
    case Answer::kNotHeld:
      return "the caller does not hold";
    case Answer::kHeld:
      return "that is held";
    case Answer::kDestroyed:
      return "a destroyed";
    case Answer::kUninitialised:
      break;
  }
  return "an uninitialised";
}

}  // namespace ovsthread::model
