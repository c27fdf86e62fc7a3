// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings with a value of its own in each field of each row, made from their table alone: a field
// that is added there is in these, too. For tests of whatever treats all fields alike.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include "blame/findings/findings_fields.h"

namespace culprit::testing_support {

/// Every field of a row with its exact value, so that a difference names the field.
template <class Row>
std::string shown(const Row& row) {
  std::string all;
  blame::Table<Row>::columns(row, [&](const auto& column, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    all.append(column.name).append("=");
    if constexpr (std::is_same_v<Field, std::string>) {
      all += field;
    } else if constexpr (Word<Field>) {
      all += to_string(field);
    } else if constexpr (std::is_floating_point_v<Field>) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%a", field);
      all += digits;
    } else if constexpr (std::is_integral_v<Field>) {
      all += std::to_string(field);
    } else {
      all += field.valid() ? std::to_string(field.index()) : "none";
    }
    all += ' ';
  });
  return all;
}

/// All values differ, as far as their types have so many: words and ids come round again, but not
/// within a row.
class FindingsFiller {
 public:
  static constexpr size_t kRows = 12;  ///< in each list

  /// Fillers with starts far apart make different values.
  explicit FindingsFiller(size_t start) : next_(start) {}

  blame::Findings fill() {
    blame::Findings f;
    fill_row(f.run);
    fill_row(f.identities);
    fill_row(f.start_up);
    for (std::string& text : f.run.notes = {"", ""}) fill_field(text);
    for (std::string& text : f.identities.violations = {"", ""}) fill_field(text);
    blame::visit_lists(
        [this](auto& rows) {
          rows.resize(kRows);
          for (auto& row : rows) fill_row(row);
        },
        f);
    for (size_t i = 0; i < kRows; ++i) {  // what the tables promise besides
      f.callpaths[i].parent = i > 0 ? CallPathId(i - 1) : CallPathId::none();
      f.efficiencies[i].name = blame::Factor(i);
    }
    for (const Severity severity : {Severity::info, Severity::warning, Severity::data_loss}) {
      std::string name, advice;
      fill_field(name), fill_field(advice);
      f.losses.restore(name, {++next_, severity, advice});
    }
    return f;
  }

 private:
  template <class Row>
  void fill_row(Row& row) {
    blame::visit_fields(row, [this](auto& field) { fill_field(field); });
  }
  void fill_field(std::string& text) { text = "text " + std::to_string(++next_); }
  void fill_field(double& value) { value = static_cast<double>(++next_) / 3; }
  template <std::integral T>
  void fill_field(T& value) {
    value = static_cast<T>(++next_);
  }
  void fill_field(bool& flag) { flag = ++next_ % 2 == 1; }
  template <Word E>
  void fill_field(E& word) {
    word = static_cast<E>(++next_ % Words<E>::kSpelled.size());
  }
  template <class Tag>
  void fill_field(Id<Tag>& id) {
    id = Id<Tag>(++next_ % kRows);
  }

  size_t next_;
};

}  // namespace culprit::testing_support
