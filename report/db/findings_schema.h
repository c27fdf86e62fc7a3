// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The shape of a findings file: its SQL, made from the table of findings
// (blame/findings/findings.def), and the views and indices that are more than that.
// docs/findings-db.md explains the tables to people who query them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "blame/findings/findings_fields.h"

namespace culprit::report {

/// "CULP", in the file's header: distinguishes a findings file from other SQLite files.
inline constexpr int64_t kApplicationId = 0x43554c50;
/// Raised whenever a reader of the previous version would misunderstand the file, or one of this
/// version finds something missing in previous ones.
inline constexpr int64_t kSchemaVersion = 14;

/// CREATE TABLE and VIEW statements.
std::string schema();
/// CREATE INDEX statements: for when the tables are full.
extern const char* const kIndices;

/// The table's own id is a column of its rows, and not their place in the list.
template <class Row>
inline constexpr bool kHasKey = requires(Row row) { row.id; };

/// "callpath, time_s", without the id that is a place.
template <class Row>
std::string column_names() {
  Row row;
  std::string names;
  blame::Table<Row>::columns(row, [&](const auto& column, const auto&) {
    names.append(names.empty() ? "" : ", ").append(column.name);
  });
  return names;
}

}  // namespace culprit::report
