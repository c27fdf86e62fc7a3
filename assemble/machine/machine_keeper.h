// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps, in the experiment, which processes used the cores of this machine while the program ran.
// It runs in the culprit that started the program; where each rank of a node has such a starter,
// the first keeps it for all. It looks about once a second, at most for 0.5 % of a core; over long
// runs its intervals get coarser, and looks rarer with them.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "assemble/machine/machine_use.h"
#include "assemble/machine/system_counts.h"

namespace culprit::assemble::machine {

class MachineKeeper {
 public:
  explicit MachineKeeper(std::filesystem::path experiment);

  /// To be called about once a second, and when the program has ended (`last`).
  void step(bool last = false);

 private:
  using Clock = std::chrono::steady_clock;

  /// What the system counts, at one moment.
  struct Counts {
    uint64_t at_ns = 0;
    CoreCounts cores;
    uint64_t throttled_ns = 0;
    std::map<uint32_t, ProcessCount> processes;
  };

  Counts count() const;
  Interval since(const Counts& now) const;
  void look();
  void keep(Interval interval);
  void write();
  /// The processes that belong to the run: those that record, culprit, and those between and below
  /// them.
  std::set<uint32_t> of_the_run(const Counts& now) const;

  enum class Role { undecided, keeper, bystander };

  std::filesystem::path experiment_;
  Role role_ = Role::undecided;
  std::set<unsigned> cores_;    ///< that the run may use
  std::set<uint32_t> records_;  ///< processes that record
  Counts before_;
  MachineUse use_;
  Clock::time_point next_;
  Clock::duration pause_ = std::chrono::milliseconds(900);
};

}  // namespace culprit::assemble::machine
