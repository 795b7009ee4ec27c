unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
unit_ldadd = lib/libovsthread-core.la $(GTEST_LIBS) -lgtest_main

check_PROGRAMS += tests/unit/thread-id
TESTS += tests/unit/thread-id
tests_unit_thread_id_SOURCES = tests/unit/test-thread-id.cc
tests_unit_thread_id_CPPFLAGS = $(unit_cppflags)
tests_unit_thread_id_LDADD = $(unit_ldadd)
