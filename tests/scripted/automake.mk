# Tests on scripted transactions: the library is built a second time, upon
# tests/scripted-layer.h instead of the hardware.  So every path of elision runs
# on any machine.
check_LTLIBRARIES += tests/libovsthread-scripted.la
scripted_cppflags = -I$(top_srcdir)/tests \
	-DOVSTHREAD_TRANSACTION_LAYER='"scripted-layer.h"'
scripted_ldadd = tests/libtap-listener.la tests/libovsthread-scripted.la $(GTEST_LIBS)
tests_libovsthread_scripted_la_LIBTOOLFLAGS = $(programs_only)
tests_libovsthread_scripted_la_CPPFLAGS = $(lib_libovsthread_core_la_CPPFLAGS) $(scripted_cppflags)
tests_libovsthread_scripted_la_CXXFLAGS = $(lib_libovsthread_core_la_CXXFLAGS)
tests_libovsthread_scripted_la_LIBADD = $(lib_libovsthread_core_la_LIBADD)
tests_libovsthread_scripted_la_SOURCES = \
	$(lib_libovsthread_core_la_SOURCES) \
	tests/process-transaction.cc \
	tests/process-transaction.h \
	tests/scripted-layer.cc \
	tests/scripted-layer.h \
	tests/stack-snapshot.cc \
	tests/stack-snapshot.h

# Tests with a script.
scripted_programs = tests/scripted/elision
tests_scripted_elision_SOURCES = \
	tests/unit/lock-testing.h \
	tests/unit/no-memory.h \
	tests/unit/scripted-testing.h \
	tests/unit/start-testing.h \
	tests/unit/test-elision-start.cc \
	tests/unit/test-scripted-elision.cc \
	tests/unit/test-scripted-lemmings.cc \
	tests/unit/test-scripted-nesting.cc \
	tests/unit/test-scripted-rules.cc \
	tests/unit/test-scripted-safe-points.cc \
	tests/unit/test-scripted-spinlock.cc \
	tests/unit/test-scripted-start.cc \
	tests/unit/test-scripted-stats.cc \
	tests/unit/test-scripted-storm.cc
tests_scripted_elision_CPPFLAGS = $(unit_cppflags) $(scripted_cppflags)
tests_scripted_elision_LDADD = $(scripted_ldadd)

# Maps that are written to inside elided sections, by one thread and by two.
scripted_programs += \
	tests/scripted/maps \
	tests/scripted/writers

tests_scripted_maps_SOURCES = \
	tests/cmap-unmix.h \
	tests/unit/cmap-test.h \
	tests/unit/lock-testing.h \
	tests/unit/scripted-testing.h \
	tests/unit/test-scripted-maps.cc
tests_scripted_maps_CPPFLAGS = $(unit_cppflags) $(scripted_cppflags)
tests_scripted_maps_LDADD = $(scripted_ldadd)

tests_scripted_writers_SOURCES = \
	tests/cmap-unmix.h \
	tests/unit/cmap-test.h \
	tests/unit/lock-testing.h \
	tests/unit/scripted-testing.h \
	tests/unit/test-scripted-writers.cc
tests_scripted_writers_CPPFLAGS = $(unit_cppflags) $(scripted_cppflags)
tests_scripted_writers_LDADD = $(scripted_ldadd)

# Suites of tests/unit/ with transactions that abort or run by chance.  They see
# nothing of the layer, so the objects of tests/unit/ are linked again.  (The
# source that is named and not there makes it a link of C++.)
scripted_programs += \
	tests/scripted/cmap \
	tests/scripted/guards \
	tests/scripted/hmap \
	tests/scripted/mutex \
	tests/scripted/rcu \
	tests/scripted/rwlock \
	tests/scripted/spinlock \
	tests/scripted/thread

tests_scripted_cmap_SOURCES =
nodist_EXTRA_tests_scripted_cmap_SOURCES = tests/program.cc
tests_scripted_cmap_LDADD = $(tests_unit_cmap_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_cmap_DEPENDENCIES = $(tests_unit_cmap_OBJECTS)

tests_scripted_guards_SOURCES =
nodist_EXTRA_tests_scripted_guards_SOURCES = tests/program.cc
tests_scripted_guards_LDADD = $(tests_unit_guards_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_guards_DEPENDENCIES = $(tests_unit_guards_OBJECTS)

tests_scripted_hmap_SOURCES =
nodist_EXTRA_tests_scripted_hmap_SOURCES = tests/program.cc
tests_scripted_hmap_LDADD = $(tests_unit_hmap_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_hmap_DEPENDENCIES = $(tests_unit_hmap_OBJECTS)

tests_scripted_mutex_SOURCES =
nodist_EXTRA_tests_scripted_mutex_SOURCES = tests/program.cc
tests_scripted_mutex_LDADD = $(tests_unit_mutex_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_mutex_DEPENDENCIES = $(tests_unit_mutex_OBJECTS)

tests_scripted_rcu_SOURCES =
nodist_EXTRA_tests_scripted_rcu_SOURCES = tests/program.cc
tests_scripted_rcu_LDADD = $(tests_unit_rcu_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_rcu_DEPENDENCIES = $(tests_unit_rcu_OBJECTS)

tests_scripted_rwlock_SOURCES =
nodist_EXTRA_tests_scripted_rwlock_SOURCES = tests/program.cc
tests_scripted_rwlock_LDADD = $(tests_unit_rwlock_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_rwlock_DEPENDENCIES = $(tests_unit_rwlock_OBJECTS)

tests_scripted_spinlock_SOURCES =
nodist_EXTRA_tests_scripted_spinlock_SOURCES = tests/program.cc
tests_scripted_spinlock_LDADD = $(tests_unit_spinlock_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_spinlock_DEPENDENCIES = $(tests_unit_spinlock_OBJECTS)

tests_scripted_thread_SOURCES =
nodist_EXTRA_tests_scripted_thread_SOURCES = tests/program.cc
tests_scripted_thread_LDADD = $(tests_unit_thread_OBJECTS) $(scripted_ldadd)
EXTRA_tests_scripted_thread_DEPENDENCIES = $(tests_unit_thread_OBJECTS)

# Every command of ovstest.
check_PROGRAMS += tests/scripted/ovstest
tests_scripted_ovstest_SOURCES = tests/ovstest.cc
tests_scripted_ovstest_CPPFLAGS = $(tests_ovstest_CPPFLAGS)
tests_scripted_ovstest_LDADD = tests/libovstest.la tests/libovsthread-scripted.la
TESTS += tests/scripted/ovstest-runs.sh tests/scripted/ovstest-stats.sh
dist_check_SCRIPTS += \
	tests/scripted/ovstest-runs.sh \
	tests/scripted/ovstest-stats.sh

check_PROGRAMS += $(scripted_programs)
TESTS += $(scripted_programs)

# Random sequences against a model.
check_PROGRAMS += tests/model/lock-sequences
TESTS += tests/model/lock-sequences
tests_model_lock_sequences_SOURCES = \
	tests/model/lock-model.h \
	tests/model/lock-sequences.cc \
	tests/model/lock-types.cc \
	tests/model/lock-types.h \
	tests/model/misuse.cc \
	tests/model/misuse.h \
	tests/model/player-calls.cc \
	tests/model/player-other.cc \
	tests/model/player.cc \
	tests/model/player.h \
	tests/model/second-thread.h \
	tests/model/sequence.cc \
	tests/model/sequence.h
tests_model_lock_sequences_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/lib $(scripted_cppflags)
tests_model_lock_sequences_CXXFLAGS = $(AM_CXXFLAGS) -fno-strict-aliasing
tests_model_lock_sequences_LDADD = tests/libovsthread-scripted.la
