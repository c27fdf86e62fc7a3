// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes the definition of a communicator: its ranks two a word, over as many records as it takes,
// for one holds no more than 506 (mpi_comm_def and mpi_comm_more in trace/raw/records_mpi.def). No
// allocation.
#pragma once

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// Use: one define(), an add() for each member and then for each remote member, one flush().
class RankList {
 public:
  RankList(ThreadLog& log, uint64_t time, uint32_t comm) : log_(log), time_(time), comm_(comm) {}

  void define(trace::RawCommOrigin origin, uint32_t parent, uint32_t members, uint32_t remote) {
    definition_ = {
        .comm = comm_, .origin = origin, .parent = parent, .members = members, .remote = remote};
  }
  void add(uint32_t rank) {
    if (used_ == room_ && pending_ == 0) flush();
    if (pending_++ == 0) {
      words_[used_] = rank;
    } else {
      words_[used_++] |= static_cast<uint64_t>(rank) << 32;
      pending_ = 0;
    }
    ++ranks_;
  }
  void flush() {
    if (pending_) ++used_, pending_ = 0;
    if (first_) {
      log_.put(time_, definition_, words_, used_);
    } else if (ranks_ > 0) {
      log_.put(time_, raw::mpi_comm_more{.comm = comm_, .ranks = ranks_}, words_, used_);
    }
    first_ = false;
    room_ = kWords - raw::words_of_fields<raw::mpi_comm_more>();
    ranks_ = 0;
    used_ = 0;
  }

 private:
  static constexpr unsigned kWords = 255;  ///< words of ranks in a record
  ThreadLog& log_;
  uint64_t time_;
  uint32_t comm_;
  raw::mpi_comm_def definition_;
  bool first_ = true;
  unsigned room_ = kWords - raw::words_of_fields<raw::mpi_comm_def>();
  unsigned used_ = 0;
  unsigned pending_ = 0;
  uint64_t ranks_ = 0;
  uint64_t words_[kWords];
};

}  // namespace culprit::collector::mpi
