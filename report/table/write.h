// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Ways to write a table. Names in it come from programs: each way keeps them from being anything
// but text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/table/table.h"

namespace culprit::report {

struct TableFormat {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  std::string (*write)(const ReportTable& table);
};

/// All of them, the default first.
std::span<const TableFormat> table_formats();
/// nullptr if there is none of that name.
const TableFormat* find_table_format(std::string_view name);

std::string table_text(const ReportTable& table);
/// A cell of RFC 4180.
std::string csv_cell(const std::string& text);
/// RFC 4180, times in seconds, with a line of keys.
std::string table_csv(const ReportTable& table);
std::string table_markdown(const ReportTable& table);
/// An array of objects.
std::string table_json(const ReportTable& table);

}  // namespace culprit::report
