# Every object of the library, so that tests of internals can link them
# although the shared library hides them.
# -ftls-model: any other model calls a function that may allocate, and that would
# abort a transaction.
noinst_LTLIBRARIES += lib/libovsthread-core.la
lib_libovsthread_core_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_libovsthread_core_la_CXXFLAGS = $(AM_CXXFLAGS) $(HWLOC_CFLAGS) -fvisibility=hidden -fno-strict-aliasing -ftls-model=initial-exec
lib_libovsthread_core_la_LIBADD = $(HWLOC_LIBS)
lib_libovsthread_core_la_SOURCES = \
	lib/atomics-fences.cc \
	lib/atomics.h \
	lib/cmap-batch.h \
	lib/cmap-bin.h \
	lib/cmap-core.h \
	lib/cmap-count.h \
	lib/cmap-cursor.h \
	lib/cmap-migrate.h \
	lib/cmap-mix.h \
	lib/cmap-platform.cc \
	lib/cmap-platform.h \
	lib/cmap-position.h \
	lib/cmap-table.h \
	lib/cmap.cc \
	lib/compat-locks.cc \
	lib/compat-pthread.cc \
	lib/compat-rcu.cc \
	lib/compat-rwsem.cc \
	lib/compat-thread.cc \
	lib/cpu-clock.h \
	lib/elision-adapt.h \
	lib/elision-counts.cc \
	lib/elision-counts.h \
	lib/elision-engine.h \
	lib/elision-layer.h \
	lib/elision-policy.h \
	lib/elision-rtm.cc \
	lib/elision-rtm.h \
	lib/elision-sampling.h \
	lib/elision-veto.cc \
	lib/elision-veto.h \
	lib/elision.cc \
	lib/elision.h \
	lib/futex.h \
	lib/held-locks.cc \
	lib/held-locks.h \
	lib/hmap-stripes.h \
	lib/hmap.cc \
	lib/lock-exclusive.h \
	lib/lock-misuse.cc \
	lib/lock-misuse.h \
	lib/lock-operations.h \
	lib/lock-platform.cc \
	lib/lock-platform.h \
	lib/lock-site.cc \
	lib/lock-site.h \
	lib/lock-stats-format.cc \
	lib/lock-stats-memory.cc \
	lib/lock-stats-memory.h \
	lib/lock-stats-recorder.cc \
	lib/lock-stats-recorder.h \
	lib/lock-stats-registry.cc \
	lib/lock-stats-registry.h \
	lib/lock-stats-table.cc \
	lib/lock-stats-table.h \
	lib/lock-word.h \
	lib/log.cc \
	lib/log.h \
	lib/mutex-core.h \
	lib/mutex-operations.cc \
	lib/mutex-operations.h \
	lib/mutex.cc \
	lib/rcu-batch.h \
	lib/rcu-core.h \
	lib/rcu-domain.cc \
	lib/rcu-sleepers.cc \
	lib/rcu-sleepers.h \
	lib/rcu.cc \
	lib/rcu.h \
	lib/rwlock-core.h \
	lib/rwlock-lines.cc \
	lib/rwlock-lines.h \
	lib/rwlock-operations.cc \
	lib/rwlock-operations.h \
	lib/rwlock-readers.h \
	lib/rwlock.cc \
	lib/rwsem-core.h \
	lib/rwsem-operations.cc \
	lib/rwsem-operations.h \
	lib/rwsem.cc \
	lib/spinlock-core.h \
	lib/spinlock-operations.h \
	lib/spinlock.cc \
	lib/thread-barrier.h \
	lib/thread-face.cc \
	lib/thread-id.cc \
	lib/thread-id.h \
	lib/thread-keys.cc \
	lib/thread-keys.h \
	lib/thread-random.cc \
	lib/thread-random.h \
	lib/thread.cc \
	lib/thread.h \
	lib/topology.cc \
	lib/topology.h \
	lib/version.cc

# -z now: a lazily bound call would abort the transaction that makes it first.
# -z nodelete: threads that have used the library call it when they end, be it
# after dlclose().
lib_LTLIBRARIES += lib/libovsthread.la
lib_libovsthread_la_SOURCES =
nodist_EXTRA_lib_libovsthread_la_SOURCES = dummy.cc
lib_libovsthread_la_LIBADD = lib/libovsthread-core.la
lib_libovsthread_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0 \
	-Wl,-z,now -Wl,-z,nodelete -Wl,--version-script=$(srcdir)/lib/libovsthread.map
EXTRA_lib_libovsthread_la_DEPENDENCIES = lib/libovsthread.map
EXTRA_DIST += lib/libovsthread.map

pkgconfig_DATA = lib/ovsthread.pc lib/ovsthread-compat.pc
