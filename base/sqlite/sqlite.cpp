// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See sqlite.h. Input may come from an untrusted source: features that a schema could trigger in
// SQLite are switched off, and its resources are limited.

#include "base/sqlite/sqlite.h"

#include <algorithm>

#include "base/printable.h"
#include "base/sqlite/descriptor_files.h"

namespace culprit {
namespace {

/// Virtual machine's steps between two looks at how many are left.
constexpr int kStepsApart = 1000;

void distrust(sqlite3* database) {
  constexpr struct {
    int option, value;
  } kOptions[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
  for (const auto& each : kOptions) {
    sqlite3_db_config(database, each.option, each.value, nullptr);
  }
  constexpr struct {
    int what, most;
  } kLimits[] = {{SQLITE_LIMIT_LENGTH, 64 << 20},
                 {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                 {SQLITE_LIMIT_EXPR_DEPTH, 50},
                 {SQLITE_LIMIT_COMPOUND_SELECT, 2},
                 {SQLITE_LIMIT_ATTACHED, 0},
                 {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                 {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 9},
                 {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& each : kLimits) sqlite3_limit(database, each.what, each.most);
}

}  // namespace

Database::Database(int descriptor, Mode mode, uint64_t most_steps) : steps_left_(most_steps) {
  const int flags =
      mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(name_of_descriptor(descriptor).c_str(), &raw, flags, descriptor_files());
  handle_.reset(raw);
  note(code);
  if (!ok()) return;
  if (mode == Mode::read) distrust(raw);
  sqlite3_progress_handler(raw, kStepsApart, count_steps, this);
  execute("PRAGMA temp_store = MEMORY");
  if (mode == Mode::create) execute("PRAGMA journal_mode = OFF");
}

int Database::count_steps(void* database) {
  uint64_t& left = static_cast<Database*>(database)->steps_left_;
  left -= std::min<uint64_t>(left, kStepsApart);
  return left == 0 ? 1 : 0;
}

bool Database::is_plain_table(const std::string& name) {
  constexpr int kHidden = 6;  // of table_xinfo: more than 0 are computed columns
  Statement table(*this,
                  "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND "
                  "name = '" +
                      name + "'");
  if (!table.next() || table.integer() != 1) return false;
  Statement columns(*this, "PRAGMA table_xinfo(" + name + ")");
  while (columns.next()) {
    for (int i = 0; i < kHidden; ++i) columns.skip();
    if (columns.integer() != 0) return false;
  }
  return ok();
}

void Database::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !ok()) return;
  // SQLite quotes the schema of a damaged file, lines and lines of it.
  constexpr size_t kLongest = 120;
  std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  why.resize(std::min({why.size(), why.find('\n'), kLongest}));
  failure_ = printable(why);
  if (failure_.empty()) failure_ = "unknown failure";
}

void Database::execute(const std::string& sql) {
  if (ok()) note(sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr));
}

int64_t Database::number(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.next() ? statement.integer() : 0;
}

void Database::close() {
  if (handle_) note(sqlite3_close(handle_.get()));
  if (ok()) (void)handle_.release();
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  if (!database.ok()) return;
  sqlite3_stmt* raw = nullptr;
  database.note(sqlite3_prepare_v2(database.handle_.get(), sql.c_str(), -1, &raw, nullptr));
  handle_.reset(raw);
}

void Statement::bind(int64_t value) {
  if (database_.ok()) database_.note(sqlite3_bind_int64(handle_.get(), ++parameter_, value));
}

void Statement::bind(double value) {
  if (database_.ok()) database_.note(sqlite3_bind_double(handle_.get(), ++parameter_, value));
}

void Statement::bind(std::string_view value) {
  if (!database_.ok()) return;
  const bool valid = is_utf8(value);
  const std::string escaped = valid ? "" : valid_utf8(value);
  const std::string_view text = valid ? value : escaped;
  database_.note(sqlite3_bind_text64(handle_.get(), ++parameter_, text.data(), text.size(),
                                     valid ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_null() {
  if (database_.ok()) database_.note(sqlite3_bind_null(handle_.get(), ++parameter_));
}

void Statement::insert() {
  if (!database_.ok()) return;
  database_.note(sqlite3_step(handle_.get()));
  database_.note(sqlite3_reset(handle_.get()));
  parameter_ = 0;
}

bool Statement::next() {
  if (!database_.ok()) return false;
  const int code = sqlite3_step(handle_.get());
  database_.note(code);
  column_ = 0;
  return code == SQLITE_ROW;
}

int64_t Statement::integer() {
  return sqlite3_column_int64(handle_.get(), column_++);
}

double Statement::real() {
  return sqlite3_column_double(handle_.get(), column_++);
}

std::string Statement::text() {
  const auto* bytes = sqlite3_column_text(handle_.get(), column_);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column_));
  ++column_;
  return bytes ? valid_utf8({reinterpret_cast<const char*>(bytes), size}) : std::string();
}

bool Statement::is_null() const {
  return sqlite3_column_type(handle_.get(), column_) == SQLITE_NULL;
}

}  // namespace culprit
