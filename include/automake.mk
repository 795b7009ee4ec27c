nobase_include_HEADERS = \
	include/ovsthread/annotations.h \
	include/ovsthread/cache-line.h \
	include/ovsthread/elision.h \
	include/ovsthread/log.h \
	include/ovsthread/topology.h
nobase_nodist_include_HEADERS = include/ovsthread/version.h
