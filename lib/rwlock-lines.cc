// SPDX-License-Identifier: Apache-2.0
#include "rwlock-lines.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "log.h"

namespace ovsthread {

constinit thread_local ReaderLine* tls_reader_line = nullptr;
constinit RealAtomics::Atomic<bool> bias_allowed{true};

namespace {

constinit ReaderLines reader_lines;

pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t key;
bool key_made;

void give_back(void* line) {
  // Destructors that run later may lock, and then get one again.
  tls_reader_line = nullptr;
  ReaderLines::give_back(*static_cast<ReaderLine*>(line));
}

}  // namespace

ReaderLines& LockPlatform::readers() { return reader_lines; }

ReaderLine* acquire_reader_line() {
  pthread_once(&key_once,
               [] { key_made = pthread_key_create(&key, give_back) == 0; });
  if (!key_made) return nullptr;
  ReaderLine* line = reader_lines.reuse();
  if (line == nullptr) {
    line = new (std::nothrow) ReaderLine{};
    if (line == nullptr) return nullptr;
    reader_lines.add(line);
  }
  if (pthread_setspecific(key, line) != 0) {
    ReaderLines::give_back(*line);
    return nullptr;
  }
  return tls_reader_line = line;
}

}  // namespace ovsthread

__attribute__((constructor)) static void read_setting() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread yet.
  const char* setting = getenv("OVSTHREAD_RWLOCK_BIAS");
  if (setting == nullptr || strcmp(setting, "on") == 0) return;
  if (strcmp(setting, "off") == 0) {
    ovsthread::bias_allowed.store(false,
                                  ovsthread::kRelaxed);  // Relaxed: alone.
  } else {
    ovsthread::log_message(OVSTHREAD_LOG_WARN,
                           "OVSTHREAD_RWLOCK_BIAS=%s: not off or on; on is "
                           "used",
                           setting);
  }
}
