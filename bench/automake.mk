# SPDX-License-Identifier: Apache-2.0
#
# One file per question.  "make check" builds them, so that they can't rot, and
# runs the reference walk at a size that takes no time.
bench_cppflags = $(AM_CPPFLAGS) $(ABSL_CFLAGS)
bench_ldadd = lib/libovsthread.la $(BENCHMARK_LIBS) $(ABSL_LIBS)

check_PROGRAMS += \
	bench/elision-modes \
	bench/elision-phases \
	bench/floors \
	bench/lock-pairs \
	bench/lock-unlock \
	bench/map-find \
	bench/map-insert \
	bench/plot \
	bench/reference-walk

bench_elision_modes_SOURCES = \
	bench/claims.h \
	bench/context.h \
	bench/elision-modes.cc \
	bench/paired.h
bench_elision_modes_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/bench -I$(top_srcdir)/tests
bench_elision_modes_LDADD = tests/libovstest.la lib/libovsthread.la

bench_elision_phases_SOURCES = \
	bench/claims.h \
	bench/context.h \
	bench/elision-phases.cc \
	bench/locks.h \
	bench/paired.h \
	bench/sections.h \
	bench/team.h
bench_elision_phases_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/tests
bench_elision_phases_LDADD = tests/libovstest.la lib/libovsthread.la

# Runs bare transactions, hence the library's header.
bench_floors_SOURCES = \
	bench/context.h \
	bench/floors.cc \
	bench/run-benchmarks.h \
	bench/sections.h
bench_floors_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/lib
bench_floors_CXXFLAGS = $(AM_CXXFLAGS) $(BENCHMARK_CFLAGS)
bench_floors_LDADD = $(bench_ldadd)

# Runs bare transactions, too.
bench_lock_pairs_SOURCES = \
	bench/claims.h \
	bench/context.h \
	bench/lock-pairs.cc \
	bench/locks.h \
	bench/paired.h \
	bench/peers/tbb-locks.h \
	bench/sections.h \
	bench/team.h
bench_lock_pairs_CPPFLAGS = $(bench_cppflags) $(TBB_CFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
bench_lock_pairs_LDADD = tests/libovstest.la lib/libovsthread.la $(TBB_LIBS)

bench_lock_unlock_SOURCES = \
	bench/context.h \
	bench/lock-unlock.cc \
	bench/locks.h \
	bench/peers/absl-locks.h \
	bench/peers/tbb-locks.h \
	bench/run-benchmarks.h \
	bench/sections.h \
	bench/team.h
bench_lock_unlock_CPPFLAGS = $(bench_cppflags) $(TBB_CFLAGS)
bench_lock_unlock_CXXFLAGS = $(AM_CXXFLAGS) $(BENCHMARK_CFLAGS)
bench_lock_unlock_LDADD = $(bench_ldadd) $(TBB_LIBS)

bench_map_find_SOURCES = \
	bench/context.h \
	bench/map-find.cc \
	bench/maps.h \
	bench/run-benchmarks.h \
	bench/workload.h
bench_map_find_CPPFLAGS = $(bench_cppflags)
bench_map_find_CXXFLAGS = $(AM_CXXFLAGS) $(BENCHMARK_CFLAGS)
bench_map_find_LDADD = $(bench_ldadd)

bench_map_insert_SOURCES = \
	bench/context.h \
	bench/map-insert.cc \
	bench/maps.h \
	bench/run-benchmarks.h \
	bench/workload.h
bench_map_insert_CPPFLAGS = $(bench_cppflags)
bench_map_insert_CXXFLAGS = $(AM_CXXFLAGS) $(BENCHMARK_CFLAGS)
bench_map_insert_LDADD = $(bench_ldadd)

bench_plot_SOURCES = \
	bench/json-reader.h \
	bench/plot.cc
bench_plot_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/tests
bench_plot_LDADD = tests/libovstest.la lib/libovsthread.la

# Computes the same hash and index as the map, hence the library's header.
bench_reference_walk_SOURCES = \
	bench/paired.h \
	bench/reference-walk.cc \
	bench/team.h \
	bench/workload.h
bench_reference_walk_CPPFLAGS = $(bench_cppflags) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
bench_reference_walk_LDADD = tests/libovstest.la lib/libovsthread.la

TESTS += bench/reference-walk.sh
dist_check_SCRIPTS += bench/reference-walk.sh

# The micro-benchmarks, their results in bench/results/ of the build tree.
# BENCH_FLAGS go to the programs on Google Benchmark, PAIRS_FLAGS to lock-pairs.
measured_programs = \
	bench/floors \
	bench/lock-pairs \
	bench/lock-unlock \
	bench/map-find \
	bench/map-insert
bench: $(measured_programs) bench/plot tests/ovstest
	$(AM_TESTS_ENVIRONMENT) BENCH_FLAGS='$(BENCH_FLAGS)' PAIRS_FLAGS='$(PAIRS_FLAGS)' \
	  $(SHELL) $(srcdir)/bench/run.sh bench/results
distclean-local:
	rm -rf bench/results
dist_noinst_SCRIPTS += bench/run.sh

# That it does so, at a size that takes no time.
TESTS += bench/results.sh
dist_check_SCRIPTS += \
	bench/check-results.pl \
	bench/results.sh
