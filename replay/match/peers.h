// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which process is at the other end of an operation: traces name it by its rank in a communicator,
// in an inter-communicator by that in the other group. Operations of one communicator mostly come
// one after the other, so the last one is kept.
#pragma once

#include <algorithm>
#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

/// The processes that peer ranks mean, seen from one process.
class Peers {
 public:
  Peers(const Run& run, ProcessId self) : run_(run), self_(self) {}

  /// None: the trace does not say which process it is.
  ProcessId of(const MessageOp& op) {
    if (!op.comm.valid()) return {};
    if (op.comm != comm_) look_up(op.comm);
    if (own_) return self_;
    return group_ != nullptr && op.peer < group_->size() ? (*group_)[op.peer] : ProcessId::none();
  }

 private:
  void look_up(CommId id) {
    comm_ = id;
    own_ = false;
    group_ = nullptr;
    if (id.index() >= run_.definitions->comms.size()) return;
    const trace::Comm& comm = run_.definitions->comms[id.index()];
    own_ = comm.kind == trace::CommKind::mpi_self;
    const bool remote =
        comm.kind == trace::CommKind::mpi_inter &&
        std::find(comm.members.begin(), comm.members.end(), self_) != comm.members.end();
    group_ = remote ? &comm.remote : &comm.members;
  }

  const Run& run_;
  ProcessId self_;
  CommId comm_;
  bool own_ = false;
  const std::vector<ProcessId>* group_ = nullptr;
};

}  // namespace culprit::replay
