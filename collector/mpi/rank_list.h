// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes the definition of a communicator: its ranks two a word, over as many records as it takes,
// for one holds no more than 506 (trace/raw/raw.h, mpi_comm_def and mpi_comm_more). No allocation.
#pragma once

#include <cstdint>

#include "collector/recorder/recorder.h"

namespace culprit::collector::mpi {

/// Use: one define(), an add() for each member and then for each remote member, one flush().
class RankList {
 public:
  RankList(ThreadLog& log, uint64_t time, uint32_t comm) : log_(log), time_(time), comm_(comm) {}

  void define(uint16_t origin, uint32_t parent, uint32_t members, uint32_t remote) {
    origin_ = origin;
    words_[0] = parent | static_cast<uint64_t>(members) << 32;
    words_[1] = remote;
    used_ = 2;
  }
  void add(uint32_t rank) {
    if (used_ == kWords && pending_ == 0) flush();
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
      log_.put_words(RawKind::mpi_comm_def, time_, origin_, comm_, words_, used_);
    } else if (ranks_ > 0) {
      words_[0] = ranks_;
      log_.put_words(RawKind::mpi_comm_more, time_, 0, comm_, words_, used_);
    }
    first_ = false;
    ranks_ = 0;
    used_ = 1;
  }

 private:
  static constexpr unsigned kWords = 255;
  ThreadLog& log_;
  uint64_t time_;
  uint32_t comm_;
  uint16_t origin_ = 0;
  bool first_ = true;
  unsigned used_ = 0;
  unsigned pending_ = 0;
  uint64_t ranks_ = 0;
  uint64_t words_[kWords];
};

}  // namespace culprit::collector::mpi
