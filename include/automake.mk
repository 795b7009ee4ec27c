# One list for each folder of installed headers: automake would install them all
# in one folder, or, with nobase, in include/include/.
ovsthreaddir = $(includedir)/ovsthread
ovsthread_HEADERS = \
	include/ovsthread/annotations.h \
	include/ovsthread/cache-line.h \
	include/ovsthread/cmap.h \
	include/ovsthread/elision.h \
	include/ovsthread/hash.h \
	include/ovsthread/hmap-core.h \
	include/ovsthread/hmap.h \
	include/ovsthread/lock-stats.h \
	include/ovsthread/log.h \
	include/ovsthread/mutex.h \
	include/ovsthread/rcu.h \
	include/ovsthread/rwlock.h \
	include/ovsthread/rwsem.h \
	include/ovsthread/spinlock.h \
	include/ovsthread/thread.h \
	include/ovsthread/topology.h
nodist_ovsthread_HEADERS = include/ovsthread/version.h

compatdir = $(includedir)/ovsthread/compat
compat_HEADERS = \
	include/ovsthread/compat/cmap.h \
	include/ovsthread/compat/ovs-rcu.h \
	include/ovsthread/compat/ovs-thread.h \
	include/ovsthread/compat/ovsthread-helpers.h \
	include/ovsthread/compat/ovsthread-rwlock.h \
	include/ovsthread/compat/ovsthread-rwsem.h

compat_openvswitchdir = $(includedir)/ovsthread/compat/openvswitch
compat_openvswitch_HEADERS = \
	include/ovsthread/compat/openvswitch/hmap.h \
	include/ovsthread/compat/openvswitch/ovsthread-util.h \
	include/ovsthread/compat/openvswitch/thread.h

fallbackdir = $(includedir)/ovsthread/compat/fallback
fallback_HEADERS = \
	include/ovsthread/compat/fallback/compiler.h \
	include/ovsthread/compat/fallback/ovs-atomic.h \
	include/ovsthread/compat/fallback/util.h

fallback_openvswitchdir = $(includedir)/ovsthread/compat/fallback/openvswitch
fallback_openvswitch_HEADERS = \
	include/ovsthread/compat/fallback/openvswitch/compiler.h \
	include/ovsthread/compat/fallback/openvswitch/list.h \
	include/ovsthread/compat/fallback/openvswitch/types.h \
	include/ovsthread/compat/fallback/openvswitch/util.h \
	include/ovsthread/compat/fallback/openvswitch/version.h
