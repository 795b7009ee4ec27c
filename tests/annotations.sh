#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Shows that clang's thread-safety analysis sees the annotations of the locks:
# in C and in C++ it accepts what is right and names what is wrong.
srcdir=${srcdir-.}
build=${top_builddir-.}
include=$srcdir/include/ovsthread
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

for compiler in clang clang++; do
  if ! $compiler --version >/dev/null 2>&1; then
    echo "1..0 # SKIP no $compiler"
    exit 0
  fi
done

n=0
flags="-Wall -Wextra -Wthread-safety -fsyntax-only -I$build/include \
-I$srcdir/include -I$include/compat -idirafter $include/compat/fallback"

# check LANGUAGE NAME DIAGNOSTIC: compiles the input behind the declarations of
# that language; DIAGNOSTIC must be among the warnings, none if it is empty.
check() {
  n=$((n + 1))
  case $1 in
    c) command="clang -std=gnu11 -x c" ;;
    *) command="clang++ -std=c++20 -x c++" ;;
  esac
  cat "$work/$1" - >"$work/source"
  $command $flags "$work/source" >"$work/log" 2>&1
  if test -n "$3"; then
    grep -q -e "$3" "$work/log"
  else
    test ! -s "$work/log"
  fi && echo "ok $n - $1: $2" && return
  echo "not ok $n - $1: $2"
  sed 's/^/# /' "$work/log"
}

cat >"$work/c" <<'END'
#include "ovsthread-rwlock.h"
struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
struct ovs_rwlock lock = OVS_RWLOCK_INITIALIZER;
struct ovs_spin spin;
int a OVS_GUARDED_BY(mutex);
int b OVS_GUARDED_BY(lock);
int c OVS_GUARDED_BY(spin);
END

check c "locks taken and released" "" <<'END'
void f(pthread_cond_t *cond) {
  ovs_mutex_lock(&mutex);
  while (!a) ovs_mutex_cond_wait(cond, &mutex);
  ovs_mutex_unlock(&mutex);
  if (!ovs_mutex_trylock(&mutex)) {
    a++;
    ovs_mutex_unlock(&mutex);
  }
  ovs_rwlock_wrlock(&lock);
  b++;
  ovs_rwlock_unlock(&lock);
  if (!ovs_rwlock_tryrdlock(&lock)) ovs_rwlock_unlock(&lock);
  ovs_spin_lock(&spin);
  c++;
  ovs_spin_unlock(&spin);
  if (!ovs_spin_trylock(&spin)) {
    c++;
    ovs_spin_unlock(&spin);
  }
}
END
check c "access without the mutex" "writing variable 'a' requires" <<'END'
void f(void) { a++; }
END
check c "access without the spin lock" "writing variable 'c' requires" <<'END'
void f(void) { c++; }
END
check c "a spin lock left locked" "still held at the end" <<'END'
void f(void) { ovs_spin_lock(&spin); }
END
check c "write under a read lock" "writing variable 'b' requires" <<'END'
void f(void) {
  ovs_rwlock_rdlock(&lock);
  b++;
  ovs_rwlock_unlock(&lock);
}
END
check c "a mutex left locked" "still held at the end" <<'END'
void f(void) { ovs_mutex_lock(&mutex); }
END
check c "wait without the mutex" "'ovs_mutex_cond_wait_at' requires" <<'END'
void f(pthread_cond_t *cond) { ovs_mutex_cond_wait(cond, &mutex); }
END
check c "once" "" <<'END'
static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
void f(void) {
  if (ovsthread_once_start(&once)) ovsthread_once_done(&once);
}
END

cat >"$work/c++" <<'END'
#include <ovsthread/mutex.h>
#include <ovsthread/rwlock.h>
#include <ovsthread/spinlock.h>
using namespace ovsthread;
Mutex mutex;
RwLock lock;
SpinLock spin;
int a OVSTHREAD_GUARDED_BY(mutex);
int b OVSTHREAD_GUARDED_BY(lock);
int c OVSTHREAD_GUARDED_BY(spin);
END

check c++ "guards" "" <<'END'
void f() {
  MutexLock guard(mutex);
  WriterLock writer(lock);
  SpinLockGuard spinning(spin);
  a = b++ + c;
}
int g() {
  ReaderLock reader(lock);
  return b;
}
void h() {
  mutex.AssertHeld();
  a++;
  if (lock.try_lock_shared()) lock.unlock_shared();
  if (spin.try_lock()) spin.unlock();
  spin.AssertHeld();
  c++;
}
END
check c++ "access without the mutex" "writing variable 'a' requires" <<'END'
void f() { a++; }
END
check c++ "access without the spin lock" "writing variable 'c' requires" <<'END'
void f() { c++; }
END
check c++ "write under a read lock" "writing variable 'b' requires" <<'END'
void f() {
  ReaderLock reader(lock);
  b++;
}
END
check c++ "a lock left locked" "still held at the end" <<'END'
void f() { lock.lock(); }
END
check c++ "a lock taken twice" "that is already held" <<'END'
void f() {
  MutexLock guard(mutex);
  mutex.lock();
  mutex.unlock();
}
END
echo "1..$n"
