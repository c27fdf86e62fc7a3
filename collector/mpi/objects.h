// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Windows and files by their handles. Both are made collectively by a communicator, have a number
// of ours, and follow the same rules: the entry ends before the real free, and comes back if that
// fails.
#pragma once

#include "collector/mpi/arguments.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/region.h"

namespace culprit::collector::mpi {

/// Counts a call on an object whose creation no wrapper has seen: its facts are unknown.
void count_unknown_object();

class Object {
 public:
  Object(const CallRegion& region, HandleKind kind, uint64_t key) : kind_(kind), key_(key) {
    if (!region) return;
    entry_ = find_handle(kind, key, comm_);
    if (!entry_) count_unknown_object();
  }
  explicit operator bool() const { return entry_ != nullptr; }
  uint32_t number() const { return comm_.object; }
  const Comm& comm() const { return comm_; }

  /// To be called before the call that frees it.
  void end() const { forget(entry_); }
  /// To be called if that call has failed.
  void give_back() const {
    if (entry_) remember_handle(kind_, key_, comm_);
  }

 private:
  HandleKind kind_;
  uint64_t key_;
  Comm comm_;
  HandleEntry* entry_ = nullptr;
};

inline Object window_of(const CallRegion& region, MPI_Win win) {
  return {region, HandleKind::window, key_of(win)};
}
inline Object file_of(const CallRegion& region, MPI_File file) {
  return {region, HandleKind::file, key_of(file)};
}

}  // namespace culprit::collector::mpi
