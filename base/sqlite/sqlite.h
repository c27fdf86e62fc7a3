// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The little of SQLite that findings and traces in databases need, as owners: a Database and its
// prepared Statements. Files are open already (descriptor_files.h). The first failure is remembered
// and later calls do nothing, so that a long list of inserts needs one check at its end.
// MT: externally synchronised.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace culprit {

class Database {
 public:
  enum class Mode {
    create,  ///< an empty file, which becomes a database
    read,    ///< a file from somebody else
  };

  /// An open file, which must stay open as long. All statements together fail after `most_steps`
  /// steps of SQLite's machine.
  Database(int descriptor, Mode mode, uint64_t most_steps = UINT64_MAX);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Whether this is a table as save_findings() makes them: no view, which may never end, and no
  /// columns that are computed.
  bool is_plain_table(const std::string& name);

  /// Runs statements that return nothing.
  void execute(const std::string& sql);
  /// The single integer that `sql` selects; 0 on failure.
  int64_t number(const std::string& sql);

  bool ok() const { return failure_.empty(); }
  /// SQLite's message of the first failure.
  const std::string& failure() const { return failure_; }
  /// Closes the file; an error on closing counts as a failure, too.
  void close();

 private:
  friend class Statement;
  struct Closer {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  void note(int code);
  static int count_steps(void* database);

  std::unique_ptr<sqlite3, Closer> handle_;
  std::string failure_;
  uint64_t steps_left_;
};

/// One prepared statement. Columns and parameters are bound and read from left to right.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);

  void bind(int64_t value);
  void bind(double value);
  /// `value` must live until the insert.
  void bind(std::string_view value);
  void bind_null();
  /// Executes an insert with what is bound, and makes ready for the next.
  void insert();

  /// Moves to the next row of a select; false at the end or on failure.
  bool next();
  int64_t integer();
  double real();
  std::string text();
  /// True if the coming column is NULL; does not move past it.
  bool is_null() const;
  void skip() { ++column_; }

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
  int parameter_ = 0;
  int column_ = 0;
};

}  // namespace culprit
