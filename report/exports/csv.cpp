// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All tables of the findings as CSV (RFC 4180), a file each, with the names of the columns in the
// first line. Locations, call paths and counters are named, as in JSON; what is lacking is empty.

#include <fmt/format.h>

#include <system_error>

#include "blame/findings/findings_fields.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/table/write.h"

namespace culprit::report {
namespace {

class CsvCells {
 public:
  explicit CsvCells(const blame::Findings& findings) : findings_(findings) {}

  std::string operator()(CallPathId id) const {
    return id.valid() ? csv_cell(findings_.callpaths[id.index()].name) : "";
  }
  std::string operator()(LocationId id) const {
    return id.valid() ? csv_cell(findings_.locations[id.index()].name) : "";
  }
  std::string operator()(MetricId id) const { return csv_cell(findings_.metrics[id.index()].name); }
  template <class Tag>
  std::string operator()(Id<Tag> id) const {
    return id.valid() ? std::to_string(id.index()) : "";
  }
  std::string operator()(const std::string& text) const { return csv_cell(text); }
  std::string operator()(bool flag) const { return flag ? "1" : "0"; }
  template <Word E>
  std::string operator()(E word) const {
    return csv_cell(std::string(to_string(word)));
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  std::string operator()(T number) const {
    return fmt::format("{}", number);
  }

 private:
  const blame::Findings& findings_;
};

template <class Row>
std::string csv_of(const std::vector<Row>& rows, const CsvCells& cells) {
  std::string text;
  Row any{};
  blame::Table<Row>::columns(any, [&](const auto& column, const auto&) {
    text += (text.empty() ? "" : ",") + std::string(column.key);
  });
  text += "\r\n";
  for (const Row& row : rows) {
    std::string line;
    bool first = true;
    blame::Table<Row>::columns(row, [&]<class Type>(const blame::Column<Type>&, const auto& value) {
      if (!first) line += ',';
      first = false;
      if constexpr (Type::kMayLack) {
        if (blame::lacks(value)) return;
      }
      line += cells(value);
    });
    text += line + "\r\n";
  }
  return text;
}

}  // namespace

Result<void> export_csv(const blame::Findings& findings, const std::filesystem::path& output) {
  std::error_code code;
  if (!std::filesystem::create_directory(output, code)) {
    return Error{"cannot create the folder '" + output.string() +
                 "': " + (code ? code.message() : "it exists already")};
  }
  const CsvCells cells(findings);
  Result<void> done;
  const auto write = [&](const auto& rows) {
    if (!done) return;
    using Row = typename std::remove_cvref_t<decltype(rows)>::value_type;
    const std::string name(blame::Table<Row>::kName);
    done = write_new_file(output / (name + ".csv"), csv_of(rows, cells));
  };
  write(std::vector{findings.run});
  write(std::vector{findings.identities});
  write(std::vector{findings.start_up});
  std::vector<blame::FoundLoss> losses;
  for (const auto& [name, loss] : findings.losses.all()) {
    losses.push_back({name, loss.count, loss.severity, loss.advice});
  }
  write(losses);
  blame::visit_lists(write, findings);
  return done;
}

}  // namespace culprit::report
