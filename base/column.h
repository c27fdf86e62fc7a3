// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A vector for the columns that replay keeps by the hundred million: it grows by realloc, which for
// large blocks moves pages instead of copying them, and so never holds its content twice. What was
// reserved and not yet written costs no memory. Only for plain data.
#pragma once

#include <cstddef>
#include <cstdlib>
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
  ~Column() { std::free(data_); }

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
  void reserve(size_t capacity) {
    if (capacity > capacity_) move_to(capacity);
  }
  void clear() { size_ = 0; }
  /// Gives the memory back.
  void release() {
    std::free(std::exchange(data_, nullptr));
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
  void move_to(size_t capacity) {
    void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace culprit
