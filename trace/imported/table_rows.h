// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a table in somebody's database, read by the names of the columns. Versions of a tool
// differ in what they export: a table that is not there has no rows, a column that is not there is
// NULL. Views are no tables: they may never end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/sqlite/sqlite.h"

namespace culprit::trace {

/// Steps of SQLite's machine that one file may take: enough for a billion rows.
inline constexpr uint64_t kMostSteps = uint64_t{1} << 36;

class TableRows {
 public:
  /// `table` consists of letters, digits and underscores.
  TableRows(Database& database, const std::string& table,
            std::initializer_list<const char*> columns)
      : statement_(database, select(database, table, columns)) {}

  bool next() { return statement_.next(); }

  // The columns, from left to right.
  int64_t integer() { return statement_.integer(); }
  uint64_t number() { return static_cast<uint64_t>(statement_.integer()); }
  std::string text() { return statement_.text(); }
  std::optional<int64_t> maybe() {
    if (!statement_.is_null()) return statement_.integer();
    statement_.skip();
    return {};
  }

 private:
  static std::string select(Database& database, const std::string& table,
                            std::initializer_list<const char*> columns) {
    if (!database.is_plain_table(table)) return "SELECT 1 WHERE 0";
    std::vector<std::string> there;
    Statement info(database, "PRAGMA table_info(" + table + ")");
    while (info.next()) {
      info.skip();
      there.push_back(info.text());
    }
    std::string sql;
    for (const char* column : columns) {
      const bool has = std::find(there.begin(), there.end(), column) != there.end();
      sql += sql.empty() ? "SELECT " : ", ";
      sql += has ? "\"" + std::string(column) + "\"" : "NULL";
    }
    return sql + " FROM " + table;
  }

  Statement statement_;
};

}  // namespace culprit::trace
