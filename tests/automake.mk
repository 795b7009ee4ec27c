# Every test prints TAP and is read by automake's driver, which counts, skips
# and reports each line apart.  A compiled program has no suffix, a script has
# the suffix .sh or .pl.  tests/run-test runs the programs of tests/unit/ once in
# each elision mode.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
PL_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-test
PL_LOG_COMPILER = perl
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	srcdir='$(srcdir)' top_builddir='$(top_builddir)' AWK='$(AWK)' \
	MAKE='$(MAKE)' CC='$(CC)' CXX='$(CXX)' OVSTHREAD_SANITIZER='$(SANITIZER)' \
	GLIBC_TSX='$(GLIBC_TSX)' \
	libdir='$(libdir)' includedir='$(includedir)' pkgconfigdir='$(pkgconfigdir)'; \
	export srcdir top_builddir AWK MAKE CC CXX OVSTHREAD_SANITIZER GLIBC_TSX \
	  libdir includedir pkgconfigdir;
dist_check_SCRIPTS += tests/run-test

# Libraries that only programs link need no second compilation for a shared one.
programs_only = --tag=disable-shared

# main() and the listener of every GoogleTest program.
check_LTLIBRARIES += tests/libtap-listener.la
tests_libtap_listener_la_LIBTOOLFLAGS = $(programs_only)
tests_libtap_listener_la_SOURCES = tests/tap-listener.cc
tests_libtap_listener_la_CPPFLAGS = $(AM_CPPFLAGS) $(GTEST_CFLAGS)

# Shows that failures, skips and crashes reach the driver as what they are.
check_PROGRAMS += tests/tap-sample
tests_tap_sample_SOURCES = tests/tap-sample.cc
tests_tap_sample_CPPFLAGS = $(unit_cppflags)
tests_tap_sample_LDADD = $(unit_ldadd)
TESTS += tests/tap.sh
dist_check_SCRIPTS += tests/tap.sh

unit_cppflags = $(AM_CPPFLAGS) $(GTEST_CFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
unit_ldadd = tests/libtap-listener.la lib/libovsthread-core.la $(GTEST_LIBS)

# The commands of ovstest, and what the programs of bench/ share with them.
noinst_LTLIBRARIES += tests/libovstest.la
tests_libovstest_la_LIBTOOLFLAGS = $(programs_only)
tests_libovstest_la_CPPFLAGS = $(AM_CPPFLAGS) $(ABSL_CFLAGS) -I$(top_srcdir)/bench
tests_libovstest_la_LIBADD = $(ABSL_LIBS)
tests_libovstest_la_SOURCES = \
	bench/draws.h \
	bench/locks.h \
	bench/paired.h \
	bench/team.h \
	tests/ovstest-chart.cc \
	tests/ovstest-chart.h \
	tests/ovstest-command-line.cc \
	tests/ovstest-command-line.h \
	tests/ovstest-commands.h \
	tests/ovstest-elision.cc \
	tests/ovstest-json.cc \
	tests/ovstest-json.h \
	tests/ovstest-locks.h \
	tests/ovstest-measure.cc \
	tests/ovstest-measure.h \
	tests/ovstest-memory.cc \
	tests/ovstest-memory.h \
	tests/ovstest-plan.cc \
	tests/ovstest-plan.h \
	tests/ovstest-progress.h \
	tests/ovstest-report.cc \
	tests/ovstest-report.h \
	tests/ovstest-require.h \
	tests/ovstest-stats-advice.cc \
	tests/ovstest-stats-advice.h \
	tests/ovstest-stats.cc \
	tests/ovstest-sweep-length.cc \
	tests/ovstest-sweep-length.h \
	tests/ovstest-sweep-plot.cc \
	tests/ovstest-sweep.h \
	tests/ovstest-trial.cc \
	tests/ovstest-trial.h \
	tests/ovstest-words.h \
	tests/test-cmap-benchmark.cc \
	tests/test-cmap-check.cc \
	tests/test-cmap-sweep.cc \
	tests/test-hmap.cc \
	tests/test-rcu.cc \
	tests/test-rwsem.cc \
	tests/thread-state.h

bin_PROGRAMS += tests/ovstest
tests_ovstest_CPPFLAGS = $(AM_CPPFLAGS) $(ABSL_CFLAGS)
tests_ovstest_LDADD = tests/libovstest.la lib/libovsthread.la
tests_ovstest_SOURCES = tests/ovstest.cc

TESTS += \
	tests/ovstest-arguments.sh \
	tests/ovstest-runs.sh \
	tests/ovstest-stats.sh
dist_check_SCRIPTS += \
	tests/check-benchmark-json.pl \
	tests/ovstest-arguments.sh \
	tests/ovstest-runs.sh \
	tests/ovstest-stats.sh

# One line a program here, and three below.
unit_programs = \
	tests/unit/bench \
	tests/unit/calls \
	tests/unit/cmap \
	tests/unit/cmap-stress \
	tests/unit/elision \
	tests/unit/elision-adapt \
	tests/unit/elision-policy \
	tests/unit/elision-veto \
	tests/unit/guards \
	tests/unit/hash \
	tests/unit/held-locks \
	tests/unit/hmap \
	tests/unit/lock-stats \
	tests/unit/mutex \
	tests/unit/ovstest \
	tests/unit/rcu \
	tests/unit/rwlock \
	tests/unit/rwsem \
	tests/unit/spinlock \
	tests/unit/thread \
	tests/unit/thread-id \
	tests/unit/topology \
	tests/unit/version
check_PROGRAMS += $(unit_programs)
TESTS += $(unit_programs)

tests_unit_bench_SOURCES = \
	bench/draws.h \
	bench/json-reader.h \
	bench/paired.h \
	tests/unit/test-bench.cc
tests_unit_bench_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/bench
tests_unit_bench_LDADD = $(unit_ldadd)

tests_unit_cmap_stress_SOURCES = \
	tests/cmap-unmix.h \
	tests/unit/cmap-test.h \
	tests/unit/test-cmap-stress.cc
tests_unit_cmap_stress_CPPFLAGS = $(unit_cppflags)
tests_unit_cmap_stress_LDADD = $(unit_ldadd)

tests_unit_calls_SOURCES = \
	tests/compat/calls.h \
	tests/compat/cmap-calls-cxx.cc \
	tests/compat/cmap-calls.c \
	tests/compat/hmap-calls-cxx.cc \
	tests/compat/hmap-calls.c \
	tests/compat/layout-calls-cxx.cc \
	tests/compat/layout-calls.c \
	tests/compat/lock-calls-cxx.cc \
	tests/compat/lock-calls.c \
	tests/compat/rcu-calls-cxx.cc \
	tests/compat/rcu-calls.c \
	tests/compat/thread-calls-cxx.cc \
	tests/compat/thread-calls.c \
	tests/unit/test-calls.cc
tests_unit_calls_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)
tests_unit_calls_LDADD = $(unit_ldadd)

tests_unit_cmap_SOURCES = \
	tests/cmap-unmix.h \
	tests/unit/cmap-test.h \
	tests/unit/test-cmap-misuse.cc \
	tests/unit/test-cmap-resize.cc \
	tests/unit/test-cmap.cc
tests_unit_cmap_CPPFLAGS = $(unit_cppflags)
tests_unit_cmap_LDADD = $(unit_ldadd)

tests_unit_elision_SOURCES = \
	tests/unit/lock-testing.h \
	tests/unit/start-testing.h \
	tests/unit/test-elision-start.cc \
	tests/unit/test-elision.cc
tests_unit_elision_CPPFLAGS = $(unit_cppflags)
tests_unit_elision_LDADD = $(unit_ldadd)

tests_unit_elision_adapt_SOURCES = \
	tests/unit/elision-simulator.h \
	tests/unit/test-elision-adapt.cc \
	tests/unit/test-elision-simulator.cc
tests_unit_elision_adapt_CPPFLAGS = $(unit_cppflags)
tests_unit_elision_adapt_LDADD = $(unit_ldadd)

tests_unit_elision_policy_SOURCES = tests/unit/test-elision-policy.cc
tests_unit_elision_policy_CPPFLAGS = $(unit_cppflags)
tests_unit_elision_policy_LDADD = $(unit_ldadd)

tests_unit_elision_veto_SOURCES = tests/unit/test-elision-veto.cc
tests_unit_elision_veto_CPPFLAGS = $(unit_cppflags)
tests_unit_elision_veto_LDADD = $(unit_ldadd)

tests_unit_guards_SOURCES = tests/unit/lock-testing.h tests/unit/test-guards.cc
tests_unit_guards_CPPFLAGS = $(unit_cppflags)
tests_unit_guards_LDADD = $(unit_ldadd)

tests_unit_held_locks_SOURCES = tests/unit/no-memory.h tests/unit/test-held-locks.cc
tests_unit_held_locks_CPPFLAGS = $(unit_cppflags)
tests_unit_held_locks_LDADD = $(unit_ldadd)

tests_unit_hash_SOURCES = tests/unit/test-hash.cc
tests_unit_hash_CPPFLAGS = $(unit_cppflags)
tests_unit_hash_LDADD = $(unit_ldadd)

tests_unit_hmap_SOURCES = \
	tests/unit/test-hmap-face.cc \
	tests/unit/test-hmap-stripes.cc \
	tests/unit/test-hmap.cc
tests_unit_hmap_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)
tests_unit_hmap_LDADD = $(unit_ldadd)

tests_unit_lock_stats_SOURCES = \
	tests/in-process.h \
	tests/unit/lock-testing.h \
	tests/unit/no-memory.h \
	tests/unit/start-testing.h \
	tests/unit/test-lock-stats-format.cc \
	tests/unit/test-lock-stats-published.cc \
	tests/unit/test-lock-stats-start.cc \
	tests/unit/test-lock-stats.cc
tests_unit_lock_stats_CPPFLAGS = $(unit_cppflags)
tests_unit_lock_stats_LDADD = $(unit_ldadd)

tests_unit_mutex_SOURCES = tests/unit/lock-testing.h tests/unit/test-mutex.cc
tests_unit_mutex_CPPFLAGS = $(unit_cppflags)
tests_unit_mutex_LDADD = $(unit_ldadd)

tests_unit_ovstest_SOURCES = \
	tests/unit/test-ovstest.cc \
	tests/unit/test-stats-advice.cc
tests_unit_ovstest_CPPFLAGS = $(unit_cppflags) $(ABSL_CFLAGS)
tests_unit_ovstest_LDADD = tests/libovstest.la $(unit_ldadd)

tests_unit_rcu_SOURCES = \
	tests/in-process.h \
	tests/unit/rcu-testing.h \
	tests/unit/test-rcu-faces.cc \
	tests/unit/test-rcu-fork.cc \
	tests/unit/test-rcu-misuse.cc \
	tests/unit/test-rcu-torture.cc \
	tests/unit/test-rcu.cc
tests_unit_rcu_CPPFLAGS = $(unit_cppflags)
tests_unit_rcu_LDADD = $(unit_ldadd)

tests_unit_rwlock_SOURCES = \
	tests/in-process.h \
	tests/unit/lock-testing.h \
	tests/unit/start-testing.h \
	tests/unit/test-rwlock-bias.cc \
	tests/unit/test-rwlock.cc
tests_unit_rwlock_CPPFLAGS = $(unit_cppflags)
tests_unit_rwlock_LDADD = $(unit_ldadd)

tests_unit_rwsem_SOURCES = tests/unit/lock-testing.h tests/unit/test-rwsem.cc
tests_unit_rwsem_CPPFLAGS = $(unit_cppflags)
tests_unit_rwsem_LDADD = $(unit_ldadd)

tests_unit_spinlock_SOURCES = tests/unit/lock-testing.h tests/unit/test-spinlock.cc
tests_unit_spinlock_CPPFLAGS = $(unit_cppflags)
tests_unit_spinlock_LDADD = $(unit_ldadd)

tests_unit_thread_SOURCES = \
	tests/in-process.h \
	tests/unit/test-thread.cc
tests_unit_thread_CPPFLAGS = $(unit_cppflags)
tests_unit_thread_LDADD = $(unit_ldadd)

tests_unit_thread_id_SOURCES = tests/unit/test-thread-id.cc
tests_unit_thread_id_CPPFLAGS = $(unit_cppflags)
tests_unit_thread_id_LDADD = $(unit_ldadd)

tests_unit_topology_SOURCES = tests/unit/test-topology.cc
tests_unit_topology_CPPFLAGS = $(unit_cppflags)
tests_unit_topology_LDADD = $(unit_ldadd)

tests_unit_version_SOURCES = tests/unit/test-version.cc
tests_unit_version_CPPFLAGS = $(unit_cppflags)
tests_unit_version_LDADD = $(unit_ldadd)

TESTS += tests/rtm.sh
dist_check_SCRIPTS += tests/rtm.sh

TESTS += tests/static-tls.sh
dist_check_SCRIPTS += tests/static-tls.sh

# What looks at the sources alone, so that it says the same in every build.
source_tests = \
	tests/annotations.sh \
	tests/compat/compile.sh \
	tests/lint.pl
TESTS += $(source_tests)
dist_check_SCRIPTS += $(source_tests)
EXTRA_DIST += \
	tests/lint/Lint.pm \
	tests/lint/floors.cases \
	tests/lint/floors.pl \
	tests/lint/format.cases \
	tests/lint/format.pl \
	tests/lint/length.cases \
	tests/lint/length.pl \
	tests/lint/pairs.cases \
	tests/lint/pairs.pl \
	tests/lint/words.cases \
	tests/lint/words.pl

# Programs built against the installed library.
TESTS += tests/install/install.sh
dist_check_SCRIPTS += tests/install/install.sh
EXTRA_DIST += \
	tests/install/dlopen.c \
	tests/install/program.c \
	tests/install/program.cc
installcheck-local:
	$(AM_TESTS_ENVIRONMENT) OVSTHREAD_INSTALLCHECK=yes \
	  $(SHELL) $(srcdir)/tests/install/install.sh >install-check.log || :
	cat install-check.log
	! grep '^not ok' install-check.log
CLEANFILES += install-check.log

# Valgrind serialises threads, so it gets the suites that are small.  Leaks are
# the address sanitizer's: in a child of fork, what the stacks of the other
# threads pointed to looks lost.  Its usual scheduling starves a thread beside a
# busy one.
valgrind_tests = $(filter-out tests/unit/cmap-stress,$(unit_programs))
valgrind = valgrind --quiet --error-exitcode=99 --leak-check=no --fair-sched=yes \
	--suppressions=$(abs_srcdir)/tests/valgrind.supp
check-valgrind:
	OVSTHREAD_TEST_MODES=always OVSTHREAD_TEST_WRAPPER='$(valgrind)' \
	GTEST_FILTER='-*Stress*' $(MAKE) check TESTS='$(valgrind_tests)'
EXTRA_DIST += tests/valgrind.supp

# Which lines and branches of the elision sources their tests run, in a build
# that is configured with --enable-coverage.
coverage_tests = \
	tests/scripted/elision \
	tests/scripted/maps \
	tests/unit/elision \
	tests/unit/elision-adapt \
	tests/unit/elision-policy \
	tests/unit/elision-veto \
	tests/unit/guards \
	tests/unit/held-locks \
	tests/unit/lock-stats \
	tests/unit/mutex \
	tests/unit/rwlock \
	tests/unit/spinlock
check-coverage:
	@test -n '$(COVERAGE_FLAGS)' || \
	  { echo 'check-coverage: configure with --enable-coverage' >&2; exit 1; }
	find . -name '*.gcda' -exec rm -f {} +
	$(MAKE) $(coverage_tests)
	$(MAKE) check-TESTS TESTS='$(coverage_tests)'
	perl $(srcdir)/tests/coverage.pl '$(srcdir)' '$(GCOV)'
clean-local:
	find . '(' -name '*.gcda' -o -name '*.gcno' ')' -exec rm -f {} +
EXTRA_DIST += \
	tests/coverage.missed \
	tests/coverage.pl

if ENABLE_INTERLEAVING_TESTS
include tests/interleave/automake.mk
endif
if ENABLE_SCRIPTED_TESTS
include tests/scripted/automake.mk
endif
