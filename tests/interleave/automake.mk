# Interleaving tests: each program lists its scenarios in its main().
# g++ takes loops of relacy over the other threads for overruns where there are
# none.
interleave_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests \
	-Wno-array-bounds
interleave_ldadd = tests/interleave/libdriver.la

check_LTLIBRARIES += tests/interleave/libdriver.la
tests_interleave_libdriver_la_LIBTOOLFLAGS = $(programs_only)
tests_interleave_libdriver_la_CPPFLAGS = $(interleave_cppflags)
tests_interleave_libdriver_la_SOURCES = \
	tests/interleave/driver.cc \
	tests/interleave/driver.h \
	tests/interleave/model-atomics.h \
	tests/interleave/model-transactions.h \
	tests/interleave/relacy.h \
	tests/stack-snapshot.cc \
	tests/stack-snapshot.h

# The lock algorithms with real and elided holders.
check_PROGRAMS += tests/interleave/mutex
TESTS += tests/interleave/mutex
tests_interleave_mutex_SOURCES = \
	tests/interleave/elided.h \
	tests/interleave/exclusive-lock.h \
	tests/interleave/model-platform.h \
	tests/interleave/mutex.cc
tests_interleave_mutex_CPPFLAGS = $(interleave_cppflags)
tests_interleave_mutex_LDADD = $(interleave_ldadd) lib/libovsthread-core.la

check_PROGRAMS += tests/interleave/rcu
TESTS += tests/interleave/rcu
tests_interleave_rcu_SOURCES = tests/interleave/rcu.cc
tests_interleave_rcu_CPPFLAGS = $(interleave_cppflags)
tests_interleave_rcu_LDADD = $(interleave_ldadd) lib/libovsthread-core.la

check_PROGRAMS += tests/interleave/rwlock
TESTS += tests/interleave/rwlock
tests_interleave_rwlock_SOURCES = \
	tests/interleave/elided.h \
	tests/interleave/last-user.h \
	tests/interleave/model-platform.h \
	tests/interleave/rwlock.cc
tests_interleave_rwlock_CPPFLAGS = $(interleave_cppflags)
tests_interleave_rwlock_LDADD = $(interleave_ldadd) lib/libovsthread-core.la

check_PROGRAMS += tests/interleave/rwsem
TESTS += tests/interleave/rwsem
tests_interleave_rwsem_SOURCES = \
	tests/interleave/last-user.h \
	tests/interleave/model-platform.h \
	tests/interleave/rwsem.cc
tests_interleave_rwsem_CPPFLAGS = $(interleave_cppflags)
tests_interleave_rwsem_LDADD = $(interleave_ldadd) lib/libovsthread-core.la

check_PROGRAMS += tests/interleave/spinlock
TESTS += tests/interleave/spinlock
tests_interleave_spinlock_SOURCES = \
	tests/interleave/elided.h \
	tests/interleave/exclusive-lock.h \
	tests/interleave/model-platform.h \
	tests/interleave/spinlock.cc
tests_interleave_spinlock_CPPFLAGS = $(interleave_cppflags)
tests_interleave_spinlock_LDADD = $(interleave_ldadd) lib/libovsthread-core.la

check_PROGRAMS += tests/interleave/thread-barrier
TESTS += tests/interleave/thread-barrier
tests_interleave_thread_barrier_SOURCES = \
	tests/interleave/model-platform.h \
	tests/interleave/thread-barrier.cc
tests_interleave_thread_barrier_CPPFLAGS = $(interleave_cppflags)
tests_interleave_thread_barrier_LDADD = $(interleave_ldadd)

check_PROGRAMS += tests/interleave/transactions
TESTS += tests/interleave/transactions
tests_interleave_transactions_SOURCES = tests/interleave/transactions.cc
tests_interleave_transactions_CPPFLAGS = $(interleave_cppflags)
tests_interleave_transactions_LDADD = $(interleave_ldadd)

check_PROGRAMS += tests/interleave/message-passing
TESTS += tests/interleave/message-passing
tests_interleave_message_passing_SOURCES = tests/interleave/message-passing.cc
tests_interleave_message_passing_CPPFLAGS = $(interleave_cppflags)
tests_interleave_message_passing_LDADD = $(interleave_ldadd)

check_PROGRAMS += tests/interleave/hmap-stripes
TESTS += tests/interleave/hmap-stripes
tests_interleave_hmap_stripes_SOURCES = tests/interleave/hmap-stripes.cc
tests_interleave_hmap_stripes_CPPFLAGS = $(interleave_cppflags)
tests_interleave_hmap_stripes_LDADD = $(interleave_ldadd)

check_PROGRAMS += tests/interleave/cmap-bin
TESTS += tests/interleave/cmap-bin
tests_interleave_cmap_bin_SOURCES = \
	tests/cmap-unmix.h \
	tests/interleave/cmap-model.h \
	tests/interleave/cmap-bin.cc
tests_interleave_cmap_bin_CPPFLAGS = $(interleave_cppflags)
tests_interleave_cmap_bin_LDADD = $(interleave_ldadd)

check_PROGRAMS += tests/interleave/cmap-migrate
TESTS += tests/interleave/cmap-migrate
tests_interleave_cmap_migrate_SOURCES = \
	tests/cmap-unmix.h \
	tests/interleave/cmap-model.h \
	tests/interleave/cmap-migrate.cc
tests_interleave_cmap_migrate_CPPFLAGS = $(interleave_cppflags)
tests_interleave_cmap_migrate_LDADD = $(interleave_ldadd)
