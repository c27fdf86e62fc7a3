// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Saves and loads each list of Findings as its table (blame/findings/findings.def). A row's id is
// its place in the list, which is what other tables refer to; an absent id is NULL. The whole file
// is one transaction under a temporary name, renamed when it is complete: no journal is needed.

#include "report/db/findings_db.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/guarded_path.h"
#include "base/memory.h"
#include "base/sqlite/sqlite.h"
#include "report/db/findings_schema.h"
#include "report/words/patterns.h"

namespace culprit::report {
namespace {

using blame::Findings;
using blame::FoundLoss;
using blame::Table;
using blame::visit_lists;
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
void bind(Statement& s, Word auto value) {
  s.bind(to_string(value));
}
template <class Tag>
void bind(Statement& s, Id<Tag> id) {
  s.bind(static_cast<int64_t>(id.index()));
}

/// A column without NOT NULL. (An id that is lacking is none at all: SQLite has to say so.)
template <class Type>
constexpr bool nullable() {
  return requires(typename Type::Value id) { id.valid(); } ||
         (Type::kMayLack && Type::kSql.find("NOT NULL") == std::string_view::npos);
}

template <class Type>
void bind_column(Statement& s, const blame::Column<Type>&, const typename Type::Value& value) {
  if constexpr (nullable<Type>()) {
    if (blame::lacks(value)) return s.bind_null();
  }
  bind(s, value);
}

template <class Row>
std::string insert_statement() {
  Row row;
  std::string marks = kHasKey<Row> ? "" : ", ?";
  blame::visit_fields(row, [&](const auto&) { marks += ", ?"; });
  std::string sql = "INSERT INTO ";
  sql.append(Table<Row>::kName).append(kHasKey<Row> ? " (" : " (id, ").append(column_names<Row>());
  return sql + ") VALUES (" + marks.substr(2) + ")";
}

template <class Row>
void write_rows(Database& database, const std::vector<Row>& rows) {
  Statement statement(database, insert_statement<Row>());
  int64_t id = 0;
  for (const Row& row : rows) {
    if constexpr (!kHasKey<Row>) statement.bind(id++);
    Table<Row>::columns(
        row, [&](const auto& column, const auto& field) { bind_column(statement, column, field); });
    statement.insert();
  }
}

template <class Row>
void write_row(Database& database, const Row& row) {
  write_rows(database, std::vector<Row>{row});
}

/// The known patterns, and those that only these findings mention: rows refer to both.
void write_patterns(Database& database, const Findings& findings) {
  std::vector<blame::FoundPattern> rows = found_patterns();
  std::set<std::string> known;
  for (const blame::FoundPattern& row : rows) known.insert(row.id);
  const auto note = [&]<class Type>(const blame::Column<Type>&, const auto& field) {
    constexpr bool refers = std::is_same_v<Type, blame::column::Pattern> ||
                            std::is_same_v<Type, blame::column::PatternFamily>;
    if constexpr (refers) {
      if (!field.empty() && known.insert(field).second)
        rows.push_back({field, "", field, "s", "", "", ""});
    }
  };
  visit_lists(
      [&]<class Row>(const std::vector<Row>& list) {
        for (const Row& row : list) Table<Row>::columns(row, note);
      },
      findings);
  write_rows(database, rows);
}

template <class Row>
void write_sentences(Database& database, const std::vector<std::string>& sentences) {
  std::vector<Row> rows;
  for (const std::string& sentence : sentences) rows.push_back({sentence});
  write_rows(database, rows);
}

void write_losses(Database& database, const Losses& losses) {
  std::vector<FoundLoss> rows;
  for (const auto& [name, loss] : losses.all()) {
    rows.push_back({name, loss.count, loss.severity, loss.advice});
  }
  write_rows(database, rows);
}

void write_all(Database& database, const Findings& f) {
  write_row(database, f.run);
  write_sentences<blame::FoundNote>(database, f.run.notes);
  write_patterns(database, f);
  visit_lists([&](const auto& rows) { write_rows(database, rows); }, f);
  write_row(database, f.identities);
  write_row(database, f.start_up);
  write_row(database, f.progress);
  write_sentences<blame::FoundViolation>(database, f.identities.violations);
  write_losses(database, f.losses);
}

// --- reading ---

class Reader {
 public:
  /// `room`: the bytes of memory that the loaded rows may take.
  Reader(Database& database, uint64_t room) : database_(database), room_(room) {}

  template <class Row>
  std::vector<Row> rows() {
    std::vector<Row> rows;
    plain_tables_ &= database_.is_plain_table(std::string(Table<Row>::kName));
    if (!plain_tables_) return rows;
    Statement statement(database_, select_statement<Row>());
    while (statement.next()) {
      if (!take_room(sizeof(Row))) return rows;
      Row& row = rows.emplace_back();
      blame::visit_fields(row, [&](auto& field) { fetch(statement, field); });
    }
    return rows;
  }
  template <class Row>
  Row row() {
    std::vector<Row> all = rows<Row>();
    return all.empty() ? Row{} : std::move(all.front());
  }
  template <class Row>
  std::vector<std::string> sentences() {
    std::vector<std::string> sentences;
    for (Row& row : rows<Row>()) sentences.push_back(std::move(row.sentence));
    return sentences;
  }
  /// Returns whether all tables are real tables (no views), and all words are known spellings.
  bool understood() const { return plain_tables_ && knows_words_; }
  bool had_room() const { return room_ > 0; }

 private:
  template <class Row>
  static std::string select_statement() {
    std::string sql = "SELECT ";
    return sql.append(column_names<Row>()).append(" FROM ").append(Table<Row>::kName) +
           " ORDER BY id";
  }

  bool take_room(uint64_t bytes) {
    room_ -= std::min(room_, bytes);
    return room_ > 0;
  }

  void fetch(Statement& s, std::string& value) {
    value = s.text();
    take_room(value.size());
  }
  void fetch(Statement& s, double& value) { value = s.real(); }
  template <std::integral T>
  void fetch(Statement& s, T& value) {
    value = static_cast<T>(s.integer());
  }
  /// Losses of other builds are shown; a severity that this build does not know counts as the
  /// worst.
  void fetch(Statement& s, Severity& value) { value = severity_named(s.text()); }
  template <Word E>
  void fetch(Statement& s, E& value) {
    const std::optional<E> word = find_word<E>(s.text());
    knows_words_ &= word.has_value();
    value = word.value_or(E{});
  }
  template <class Tag>
  void fetch(Statement& s, Id<Tag>& id) {
    if (s.is_null()) {
      s.skip();
    } else {
      id = Id<Tag>(static_cast<size_t>(s.integer()));
    }
  }

  Database& database_;
  uint64_t room_;
  bool knows_words_ = true;
  bool plain_tables_ = true;
};

Losses read_losses(Reader& file) {
  Losses losses;
  for (const FoundLoss& row : file.rows<FoundLoss>()) {
    losses.restore(row.name, {row.count, row.severity, row.advice});
  }
  return losses;
}

Findings read_all(Reader& file) {
  Findings f;
  f.run = file.row<blame::RunInfo>();
  f.run.notes = file.sentences<blame::FoundNote>();
  visit_lists([&]<class Row>(std::vector<Row>& rows) { rows = file.rows<Row>(); }, f);
  f.identities = file.row<blame::Identities>();
  f.start_up = file.row<blame::StartUp>();
  f.progress = file.row<blame::FoundProgress>();
  f.identities.violations = file.sentences<blame::FoundViolation>();
  f.losses = read_losses(file);
  return f;
}

/// Checks ids, which index the lists from here on: an edited file must not lead outside them.
bool ids_in_range(const Findings& f) {
  bool good = true;
  const auto check_row = [&](const auto& row) {
    blame::visit_fields(row, [&](const auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, CallPathId>) {
        good &= !field.valid() || field.index() < f.callpaths.size();
      } else if constexpr (std::is_same_v<Field, LocationId>) {
        good &= !field.valid() || field.index() < f.locations.size();
      } else if constexpr (std::is_same_v<Field, blame::FoundDeviceId>) {
        good &= field.valid() && field.index() < f.devices.size();
      } else if constexpr (std::is_same_v<Field, blame::FoundStuckId>) {
        good &= field.valid() && field.index() < f.stuck.size();
      } else if constexpr (std::is_same_v<Field, MetricId>) {
        good &= field.valid() && field.index() < f.metrics.size();
      }
    });
  };
  visit_lists(
      [&](const auto& rows) {
        for (const auto& row : rows) check_row(row);
      },
      f);
  for (size_t i = 0; i < f.callpaths.size(); ++i) {
    good &= !f.callpaths[i].parent.valid() || f.callpaths[i].parent.index() < i;
  }
  return good;
}

}  // namespace

Result<void> save_findings(const Findings& findings, const fs::path& file) {
  const auto cannot = [&](const std::string& why) {
    return Error{"cannot write the findings to '" + file.string() + "': " + why};
  };
  auto draft = GuardedPath::of_file(file).draft();
  if (!draft) return draft.error();
  Database database(draft->descriptor(), Database::Mode::create);
  // Ids come from places in lists, so that they refer to rows that exist; checking each again would
  // take longer than all the rest.
  database.execute(
      "PRAGMA page_size = 32768; PRAGMA synchronous = OFF;"
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA foreign_keys = OFF");
  database.execute("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  database.execute("BEGIN");
  database.execute(schema());
  write_all(database, findings);
  database.execute(kIndices);
  database.execute("COMMIT");
  database.close();
  return database.ok() ? draft->publish() : cannot(database.failure());
}

namespace {

/// Bytes of a file in which something is written: one may be nearly all hole.
uint64_t written_in(const RegularFile& file) {
  uint64_t bytes = 0;
  for (const Extent& extent : file.data()) bytes += extent.end - extent.begin;
  return bytes;
}

/// Returns the memory that rows of a file of this size may take. A limit is needed, because pages
/// that refer to each other may hold any number of rows.
uint64_t room_for(uint64_t bytes) {
  constexpr uint64_t kLeast = 64 << 20, kTimes = 64;
  return std::min(kLeast + kTimes * bytes, available_memory() / 2 + 1);
}

}  // namespace

Result<Findings> load_findings(const fs::path& file) {
  constexpr uint64_t kFewSteps = 10'000'000;
  const auto opened = GuardedPath::of_file(file).open();
  if (!opened) return Error{"there are no findings at '" + file.string() + "'"};
  const uint64_t bytes = written_in(*opened);
  Database database(opened->descriptor(), Database::Mode::read, kFewSteps + 8 * bytes);
  if (database.number("PRAGMA application_id") != kApplicationId) {
    return Error{"'" + file.string() + "' is not a findings file of culprit"};
  }
  if (database.number("PRAGMA user_version") != kSchemaVersion) {
    return Error{"'" + file.string() +
                 "' was written by another version of culprit: run `culprit analyze` again"};
  }
  Reader reader(database, room_for(bytes));
  Findings findings = read_all(reader);
  if (!reader.had_room()) {
    return Error{"the findings in '" + file.string() +
                 "' are damaged, or the memory that is free " + "cannot hold them"};
  }
  if (!database.ok() || !reader.understood() || !ids_in_range(findings)) {
    return Error{"the findings in '" + file.string() + "' are damaged" +
                 (database.ok() ? "" : " (" + database.failure() + ")") +
                 ": run `culprit analyze` again"};
  }
  return findings;
}

}  // namespace culprit::report
