// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sets of processes with which collectives exchange data, of the trace under construction. What
// a process knows as ranks of a communicator becomes processes; equal sets get one id, and so do
// those known before.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "assemble/run/survey.h"
#include "base/ids.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// MT: internally synchronised; streams keep what they got.
class RankSets {
 public:
  explicit RankSets(const std::vector<trace::Group>& known);

  /// The processes that `set` names, in `comm` as seen by `self`. None if it has ranks that the
  /// communicator has not.
  GroupId find(const RankBits& set, const trace::Comm& comm, ProcessId self);

  /// All sets by id; no more are added.
  std::vector<trace::Group> take() { return std::move(groups_); }

 private:
  std::mutex mutex_;
  std::map<std::vector<ProcessId>, GroupId> ids_;
  std::vector<trace::Group> groups_;
};

}  // namespace culprit::assemble
