// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sets of processes with which collectives exchange data, of the trace under construction. A
// process's ranks in a communicator become processes; equal sets get one id, also across processes.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "assemble/run/survey.h"
#include "base/ids.h"
#include "base/ranks/exchange.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// The processes to which ranks refer when `self` uses `comm`: in an inter-communicator those of
/// the other group.
const std::vector<ProcessId>& partners_in(const trace::Comm& comm, ProcessId self);

/// MT: internally synchronised; streams keep what they got.
class RankSets {
 public:
  explicit RankSets(const std::vector<trace::Group>& known);

  /// The processes that `set` names, in `comm` as seen by `self`. None if it has ranks that the
  /// communicator has not.
  GroupId find(const RankBits& set, const trace::Comm& comm, ProcessId self);

  /// Puts the sets of several tables that began alike in place of these, so that all who do it have
  /// the same ids.
  void pack(Packer& packer) const;
  void join(const std::vector<Parcel>& all);
  /// All sets by id. From now on there are no others: to ask for one is a bug.
  std::vector<trace::Group> complete();

 private:
  bool complete_ = false;
  size_t known_;  ///< how many were there from the beginning
  std::mutex mutex_;
  std::map<std::vector<ProcessId>, GroupId> ids_;
  std::vector<trace::Group> groups_;
};

}  // namespace culprit::assemble
