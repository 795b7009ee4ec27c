// SPDX-License-Identifier: Apache-2.0
#include "thread-id.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "atomics.h"
#include "log.h"

__thread unsigned int ovsthread_id_var = ovsthread::kThreadIdUnset;

namespace ovsthread {

constinit thread_local uint32_t tls_thread_id = kThreadIdUnset;

namespace {

using A = RealAtomics;

A::Atomic<uint32_t> next_id{0};

// A node being filled belongs to nobody that could be asked for.
constexpr uint32_t kFilling = kThreadIdUnset - 1;

struct NameNode {
  A::Atomic<uint32_t> id;
  A::Atomic<uint64_t> words[sizeof(ThreadName) / sizeof(uint64_t)];
  NameNode* next;  // Fixed once the node is on the list.
};

A::Atomic<NameNode*> nodes{nullptr};

// Its value is the thread's node: static thread-local storage is scarce, and
// names are seldom needed.
pthread_key_t key;
pthread_once_t key_once = PTHREAD_ONCE_INIT;

void release_node(void* node) {
  // Relaxed: a reader that still sees the number gets the name of a thread that
  // has only just ended.
  static_cast<NameNode*>(node)->id.store(kThreadIdUnset, kRelaxed);
}

// The calling thread's node, or null.
NameNode* own_node() {
  pthread_once(&key_once, [] {
    if (pthread_key_create(&key, release_node) != 0) {
      fatal("no thread-specific key is left for thread names");
    }
  });
  return static_cast<NameNode*>(pthread_getspecific(key));
}

NameNode* claim_node() {
  // (1) the link of a new node; pairs with (2).
  NameNode* first = nodes.load(A::acquire(1));
  for (NameNode* node = first; node != nullptr; node = node->next) {
    uint32_t free = kThreadIdUnset;
    // Relaxed: the words are atomics, and (3) orders them for readers.
    if (node->id.compare_exchange(free, kFilling, kRelaxed, kRelaxed)) {
      return node;
    }
  }
  NameNode* node = new (std::nothrow) NameNode{};
  if (node == nullptr) fatal("out of memory for the name of a thread");
  node->id.store(kFilling, kRelaxed);  // Relaxed: (2) publishes the node.
  do {
    node->next = first;
    // (2) publishes the node; pairs with (1).
  } while (!nodes.compare_exchange(first, node, A::release(2), A::acquire(1)));
  return node;
}

}  // namespace

uint32_t thread_id_assign() {
  // Relaxed: only the uniqueness of the number matters.
  return tls_thread_id = next_id.fetch_add(1, kRelaxed);
}

void thread_name_set(const char* name) {
  NameNode* node = own_node();
  if (node == nullptr) {
    node = claim_node();
    pthread_setspecific(key, node);
  }
  uint64_t words[sizeof(ThreadName) / sizeof(uint64_t)] = {};
  memcpy(words, name, strnlen(name, sizeof words - 1));
  node->id.store(kFilling, kRelaxed);  // Relaxed: (5) keeps it before.
  // (5) a reader that finds a new word finds kFilling too; pairs with (6).
  A::fence(A::release(5));
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    node->words[i].store(words[i], kRelaxed);  // Relaxed: (3) publishes.
  }
  // (3) publishes the name; pairs with (4).
  node->id.store(thread_id(), A::release(3));
}

ThreadName thread_name(uint32_t id) {
  // (1) the link of a new node; pairs with (2).
  for (NameNode* node = nodes.load(A::acquire(1)); node != nullptr;
       node = node->next) {
    // (4) the name below is that thread's; pairs with (3).
    if (node->id.load(A::acquire(4)) != id) continue;
    uint64_t words[sizeof(ThreadName) / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
      words[i] = node->words[i].load(kRelaxed);  // Relaxed: checked by (6).
    }
    // (6) the node is still that thread's if no word is newer; pairs with (5).
    A::fence(A::acquire(6));
    if (node->id.load(kRelaxed) != id) break;  // Relaxed: ordered by (6).
    ThreadName name;
    memcpy(name.text, words, sizeof words);
    return name;
  }
  ThreadName name;
  snprintf(name.text, sizeof name.text, "thread%u", id);
  return name;
}

ThreadName thread_name() {
  if (own_node() != nullptr) return thread_name(thread_id());
  ThreadName name = {"main"};
  if (gettid() == getpid()) return name;
  if (pthread_getname_np(pthread_self(), name.text, sizeof name.text) != 0) {
    return thread_name(thread_id());
  }
  return name;
}

}  // namespace ovsthread
