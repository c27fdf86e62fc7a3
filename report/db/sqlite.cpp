// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See sqlite.h. A file is opened for reading without creating anything beside it (immutable), so
// that reports can be made from folders that the reader may not write to.

#include "report/db/sqlite.h"

#include "base/printable.h"

namespace culprit::report {
namespace {

/// A file name as SQLite's URI form wants it: what has a meaning there is escaped.
std::string escape(const std::string& name) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string escaped;
  for (const char c : name) {
    if (c == '?' || c == '#' || c == '%') {
      const auto byte = static_cast<unsigned char>(c);
      escaped += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

Database::Database(const std::filesystem::path& file, Mode mode) {
  const bool create = mode == Mode::create;
  const std::string absolute = std::filesystem::absolute(file).string();
  const std::string name = create ? absolute : "file://" + escape(absolute) + "?immutable=1";
  const int flags =
      create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
  handle_.reset(raw);
  note(code);
}

void Database::note(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || !ok()) return;
  failure_ = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
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

}  // namespace culprit::report
