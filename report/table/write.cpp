// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// People get rounded figures in the unit of the longest time, programs all digits in seconds. A
// column of text is as wide as its longest cell allows on a page; call paths are shortened so that
// each can still be told from the others.
#include "report/table/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/printable.h"
#include "report/table/lines.h"
#include "report/words/layout.h"

namespace culprit::report {

namespace {

constexpr TableFormat kTableFormats[] = {
    {"text", "columns for people", table_text},
    {"json", "an array of objects", table_json},
    {"csv", "comma-separated values with a line of keys", table_csv},
    {"markdown", "a table for documents and issues", table_markdown},
};

constexpr size_t kLeastTextWidth = 24;  ///< before columns are left out
constexpr size_t kLeastName = 12;       ///< in any case
constexpr size_t kLeastColumns = 2;

double longest_of(const ReportTable& table) {
  double longest = 0;
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const double* const value = std::get_if<double>(&row[i]);
      if (value == nullptr || table.columns[i].kind != CellKind::seconds) continue;
      longest = std::max(longest, std::abs(*value));
    }
  }
  return longest;
}

/// Returns a cell as text for people.
std::string shown(const Cell& cell, CellKind kind, const TimeFormat& time) {
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
  if (const auto* count = std::get_if<uint64_t>(&cell)) return grouped(*count);
  if (const auto* value = std::get_if<double>(&cell)) {
    return kind == CellKind::share ? fmt::format("{:.2f}", *value) : time(*value);
  }
  return "";
}

/// Returns all cells as text for people, by column.
std::vector<std::vector<std::string>> shown_columns(const ReportTable& table) {
  const TimeFormat time(longest_of(table));
  std::vector<std::vector<std::string>> columns(table.columns.size());
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      columns[i].push_back(shown(row[i], table.columns[i].kind, time));
    }
  }
  return columns;
}

size_t width_of(const std::string& head, const std::vector<std::string>& cells) {
  size_t width = head.size();
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  return width;
}

/// What a page is wide enough for: of the columns, those whose numbers are returned. Texts lose
/// what is left out between beginning and end, the first one last; then columns go, the spare ones
/// first.
std::vector<size_t> fit(const ReportTable& table, std::vector<std::vector<std::string>>& columns) {
  std::vector<size_t> kept(columns.size());
  std::iota(kept.begin(), kept.end(), size_t{0});
  const auto width = [&](size_t i) { return width_of(table.columns[i].head, columns[i]); };
  const auto others = [&] {
    return std::accumulate(kept.begin() + 1, kept.end(), size_t{0},
                           [&](size_t sum, size_t i) { return sum + width(i) + 2; });
  };
  const size_t least = std::min(width(0), kLeastTextWidth);
  const auto too_wide = [&] { return others() + least > page_width(); };
  for (size_t i = 1; i < columns.size() && too_wide(); ++i) {
    if (table.columns[i].kind == CellKind::text)
      columns[i] = shortened(columns[i], kLeastTextWidth);
  }
  while (kept.size() > kLeastColumns && too_wide()) {
    const auto spare = std::find_if(kept.rbegin(), kept.rend() - 1,
                                    [&](size_t i) { return table.columns[i].spare; });
    kept.erase(spare != kept.rend() - 1 ? spare.base() - 1 : kept.end() - 1);
  }
  const size_t taken = others();
  columns[0] =
      shortened(columns[0], page_width() > taken + kLeastName ? page_width() - taken : kLeastName);
  return kept;
}

/// The lines of a page, and how many columns it is too narrow for.
std::pair<std::vector<std::string>, size_t> lines_and_gone(const ReportTable& table) {
  auto columns = shown_columns(table);
  const std::vector<size_t> kept = fit(table, columns);
  std::vector<std::string> lines;
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const size_t i : kept) {
      const size_t width = width_of(table.columns[i].head, columns[i]);
      const bool is_text = table.columns[i].kind == CellKind::text;
      text += (i > 0 ? "  " : "") + (is_text ? left(cell_of(i), width) : right(cell_of(i), width));
    }
    text.resize(text.find_last_not_of(' ') + 1);
    lines.push_back(std::move(text));
  };
  line([&](size_t i) { return table.columns[i].head; });
  for (size_t row = 0; row < table.rows.size(); ++row) {
    line([&](size_t i) { return columns[i][row]; });
  }
  return {std::move(lines), columns.size() - kept.size()};
}

std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]#").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Returns a cell with all digits.
std::string plain(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<uint64_t>(&cell)) return std::to_string(*count);
  if (const auto* value = std::get_if<double>(&cell)) return fmt::format("{}", *value);
  return "";
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::span<const TableFormat> table_formats() {
  return kTableFormats;
}

const TableFormat* find_table_format(std::string_view name) {
  for (const TableFormat& format : kTableFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string> table_lines(const ReportTable& table) {
  return lines_and_gone(table).first;
}

std::string table_text(const ReportTable& table) {
  std::string page = wrapped(printable(table.title), 0) + "\n";
  if (table.rows.empty()) return page + "  There are no rows.\n";
  const auto [lines, gone] = lines_and_gone(table);
  for (const std::string& line : lines) page += line + '\n';
  if (table.left_out > 0) page += fmt::format("and {}\n", counted(table.left_out, "other row"));
  if (gone > 0) {
    page += wrapped(fmt::format("and {} that this page is too narrow for: --format csv has all",
                                counted(gone, "column")),
                    0);
  }
  return table.note.empty() ? page : page + '\n' + wrapped(table.note + '.', 0);
}

std::string table_csv(const ReportTable& table) {
  std::string text;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text += (i > 0 ? "," : "") + csv_cell(table.columns[i].key);
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "," : "") + csv_cell(plain(row[i]));
    text += "\r\n";
  }
  return text;
}

std::string table_markdown(const ReportTable& table) {
  const auto columns = shown_columns(table);
  std::string text = "**" + markdown_cell(printable(table.title)) + "**\n\n|";
  for (const TableColumn& column : table.columns) text += ' ' + column.head + " |";
  text += "\n|";
  for (const TableColumn& column : table.columns) {
    text += column.kind == CellKind::text ? "---|" : "---:|";
  }
  text += '\n';
  for (size_t row = 0; row < table.rows.size(); ++row) {
    text += '|';
    for (const auto& column : columns) text += ' ' + markdown_cell(column[row]) + " |";
    text += '\n';
  }
  if (table.left_out > 0) text += fmt::format("\nand {}\n", counted(table.left_out, "other row"));
  return text;
}

std::string table_json(const ReportTable& table) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (size_t i = 0; i < row.size(); ++i) {
      auto& value = object[table.columns[i].key] = nullptr;
      if (const auto* words = std::get_if<std::string>(&row[i])) value = *words;
      if (const auto* count = std::get_if<uint64_t>(&row[i])) value = *count;
      if (const auto* number = std::get_if<double>(&row[i])) value = *number;
    }
    array.push_back(std::move(object));
  }
  using Json = nlohmann::ordered_json;
  return printable_json(array.dump(2, ' ', false, Json::error_handler_t::replace)) + '\n';
}

}  // namespace culprit::report
