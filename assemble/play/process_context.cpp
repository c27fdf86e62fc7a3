// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/play/process_context.h"

#include <algorithm>

namespace culprit::assemble {

bool ProcessContext::has_end() const {
  const trace::RawProcess& process = folder.process;
  return (process.ended != 0 || process.stopped_at_limit != 0) && process.end_ticks != 0;
}

uint64_t ProcessContext::end_ticks() const {
  if (has_end()) return folder.process.end_ticks;
  return std::max(survey.last_ticks, folder.process.last.ticks);
}

Time ProcessContext::end() const {
  const Time heard = time(end_ticks());
  if (has_end()) return heard;
  return std::max(heard, run_end.value_or(heard));
}

/// In an inter-communicator ranks count in the group that the caller is not in.
uint32_t ProcessContext::ranks_in(CommId of) const {
  const trace::Comm& comm = all_comms[of.index()];
  if (comm.kind == trace::CommKind::mpi_self) return 1;
  return static_cast<uint32_t>(partners_in(comm, id).size());
}

std::optional<CommId> ProcessContext::world() const {
  for (const auto& [number, comm] : comms) {
    if (comm.valid() && all_comms[comm.index()].kind == trace::CommKind::mpi_world) return comm;
  }
  return std::nullopt;
}

}  // namespace culprit::assemble
