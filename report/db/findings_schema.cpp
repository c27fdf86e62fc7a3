// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The SQL of a findings file. SQLite keeps these statements with their comments, so `.schema` in
// its shell explains the file. Every `id` counts from 0 in the order of the list (largest first
// where a list has a size).

#include "report/db/findings_schema.h"

namespace culprit::report {
namespace {

/// "('phase', 'iteration')"
template <Word E>
std::string list_of_words() {
  std::string list;
  for (const std::string_view word : Words<E>::kSpelled) {
    list.append(list.empty() ? "('" : ", '").append(word).append("'");
  }
  return list + ")";
}

/// "  time_s REAL NOT NULL"
template <class Type>
std::string column_definition(const blame::Column<Type>& column) {
  std::string sql = "  ";
  sql.append(column.name).append(" ").append(Type::kSql);
  if constexpr (Word<typename Type::Value>) {
    sql.append(" CHECK (").append(column.name).append(" IN ");
    sql += list_of_words<typename Type::Value>() + ")";
  }
  return sql;
}

template <class Row>
std::string create_table() {
  using Table = blame::Table<Row>;
  std::string sql = "CREATE TABLE ";
  sql.append(Table::kName).append(" (  -- ").append(Table::kMeaning);
  std::string line = kHasKey<Row> ? "" : "  id INTEGER PRIMARY KEY", remark;
  const auto end_line = [&](std::string_view end) {
    if (!line.empty()) sql += "\n" + line + std::string(end);
    if (!remark.empty()) sql += "  -- " + remark;
  };
  Row row;
  Table::columns(row, [&](const auto& column, const auto&) {
    end_line(",");
    line = column_definition(column);
    remark = column.meaning;
  });
  end_line("");
  return sql + (kHasKey<Row> ? "\n) WITHOUT ROWID;\n" : "\n);\n");
}

constexpr const char* kViews = R"sql(
CREATE VIEW waits_named AS  -- waits with names instead of numbers
  SELECT w.id, w.pattern, c.name AS callpath, l.name AS location, w.count, w.time_s,
         w.indirect_s, w.propagating_s
  FROM waits w LEFT JOIN callpaths c ON c.id = w.callpath
               LEFT JOIN locations l ON l.id = w.location;
CREATE VIEW idle_blame_named AS  -- blame for idle threads with names instead of numbers
  SELECT b.id, c.name AS callpath, l.name AS location, b.time_s
  FROM idle_blame b LEFT JOIN callpaths c ON c.id = b.callpath
                    LEFT JOIN locations l ON l.id = b.location;
CREATE VIEW counts_named AS  -- counts with names instead of numbers
  SELECT n.id, m.name AS metric, m.unit, c.name AS callpath, l.name AS location, n.value, n.time_s
  FROM counts n JOIN metrics m ON m.id = n.metric
                LEFT JOIN callpaths c ON c.id = n.callpath
                LEFT JOIN locations l ON l.id = n.location;
CREATE VIEW delays_named AS  -- delays with names instead of numbers
  SELECT d.id, d.pattern, c.name AS callpath, l.name AS location, d.short_s, d.long_s
  FROM delays d LEFT JOIN callpaths c ON c.id = d.callpath
                LEFT JOIN locations l ON l.id = d.location;
)sql";

}  // namespace

std::string schema() {
  std::string sql;
#define TABLE(Row, table, meaning) sql += create_table<blame::Row>();
#define ONE(Row, table, meaning) TABLE(Row, table, meaning)
#define LIST(Row, table, origin, meaning) TABLE(Row, table, meaning)
#define FIELD(Type, name, meaning)
#define FIELD_AS(Type, name, key, meaning)
#define SENTENCES(name)
#define END
#include "blame/findings/findings.def"
#undef TABLE
#undef ONE
#undef LIST
#undef FIELD
#undef FIELD_AS
#undef SENTENCES
#undef END
  return sql + kViews;
}

// Few: a table of a million rows is scanned in less time than a person notices, and each index
// takes as long to write as the table does.
const char* const kIndices = R"sql(
CREATE INDEX waits_by_callpath ON waits (callpath, location);
CREATE INDEX delays_by_callpath ON delays (callpath, location);
CREATE INDEX victims_by_delay ON victims (delay_callpath, delay_location);
)sql";

}  // namespace culprit::report
