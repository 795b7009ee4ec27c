/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program that uses the installed library under the header names of Open
 * vSwitch: a map of elements behind a lock, freed through RCU. */
#include <ovsthread/elision.h>
#include <ovsthread/lock-stats.h>
#include <ovsthread/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmap.h"
#include "openvswitch/hmap.h"
#include "openvswitch/thread.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"

struct element {
  struct cmap_node cmap_node;
  struct hmap_node hmap_node;
  int value;
};

static struct ovs_mutex mutex = OVS_MUTEX_INITIALIZER;
static struct ovs_spin spin;
static int inserted;
static struct cmap cmap = CMAP_INITIALIZER;
static struct hmap hmap = HMAP_INITIALIZER(&hmap);

static void insert(int value) {
  struct element *element = malloc(sizeof *element);

  if (!element) {
    abort();
  }
  element->value = value;
  ovs_mutex_lock(&mutex);
  cmap_insert(&cmap, &element->cmap_node, value);
  hmap_insert(&hmap, &element->hmap_node, value);
  ovs_mutex_unlock(&mutex);
  ovs_spin_lock(&spin);
  inserted++;
  ovs_spin_unlock(&spin);
}

static void *remove_all(void *aux) {
  struct element *element;

  ovs_mutex_lock(&mutex);
  CMAP_FOR_EACH(element, cmap_node, &cmap) {
    cmap_remove(&cmap, &element->cmap_node, element->value);
    hmap_remove(&hmap, &element->hmap_node);
    ovsrcu_postpone(free, element);
  }
  ovs_mutex_unlock(&mutex);
  return aux;
}

int main(void) {
  struct ovs_elision_status status;
  struct ovs_lock_stats *stats;

  if (ovs_lock_stats_set(OVS_LOCK_STATS_ON) != 0 ||
      ovs_lock_set_name(&mutex, "maps") != 0) {
    return 1;
  }
  ovs_spin_init(&spin);
  for (int i = 0; i < 100; i++) {
    insert(i);
  }
  if (cmap_count(&cmap) != 100 || hmap_count(&hmap) != 100 ||
      ovs_spin_trylock(&spin) || inserted != 100) {
    return 1;
  }
  xpthread_join(ovs_thread_create("remover", remove_all, NULL), NULL);
  if (!cmap_is_empty(&cmap) || !hmap_is_empty(&hmap)) {
    return 1;
  }
  cmap_destroy(&cmap);
  hmap_destroy(&hmap);
  ovs_spin_unlock(&spin);
  ovs_spin_destroy(&spin);
  ovsrcu_exit();

  stats = ovs_lock_stats_snapshot();
  if (!stats || stats->n < 2 || strcmp(stats->entries[0].lock, "maps") != 0 ||
      stats->entries[0].acquisitions != 100) {
    return 1;
  }
  ovs_lock_stats_free(stats);

  ovs_elision_get_status(&status);
  if (strcmp(ovsthread_version(), OVSTHREAD_VERSION) != 0) {
    return 1;
  }
  printf("C %s: %s\n", ovsthread_version(), status.reason);
  return 0;
}
