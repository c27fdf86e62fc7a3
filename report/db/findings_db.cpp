// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Saves and loads each list of Findings as the table that findings_schema.h maps it to. A row's id
// is its place in the list, which is what other tables refer to; an absent id is NULL. The whole
// file is one transaction under a temporary name, renamed when it is complete: no journal is
// needed.

#include "report/db/findings_db.h"

#include <unistd.h>

#include <concepts>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "report/db/findings_schema.h"
#include "report/db/sqlite.h"
#include "report/page/patterns.h"

namespace culprit::report {
namespace {

using blame::Findings;
namespace fs = std::filesystem;

// --- writing ---

void bind(Statement& s, const std::string& value) {
  s.bind(std::string_view(value));
}
void bind(Statement& s, double value) {
  s.bind(value);
}
void bind(Statement& s, std::integral auto value) {
  s.bind(static_cast<int64_t>(value));
}
template <class Tag>
void bind(Statement& s, Id<Tag> id) {
  id.valid() ? s.bind(static_cast<int64_t>(id.index())) : s.bind_null();
}

template <class Row>
std::string insert_statement() {
  Row row;
  std::string names = "id", marks = "?";
  Table<Row>::columns(row, [&](const char* name, const auto&) {
    names.append(", ").append(name);
    marks += ", ?";
  });
  return std::string("INSERT INTO ") + Table<Row>::kName + " (" + names + ") VALUES (" + marks +
         ")";
}

template <class Row>
void write_rows(Database& database, const std::vector<Row>& rows) {
  Statement statement(database, insert_statement<Row>());
  int64_t id = 0;
  for (const Row& row : rows) {
    statement.bind(id++);
    Table<Row>::columns(row, [&](const char*, const auto& field) { bind(statement, field); });
    statement.insert();
  }
}

template <class Row>
void write_row(Database& database, const Row& row) {
  write_rows(database, std::vector<Row>{row});
}

/// The known patterns, and those that only these findings mention: rows refer to both.
void write_patterns(Database& database, const Findings& findings) {
  Statement statement(database, "INSERT OR IGNORE INTO patterns VALUES (?, ?, ?, ?, ?, ?, ?)");
  const auto write = [&](const PatternText& p) {
    statement.bind(p.id);
    p.parent.empty() ? statement.bind_null() : statement.bind(p.parent);
    for (const std::string_view text : {p.name, p.unit, p.summary, p.diagnosis, p.remedy}) {
      statement.bind(text);
    }
    statement.insert();
  };
  for (const PatternText& pattern : patterns()) write(pattern);
  const auto write_new = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (!find_pattern(row.pattern)) write({row.pattern, "", row.pattern, "s", "", "", ""});
    }
  };
  write_new(findings.waits);
  write_new(findings.delays);
  write_new(findings.victims);
  write_new(findings.unattributed);
  write_new(findings.instances);
  write_new(findings.lock_blame);
}

template <class Row>
void write_sentences(Database& database, const std::vector<std::string>& sentences) {
  std::vector<Row> rows;
  for (const std::string& sentence : sentences) rows.push_back({sentence});
  write_rows(database, rows);
}

void write_losses(Database& database, const Losses& losses) {
  std::vector<LossRow> rows;
  for (const auto& [name, loss] : losses.all()) {
    rows.push_back({name, loss.count, std::string(to_string(loss.severity)), loss.advice});
  }
  write_rows(database, rows);
}

void write_all(Database& database, const Findings& f) {
  write_row(database, f.run);
  write_sentences<NoteRow>(database, f.run.notes);
  write_patterns(database, f);
  for_each_list(f, [&](const auto& rows) { write_rows(database, rows); });
  write_row(database, f.identities);
  write_row(database, f.start_up);
  write_sentences<ViolationRow>(database, f.identities.violations);
  write_losses(database, f.losses);
}

// --- reading ---

void fetch(Statement& s, std::string& value) {
  value = s.text();
}
void fetch(Statement& s, double& value) {
  value = s.real();
}
template <std::integral T>
void fetch(Statement& s, T& value) {
  value = static_cast<T>(s.integer());
}
template <class Tag>
void fetch(Statement& s, Id<Tag>& id) {
  if (s.is_null()) {
    s.skip();
  } else {
    id = Id<Tag>(static_cast<size_t>(s.integer()));
  }
}

template <class Row>
std::string select_statement() {
  Row row;
  std::string names;
  Table<Row>::columns(row, [&](const char* name, const auto&) {
    names.append(names.empty() ? "" : ", ").append(name);
  });
  return "SELECT " + names + " FROM " + Table<Row>::kName + " ORDER BY id";
}

template <class Row>
std::vector<Row> read_rows(Database& database) {
  std::vector<Row> rows;
  Statement statement(database, select_statement<Row>());
  while (statement.next()) {
    Row& row = rows.emplace_back();
    Table<Row>::columns(row, [&](const char*, auto& field) { fetch(statement, field); });
  }
  return rows;
}

template <class Row>
Row read_row(Database& database) {
  std::vector<Row> rows = read_rows<Row>(database);
  return rows.empty() ? Row{} : std::move(rows.front());
}

template <class Row>
std::vector<std::string> read_sentences(Database& database) {
  std::vector<std::string> sentences;
  for (Row& row : read_rows<Row>(database)) sentences.push_back(std::move(row.sentence));
  return sentences;
}

Losses read_losses(Database& database) {
  Losses losses;
  for (const LossRow& row : read_rows<LossRow>(database)) {
    losses.restore(row.name, {row.count, severity_named(row.severity), row.advice});
  }
  return losses;
}

Findings read_all(Database& database) {
  Findings f;
  f.run = read_row<blame::RunInfo>(database);
  f.run.notes = read_sentences<NoteRow>(database);
  for_each_list(f, [&]<class Row>(std::vector<Row>& rows) { rows = read_rows<Row>(database); });
  f.identities = read_row<blame::Identities>(database);
  f.start_up = read_row<blame::StartUp>(database);
  f.identities.violations = read_sentences<ViolationRow>(database);
  f.losses = read_losses(database);
  return f;
}

/// Ids index the lists from here on: a file that somebody edited must not lead outside them.
bool ids_in_range(const Findings& f) {
  bool good = true;
  const auto check_row = [&](const auto& row) {
    using Row = std::remove_cvref_t<decltype(row)>;
    Table<Row>::columns(row, [&](const char*, const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, CallPathId>) {
        good &= !field.valid() || field.index() < f.callpaths.size();
      } else if constexpr (std::is_same_v<Field, LocationId>) {
        good &= !field.valid() || field.index() < f.locations.size();
      } else if constexpr (std::is_same_v<Field, blame::FoundDeviceId>) {
        good &= field.valid() && field.index() < f.devices.size();
      } else if constexpr (std::is_same_v<Field, MetricId>) {
        good &= field.valid() && field.index() < f.metrics.size();
      }
    });
  };
  for_each_list(f, [&](const auto& rows) {
    for (const auto& row : rows) check_row(row);
  });
  for (size_t i = 0; i < f.callpaths.size(); ++i) {
    good &= !f.callpaths[i].parent.valid() || f.callpaths[i].parent.index() < i;
  }
  return good;
}

}  // namespace

Result<void> save_findings(const Findings& findings, const fs::path& file) {
  fs::path temporary = file;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  std::error_code ignored;
  fs::remove(temporary, ignored);
  Database database(temporary, Database::Mode::create);
  // Ids come from places in lists, so that they refer to rows that exist; checking each again would
  // take longer than all the rest.
  database.execute(
      "PRAGMA page_size = 32768; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA foreign_keys = OFF");
  database.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  database.execute("BEGIN");
  database.execute(kSchema);
  write_all(database, findings);
  database.execute(kIndices);
  database.execute("COMMIT");
  database.close();
  std::string failure = database.failure();
  if (database.ok()) {
    std::error_code code;
    fs::rename(temporary, file, code);
    if (!code) return {};
    failure = code.message();
  }
  fs::remove(temporary, ignored);
  return Error{"cannot write the findings to '" + file.string() + "': " + failure};
}

Result<Findings> load_findings(const fs::path& file) {
  std::error_code code;
  if (!fs::is_regular_file(file, code)) {
    return Error{"there are no findings at '" + file.string() + "'"};
  }
  Database database(file, Database::Mode::read);
  if (database.number("PRAGMA application_id") != kApplicationId) {
    return Error{"'" + file.string() + "' is not a findings file of culprit"};
  }
  if (database.number("PRAGMA user_version") != kSchemaVersion) {
    return Error{"'" + file.string() +
                 "' was written by another version of culprit: run `culprit analyze` again"};
  }
  Findings findings = read_all(database);
  if (!database.ok() || !ids_in_range(findings)) {
    return Error{"the findings in '" + file.string() + "' are damaged" +
                 (database.ok() ? "" : " (" + database.failure() + ")") +
                 ": run `culprit analyze` again"};
  }
  return findings;
}

}  // namespace culprit::report
