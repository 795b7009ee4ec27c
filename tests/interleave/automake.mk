# Interleaving tests: each program lists its scenarios in its main().
interleave_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests
interleave_ldadd = tests/interleave/libdriver.la

check_LTLIBRARIES += tests/interleave/libdriver.la
tests_interleave_libdriver_la_CPPFLAGS = $(interleave_cppflags)
tests_interleave_libdriver_la_SOURCES = \
	tests/interleave/driver.cc \
	tests/interleave/driver.h \
	tests/interleave/model-atomics.h \
	tests/interleave/relacy.h

check_PROGRAMS += tests/interleave/message-passing
TESTS += tests/interleave/message-passing
tests_interleave_message_passing_SOURCES = tests/interleave/message-passing.cc
tests_interleave_message_passing_CPPFLAGS = $(interleave_cppflags)
tests_interleave_message_passing_LDADD = $(interleave_ldadd)
