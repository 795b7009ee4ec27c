# Tests on scripted transactions: the library is built a second time, upon
# tests/scripted-layer.h instead of the hardware.  So every path of elision runs
# on any machine.
check_LTLIBRARIES += tests/libovsthread-scripted.la
scripted_cppflags = -I$(top_srcdir)/tests \
	-DOVSTHREAD_TRANSACTION_LAYER='"scripted-layer.h"'
scripted_ldadd = tests/libtap-listener.la tests/libovsthread-scripted.la $(GTEST_LIBS)
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
	tests/unit/scripted-testing.h \
	tests/unit/test-scripted-elision.cc \
	tests/unit/test-scripted-nesting.cc \
	tests/unit/test-scripted-rules.cc \
	tests/unit/test-scripted-safe-points.cc
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

# Suites of tests/unit/ with transactions that abort or run by chance.
scripted_programs += \
	tests/scripted/cmap \
	tests/scripted/guards \
	tests/scripted/hmap \
	tests/scripted/mutex \
	tests/scripted/rcu \
	tests/scripted/rwlock \
	tests/scripted/thread

tests_scripted_cmap_SOURCES = $(tests_unit_cmap_SOURCES)
tests_scripted_cmap_CPPFLAGS = $(tests_unit_cmap_CPPFLAGS) $(scripted_cppflags)
tests_scripted_cmap_LDADD = $(scripted_ldadd)

tests_scripted_guards_SOURCES = $(tests_unit_guards_SOURCES)
tests_scripted_guards_CPPFLAGS = $(tests_unit_guards_CPPFLAGS) $(scripted_cppflags)
tests_scripted_guards_LDADD = $(scripted_ldadd)

tests_scripted_hmap_SOURCES = $(tests_unit_hmap_SOURCES)
tests_scripted_hmap_CPPFLAGS = $(tests_unit_hmap_CPPFLAGS) $(scripted_cppflags)
tests_scripted_hmap_LDADD = $(scripted_ldadd)

tests_scripted_mutex_SOURCES = $(tests_unit_mutex_SOURCES)
tests_scripted_mutex_CPPFLAGS = $(tests_unit_mutex_CPPFLAGS) $(scripted_cppflags)
tests_scripted_mutex_LDADD = $(scripted_ldadd)

tests_scripted_rcu_SOURCES = $(tests_unit_rcu_SOURCES)
tests_scripted_rcu_CPPFLAGS = $(tests_unit_rcu_CPPFLAGS) $(scripted_cppflags)
tests_scripted_rcu_LDADD = $(scripted_ldadd)

tests_scripted_rwlock_SOURCES = $(tests_unit_rwlock_SOURCES)
tests_scripted_rwlock_CPPFLAGS = $(tests_unit_rwlock_CPPFLAGS) $(scripted_cppflags)
tests_scripted_rwlock_LDADD = $(scripted_ldadd)

tests_scripted_thread_SOURCES = $(tests_unit_thread_SOURCES)
tests_scripted_thread_CPPFLAGS = $(tests_unit_thread_CPPFLAGS) $(scripted_cppflags)
tests_scripted_thread_LDADD = $(scripted_ldadd)

# Every command of ovstest.
check_PROGRAMS += tests/scripted/ovstest
tests_scripted_ovstest_SOURCES = tests/ovstest.cc
tests_scripted_ovstest_CPPFLAGS = $(tests_ovstest_CPPFLAGS)
tests_scripted_ovstest_LDADD = tests/libovstest.la tests/libovsthread-scripted.la
TESTS += tests/scripted/ovstest-runs.sh
dist_check_SCRIPTS += tests/scripted/ovstest-runs.sh

check_PROGRAMS += $(scripted_programs)
TESTS += $(scripted_programs)
