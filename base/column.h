// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A vector for the columns that replay keeps by the hundred million. Large ones have pages of their
// own, which are moved, not copied, when they grow: so the content never exists twice, what was
// reserved and not yet written costs no memory, and what is given back is free at once (malloc
// would keep large blocks in its heap after the first have been freed). Only for plain data.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace culprit {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { give_back(); }

  void push_back(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // it may be one of ours
      grow(size_ + 1);
      new (data_ + size_++) T(copy);
      return;
    }
    new (data_ + size_++) T(value);
  }
  void pop_back() { --size_; }
  void resize(size_t size, const T& value = T()) {
    if (size > capacity_) grow(size);
    for (; size_ < size; ++size_) new (data_ + size_) T(value);
    size_ = size;
  }
  /// The caller must write the new elements.
  void resize_uninitialized(size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_) move_to(capacity);
  }
  void clear() { size_ = 0; }
  /// Gives the memory back.
  void release() {
    give_back();
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  const T* begin() const { return data_; }
  T* end() { return data_ + size_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  operator std::span<const T>() const { return {data_, size_}; }

 private:
  void grow(size_t least) {
    const size_t more = capacity_ + capacity_ / 2 + 8;
    move_to(more < least ? least : more);
  }
  /// Bytes from which on a block has pages of its own. (None has under ThreadSanitizer, which does
  /// not see that mremap makes memory new.)
#ifdef __SANITIZE_THREAD__
  static constexpr size_t kLarge = SIZE_MAX;
#else
  static constexpr size_t kLarge = 128 << 10;
#endif
  static bool is_large(size_t capacity) { return capacity * sizeof(T) >= kLarge; }

  void move_to(size_t capacity) {
    void* moved = is_large(capacity)
                      ? map(capacity)
                      : std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr || moved == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }
  void* map(size_t capacity) {
    const size_t bytes = capacity * sizeof(T);
    if (is_large(capacity_)) {
      return mremap(static_cast<void*>(data_), capacity_ * sizeof(T), bytes, MREMAP_MAYMOVE);
    }
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return pages;
    if (size_ > 0) std::memcpy(pages, static_cast<void*>(data_), size_ * sizeof(T));
    std::free(static_cast<void*>(data_));
    return pages;
  }
  void give_back() {
    if (is_large(capacity_)) {
      munmap(static_cast<void*>(data_), capacity_ * sizeof(T));
    } else {
      std::free(static_cast<void*>(data_));
    }
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace culprit
