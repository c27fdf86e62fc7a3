// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The rows of one log's profile (trace/raw/profile.h), as the fold finds and appends them: an open
// hash table of row numbers beside the rows, in memory that somebody else has given. It never
// allocates, and what does not fit is refused. MT: one writer; readers of the same memory see a row
// once `row_count` includes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/profile.h"

namespace culprit::fold {

using trace::ProfileKind;
using trace::ProfileLog;
using trace::ProfileRow;
using trace::ProfileState;

/// What identifies a row.
struct RowKey {
  uint64_t place = 0;
  uint32_t parent = 0;
  uint16_t detail = 0;
  ProfileKind kind = ProfileKind::root;

  friend bool operator==(const RowKey&, const RowKey&) = default;
};

inline RowKey key_of(const ProfileRow& row) {
  return {row.place, row.parent, row.detail, row.kind};
}

/// A view of memory; copy it freely.
class Rows {
 public:
  static constexpr uint32_t kRoot = 0;

  /// `index` has `slots` entries, a power of two greater than the number of rows.
  Rows(ProfileLog& log, ProfileRow* rows, uint32_t* index, uint32_t slots)
      : log_(&log), rows_(rows), index_(index), slots_(slots) {}

  ProfileRow& operator[](uint32_t row) const { return rows_[row]; }
  uint32_t count() const { return log_->row_count; }
  uint32_t capacity() const { return log_->row_capacity; }

  /// The number of the row with this key, which is appended if it is new and there are fewer than
  /// `limit` rows; else the root.
  uint32_t of(const RowKey& key, uint32_t limit) const;
  uint32_t of(const RowKey& key) const { return of(key, log_->row_capacity); }

  /// Makes the index anew, after rows were moved.
  void index_all() const;

 private:
  uint32_t first_slot(const RowKey& key) const;

  ProfileLog* log_;
  ProfileRow* rows_;
  uint32_t* index_;
  uint32_t slots_;
};

}  // namespace culprit::fold
