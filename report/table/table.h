// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table of a report: named columns of one kind each, and rows. Ways to write it are in write.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace culprit::report {

enum class CellKind : uint8_t { text, seconds, count, share };

struct TableColumn {
  std::string key;   ///< in CSV and JSON: "waiting_s"
  std::string head;  ///< over a column for people: "waiting"
  CellKind kind = CellKind::seconds;
  bool spare = false;  ///< goes first where a page has no room for all
};

/// std::monostate: there is no value.
using Cell = std::variant<std::monostate, std::string, double, uint64_t>;

struct ReportTable {
  std::string title;
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;  ///< as many cells as columns; the largest first
  std::string note;                     ///< what the columns mean, for people
  uint64_t left_out = 0;                ///< rows that were cut off behind these
};

}  // namespace culprit::report
