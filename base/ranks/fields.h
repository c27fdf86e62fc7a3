// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One list of a type's fields serves both ways: pack() puts them into a parcel, unpack() takes them
// out again. For each type whose fields are not all plain there is
//     template <class Way> void fields(Way& way, T& value) { way(value.name, value.members); }
// in its namespace. Standard containers, strings and optionals are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ranks/exchange.h"

namespace culprit {

template <class T>
concept Container = requires(T list) {
  typename T::value_type;
  list.size();
  list.begin();
  list.clear();
};

/// A value of a map's or a set's elements that can be assigned to.
template <class T>
struct Element {
  using Type = T;
};
template <class Key, class Value>
struct Element<std::pair<const Key, Value>> {
  using Type = std::pair<Key, Value>;
};

class FieldPacker {
 public:
  explicit FieldPacker(Packer& packer) : packer_(packer) {}

  template <class... T>
  void operator()(T&... fields) {
    (put(fields), ...);
  }

 private:
  template <class T>
  void put(T& value) {
    if constexpr (std::is_same_v<T, std::string> || std::is_trivially_copyable_v<T>) {
      packer_.put(value);
    } else if constexpr (Container<T>) {
      packer_.put(uint64_t{value.size()});
      for (const auto& one : value) {
        auto copy = typename Element<typename T::value_type>::Type(one);
        put(copy);
      }
    } else {
      fields(*this, value);
    }
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(std::vector<T>& list) {
    packer_.put_list(std::span<const T>(list));
  }
  template <class A, class B>
  void put(std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <class T>
  void put(std::optional<T>& value) {
    packer_.put(value.has_value());
    if (value) put(*value);
  }

  Packer& packer_;
};

class FieldUnpacker {
 public:
  explicit FieldUnpacker(Unpacker& unpacker) : unpacker_(unpacker) {}

  template <class... T>
  void operator()(T&... fields) {
    (get(fields), ...);
  }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, std::string> || std::is_trivially_copyable_v<T>) {
      unpacker_.get_into(value);
    } else if constexpr (Container<T>) {
      value.clear();
      for (auto left = unpacker_.get<uint64_t>(); left > 0; --left) {
        typename Element<typename T::value_type>::Type one{};
        get(one);
        value.insert(value.end(), std::move(one));
      }
    } else {
      fields(*this, value);
    }
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void get(std::vector<T>& list) {
    list = unpacker_.get_list<T>();
  }
  template <class A, class B>
  void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  template <class T>
  void get(std::optional<T>& value) {
    value.reset();
    if (unpacker_.get<bool>()) get(value.emplace());
  }

  Unpacker& unpacker_;
};

template <class T>
void pack(Packer& packer, T& value) {
  FieldPacker way(packer);
  way(value);
}

template <class T>
T unpack(Unpacker& unpacker) {
  T value{};
  FieldUnpacker way(unpacker);
  way(value);
  return value;
}

}  // namespace culprit
