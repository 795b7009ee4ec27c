nobase_include_HEADERS = \
	include/ovsthread/annotations.h \
	include/ovsthread/cache-line.h \
	include/ovsthread/compat/fallback/compiler.h \
	include/ovsthread/compat/fallback/openvswitch/compiler.h \
	include/ovsthread/compat/fallback/openvswitch/list.h \
	include/ovsthread/compat/fallback/openvswitch/types.h \
	include/ovsthread/compat/fallback/openvswitch/util.h \
	include/ovsthread/compat/fallback/openvswitch/version.h \
	include/ovsthread/compat/fallback/ovs-atomic.h \
	include/ovsthread/compat/fallback/util.h \
	include/ovsthread/compat/openvswitch/ovsthread-util.h \
	include/ovsthread/compat/ovsthread-helpers.h \
	include/ovsthread/elision.h \
	include/ovsthread/log.h \
	include/ovsthread/topology.h
nobase_nodist_include_HEADERS = include/ovsthread/version.h
