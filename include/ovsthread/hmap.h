// SPDX-License-Identifier: Apache-2.0
//
// Hmap: the typed face of the intrusive hash map of ovsthread/hmap-core.h,
// which tells how it is laid out and what its operations cost.
#ifndef OVSTHREAD_HMAP_H_
#define OVSTHREAD_HMAP_H_

#include <ovsthread/hmap-core.h>

#include <bit>
#include <iterator>
#include <utility>

namespace ovsthread {

// A map of elements of the standard-layout type T, each of which embeds its
// node as the member kNode.  The map owns no element.  What is said of the C
// functions holds; equal hashes may occur any number of times.
//
//   struct Flow { int key; hmap_node node; };
//   Hmap<Flow, &Flow::node> flows;
//   flows.insert(flow, hash_u64(flow.key));
//   Flow *found = flows.find(hash_u64(7),
//                            [](const Flow &f) { return f.key == 7; });
template <class T, hmap_node T::*kNode>
class Hmap {
 public:
  // Forward iterator.  Stays valid until its element is removed or the map is
  // resized.
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    iterator() = default;
    T& operator*() const { return *element(node_); }
    T* operator->() const { return element(node_); }
    iterator& operator++() {
      node_ = hmap_next(map_, node_);
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator&) const = default;

   private:
    friend Hmap;
    iterator(const hmap* map, hmap_node* node) : map_(map), node_(node) {}
    const hmap* map_ = nullptr;
    hmap_node* node_ = nullptr;
  };

  Hmap() { hmap_init(&map_); }
  ~Hmap() { hmap_destroy(&map_); }
  Hmap(Hmap&& other) noexcept : Hmap() { swap(other); }
  Hmap& operator=(Hmap&& other) noexcept {
    Hmap(std::move(other)).swap(*this);
    return *this;
  }

  size_t size() const { return hmap_count(&map_); }
  [[nodiscard]] bool empty() const { return hmap_is_empty(&map_); }
  size_t capacity() const { return hmap_capacity(&map_); }

  iterator begin() const { return {&map_, hmap_first(&map_)}; }
  iterator end() const { return {&map_, nullptr}; }

  // Adds ELEMENT, which must be in no map.
  void insert(T& element, size_t hash) {
    hmap_insert_at(&map_, &(element.*kNode), hash, kWhere);
  }

  // The element of that HASH for which EQUAL(element) holds, or null.
  template <class Equal>
  T* find(size_t hash, Equal&& equal) const {
    for (hmap_node* node = hmap_first_with_hash(&map_, hash); node != nullptr;
         node = hmap_next_with_hash(node)) {
      if (equal(std::as_const(*element(node)))) return element(node);
    }
    return nullptr;
  }

  bool contains(const T& element) const {
    return hmap_contains(&map_, &(element.*kNode));
  }

  // Takes out an element that is in the map.  Its memory is the caller's at
  // once.
  void erase(T& element) { hmap_remove(&map_, &(element.*kNode)); }
  // Returns the iterator to the element after it.
  iterator erase(iterator position) {
    iterator next = std::next(position);
    erase(*position);
    return next;
  }

  // Puts NOW in the place of OLD, which is in the map.
  void replace(const T& old, T& now) {
    hmap_replace(&map_, &(old.*kNode), &(now.*kNode));
  }

  // Takes out all elements and hands each to DISPOSE, which may free it.
  template <class Dispose>
  void clear_and_dispose(Dispose&& dispose) {
    size_t bucket = 0;
    while (hmap_node* node = hmap_pop__(&map_, &bucket)) {
      dispose(element(node));
    }
  }

  // Forgets all elements; keeps the capacity.
  void clear() { hmap_clear(&map_); }

  void reserve(size_t capacity) { hmap_reserve_at(&map_, capacity, kWhere); }
  void shrink_to_fit() { hmap_shrink_at(&map_, kWhere); }

  void swap(Hmap& other) noexcept { hmap_swap(&map_, &other.map_); }
  friend void swap(Hmap& a, Hmap& b) noexcept { a.swap(b); }

 private:
  static constexpr const char* kWhere = "ovsthread::Hmap";

  static T* element(hmap_node* node) {
    // A pointer to a data member is the member's offset (Itanium C++ ABI).
    auto offset = std::bit_cast<std::ptrdiff_t>(kNode);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(node) - offset);
  }

  hmap map_;
};

}  // namespace ovsthread
#endif  // OVSTHREAD_HMAP_H_
