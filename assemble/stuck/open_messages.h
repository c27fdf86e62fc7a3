// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which receives that are open at the end have a message to receive, and which sends have a
// receive: messages sent and not received meet the open receives in the order in which they were
// posted; of one sender's messages with one tag the last are those that have not been received.
// Sources and tags may be "any". Assumes that all sends and receives were recorded.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "assemble/stuck/processes_at_end.h"

namespace culprit::assemble::stuck {

/// A receive or a send that is open: a request, or a call.
struct OpenMessage {
  ProcessId process;
  bool sends = false;
  bool takes = true;  ///< a probe finds a message and leaves it
  bool known = true;  ///< which message it is: records of probes in vain do not show it
  uint64_t ticks = 0;
  CommId comm;
  std::optional<ProcessId> peer;  ///< none: any
  int32_t tag = trace::kRawAny;
  uint32_t comm_number = 0;  ///< as the process numbers it
  uint64_t request = 0;      ///< 0: a blocking call's,
  size_t lane = 0;           ///< of this thread
  bool met = false;          ///< the result: the other side is there
  /// For an unmet receive: tags with which the peer has sent messages that no process receives.
  std::vector<int32_t> other_tags = {};
};

/// All that are open, met or not.
std::vector<OpenMessage> open_messages(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                                       const std::vector<ProcessEnd>& processes);

/// The process of a rank in a communicator as `process` sees it; none if there is none such.
std::optional<ProcessId> process_of_rank(const trace::Comm& comm, ProcessId process, int64_t rank);
/// All the processes with which `process` can exchange messages there, itself included.
std::vector<ProcessId> partners_in(const trace::Comm& comm, ProcessId process);

}  // namespace culprit::assemble::stuck
