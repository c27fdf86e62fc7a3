// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Typed communication between analysis ranks. All functions are collective: every rank calls them,
// in the same order. Sums are made in the order of ranks, so that all get the same result.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ranks/transport.h"
#include "base/result.h"

namespace culprit {

/// Puts plain values, lists of them and strings into a parcel, one after the other.
class Packer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  void put(std::string_view text) { put_list(std::span(text.data(), text.size())); }
  void put(const std::string& text) { put(std::string_view(text)); }
  template <class T>
  void put_list(std::span<const T> list) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(uint64_t{list.size()});
    append(list.data(), list.size_bytes());
  }
  /// Appends the contents of another packer.
  void append(const Parcel& parcel) { append(parcel.data(), parcel.size()); }
  Parcel take() { return std::exchange(parcel_, {}); }

 private:
  void append(const void* data, size_t bytes) {
    CULPRIT_CHECK(bytes <= PTRDIFF_MAX);
    const size_t before = parcel_.size();
    parcel_.resize_uninitialized(before + bytes);
    if (bytes > 0) std::memcpy(parcel_.data() + before, data, bytes);
  }
  Parcel parcel_;
};

/// Takes the values out again, in the same order. Lengths are not validated: ranks trust each
/// other.
class Unpacker {
 public:
  explicit Unpacker(const Parcel& parcel) : rest_(parcel.data(), parcel.size()) {}

  bool done() const { return rest_.empty(); }
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    std::array<std::byte, sizeof(T)> value;
    std::memcpy(value.data(), take(sizeof value), sizeof value);
    return std::bit_cast<T>(value);
  }
  std::string get_string() {
    const auto size = static_cast<size_t>(get<uint64_t>());
    return std::string(reinterpret_cast<const char*>(take(size)), size);
  }
  template <class T>
  void get_into(T& value) {
    value = get<T>();
  }
  void get_into(std::string& text) { text = get_string(); }
  /// Calls visit(const T&) for each of a list.
  template <class T, class Visit>
  void get_list(const Visit& visit) {
    for (auto left = get<uint64_t>(); left > 0; --left) visit(get<T>());
  }
  template <class T>
  std::vector<T> get_list() {
    const auto size = static_cast<size_t>(get<uint64_t>());
    std::vector<T> list(size);
    if (size > 0)
      std::memcpy(static_cast<void*>(list.data()), take(size * sizeof(T)), size * sizeof(T));
    return list;
  }
  /// Returns a list of bytes, valid as long as the parcel lives.
  std::span<const std::byte> get_bytes() {
    const auto size = static_cast<size_t>(get<uint64_t>());
    return {take(size), size};
  }

 private:
  const std::byte* take(size_t bytes) {
    CULPRIT_CHECK(bytes <= rest_.size());
    const std::byte* at = rest_.data();
    rest_ = rest_.subspan(bytes);
    return at;
  }
  std::span<const std::byte> rest_;
};

/// Plain values for each rank, by rank; returns what each rank had for this one, by rank.
template <class T>
std::vector<Column<T>> exchange(Transport& ranks, std::vector<Column<T>> to) {
  if (ranks.alone()) return to;
  std::vector<Parcel> parcels(to.size());
  for (size_t r = 0; r < to.size(); ++r) {
    parcels[r].resize_uninitialized(to[r].size() * sizeof(T));
    if (!to[r].empty()) {
      std::memcpy(parcels[r].data(), static_cast<const void*>(to[r].data()), parcels[r].size());
    }
    to[r].release();
  }
  parcels = ranks.exchange(std::move(parcels));
  for (size_t r = 0; r < parcels.size(); ++r) {
    to[r].resize_uninitialized(parcels[r].size() / sizeof(T));
    if (!to[r].empty()) {
      std::memcpy(static_cast<void*>(to[r].data()), parcels[r].data(), parcels[r].size());
    }
    parcels[r].release();
  }
  return to;
}

/// Exchanges parcels packed for each rank, by rank.
inline std::vector<Parcel> exchange(Transport& ranks, std::vector<Packer> to) {
  std::vector<Parcel> parcels;
  for (Packer& packer : to) parcels.push_back(packer.take());
  return ranks.exchange(std::move(parcels));
}

/// Sends the same parcel to all; returns those of all ranks, by rank.
inline std::vector<Parcel> gather_everywhere(Transport& ranks, const Parcel& own) {
  std::vector<Parcel> to(ranks.size());
  for (Parcel& parcel : to) {
    parcel.resize_uninitialized(own.size());
    if (!own.empty()) std::memcpy(parcel.data(), own.data(), own.size());
  }
  return ranks.exchange(std::move(to));
}

/// One plain value of each rank, by rank.
template <class T>
std::vector<T> gather_everywhere(Transport& ranks, const T& own) {
  Packer packer;
  packer.put(own);
  std::vector<T> all;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    all.push_back(Unpacker(parcel).get<T>());
  }
  return all;
}

/// One text of each rank, by rank.
inline std::vector<std::string> gather_texts(Transport& ranks, const std::string& own) {
  Packer packer;
  packer.put(own);
  std::vector<std::string> all;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    all.push_back(Unpacker(parcel).get_string());
  }
  return all;
}

/// Gathers the parcels of all ranks on rank 0, by rank; other ranks get empty ones.
inline std::vector<Parcel> gather(Transport& ranks, Parcel own) {
  std::vector<Parcel> to(ranks.size());
  to[0] = std::move(own);
  return ranks.exchange(std::move(to));
}

/// Returns rank 0's parcel on all ranks. Parcels of others are ignored.
inline Parcel share_of_first(Transport& ranks, Parcel own) {
  if (ranks.alone()) return own;
  std::vector<Parcel> to(ranks.size());
  if (ranks.rank() == 0) {
    for (Parcel& parcel : to) {
      parcel.resize_uninitialized(own.size());
      if (!own.empty()) std::memcpy(parcel.data(), own.data(), own.size());
    }
  }
  return std::move(ranks.exchange(std::move(to))[0]);
}

/// join(a, b) over all ranks' values, from the first to the last.
template <class T, class Join>
T reduce(Transport& ranks, const T& own, const Join& join) {
  if (ranks.alone()) return own;
  const std::vector<T> all = gather_everywhere(ranks, own);
  T result = all[0];
  for (size_t r = 1; r < all.size(); ++r) result = join(result, all[r]);
  return result;
}
template <class T>
T sum(Transport& ranks, const T& own) {
  return reduce(ranks, own, [](const T& a, const T& b) { return a + b; });
}

/// Concatenates the lists of all ranks.
template <class T>
std::vector<T> concatenate(Transport& ranks, const std::vector<T>& own) {
  if (ranks.alone()) return own;
  Packer packer;
  packer.put_list<T>(own);
  std::vector<T> all;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    Unpacker(parcel).get_list<T>([&](const T& value) { all.push_back(value); });
  }
  return all;
}

/// Adds the lists of all ranks, element by element. All have equal length. Each rank adds a part of
/// the elements, so that none holds more than its own list and the result.
template <class T>
void add_up(Transport& ranks, std::vector<T>& values) {
  if (ranks.alone()) return;
  const auto edge = [&](size_t rank) { return values.size() * rank / ranks.size(); };
  std::vector<Packer> parts(ranks.size());
  for (size_t r = 0; r < parts.size(); ++r) {
    parts[r].put_list(std::span<const T>(values).subspan(edge(r), edge(r + 1) - edge(r)));
  }
  std::vector<T> sums;
  for (const Parcel& parcel : exchange(ranks, std::move(parts))) {
    const auto part = Unpacker(parcel).get_list<T>();
    sums.resize(part.size());
    for (size_t i = 0; i < part.size(); ++i) sums[i] += part[i];
  }
  values = concatenate(ranks, sums);
}

}  // namespace culprit
