// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Regions that promise a record: an MPI_Barrier without its communicator, a parallel region
// without its team. Some writers know only that a call was made. Nothing can wait in it then, which
// would look like a program where nobody waits; so it is counted as a loss.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/losses.h"
#include "trace/definitions.h"

namespace culprit::trace {

enum class Promise : uint8_t {
  none,
  collective,  ///< blocking collective of MPI: one record each
  finalize,    ///< MPI_Finalize: a collective of all, which older writers do not record as one
  message,     ///< blocking call with messages: none if it talks to MPI_PROC_NULL
  team,        ///< parallel region: whoever is in it announces itself
};
Promise promise_of(const Region& region);
/// The promise of a function by its C name.
Promise promise_of_mpi(std::string_view function);

/// What one location's regions promised, and what came.
class Promises {
 public:
  void saw_collective() { collective_ = true; }
  void saw_message() { ++messages_; }
  void saw_team() { ++teams_; }
  void saw_sample() { ++samples_; }
  /// The current call did not return: the object of its wait, and hence its record, never came.
  void saw_unanswered() {
    collective_ = true;
    ++messages_;
  }
  /// A visit is over. True if it was the end of MPI, and nothing has said that all take part in it.
  bool left(Promise promise);
  /// `alone`: there is no other process.
  void report(bool alone, Losses& losses) const;

 private:
  bool collective_ = false;  ///< since the last call that promised one
  uint64_t collectives_missing_ = 0;
  uint64_t message_calls_ = 0, messages_ = 0;
  uint64_t parallel_ = 0, teams_ = 0;
  uint64_t samples_ = 0;
};

}  // namespace culprit::trace
