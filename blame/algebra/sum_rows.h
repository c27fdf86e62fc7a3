// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of several findings summed on common ground. The type of a column decides how it is
// combined: times and amounts are weighted and summed, counts are added, all other columns identify
// a row. So a new list or field of findings.def needs no line here.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blame/findings/findings_fields.h"

namespace culprit::blame {

template <class Type>
inline constexpr bool kSummed =
    std::is_same_v<Type, column::Allocated> || std::is_same_v<Type, column::Wall> ||
    std::is_same_v<Type, column::OptionalAllocated> || std::is_same_v<Type, column::Amount> ||
    std::is_same_v<Type, column::Share>;
template <class Type>
inline constexpr bool kTaken =
    std::is_same_v<Type, column::Count> || std::is_same_v<Type, column::OptionalCount> ||
    std::is_same_v<Type, column::Bytes> || std::is_same_v<Type, column::Flag>;

template <class T>
void append_to_key(std::string& key, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    key += value + '\0';
  } else {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
}

/// Gives a row the ids of the common ground (`ids`: CommonIds, or what maps as these do) and
/// returns the key that identifies it there.
template <class Row, class Ids>
std::string translate(Row& row, const Ids& ids) {
  std::string key;
  Table<Row>::columns(row, [&]<class Type>(const Column<Type>&, auto& field) {
    if constexpr (!kSummed<Type> && !kTaken<Type>) {
      field = ids(field);
      append_to_key(key, field);
    }
  });
  return key;
}

/// Calls visit(column, field of to, field of from) for all columns of two rows of one kind.
template <class Row, class Visit>
void visit_both(Row& to, const Row& from, const Visit& visit) {
  std::vector<const void*> fields;
  Table<Row>::columns(from, [&](auto, const auto& field) { fields.push_back(&field); });
  size_t i = 0;
  Table<Row>::columns(to, [&](const auto& column, auto& field) {
    using Value = std::remove_reference_t<decltype(field)>;
    visit(column, field, *static_cast<const Value*>(fields[i++]));
  });
}

/// Sums up rows of one kind. Times are added at once. Counts of the runs after are integers: their
/// weighted sums are kept separately and rounded once, at the end.
class RowSums {
 public:
  template <class Row>
  void add(Row& to, const Row& from, double weight) {
    size_t at = 0;
    visit_both(to, from, [&]<class Type>(const Column<Type>&, auto& sum, const auto& value) {
      if constexpr (kSummed<Type>) sum += weight * value;
      if constexpr (kTaken<Type>) {
        if (at == sums_.size()) sums_.resize(at + 1);
        if (weight > 0) sums_[at] += weight * static_cast<double>(value);
        ++at;
      }
    });
  }
  template <class Row>
  void round_into(Row& to) const {
    size_t at = 0;
    Table<Row>::columns(to, [&]<class Type>(const Column<Type>&, auto& field) {
      using Value = std::remove_reference_t<decltype(field)>;
      if constexpr (kTaken<Type>) {
        if (at < sums_.size()) field = static_cast<Value>(std::llround(sums_[at++] + kHalfIsUp));
      }
    });
  }

 private:
  static constexpr double kHalfIsUp = 1e-9;  ///< whatever a sum of sixths comes to
  std::vector<double> sums_;
};

template <class Row>
void clear_sums(Row& row) {
  Table<Row>::columns(row, [&]<class Type>(const Column<Type>&, auto& field) {
    if constexpr (kSummed<Type> || kTaken<Type>) field = {};
  });
}

template <class Row>
class Rows {
 public:
  template <class Ids>
  void add(Row row, const Ids& ids, double weight) {
    const std::string key = translate(row, ids);
    const auto [at, fresh] = place_.try_emplace(key, all_.size());
    if (fresh) {
      all_.push_back(row);
      clear_sums(all_.back());
      sums_.emplace_back();
    }
    sums_[at->second].add(all_[at->second], row, weight);
  }
  std::vector<Row> take() {
    for (size_t i = 0; i < all_.size(); ++i) sums_[i].round_into(all_[i]);
    return std::move(all_);
  }

 private:
  std::unordered_map<std::string, size_t> place_;
  std::vector<Row> all_;
  std::vector<RowSums> sums_;
};

}  // namespace culprit::blame
