// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/stuck/message_tally.h"

namespace culprit::assemble::stuck {

using trace::RawKind;

MessageTally tally_messages(const std::vector<RawLog>& logs, const std::set<Partner>& partners) {
  MessageTally tally;
  if (partners.empty()) return tally;
  for (const RawLog& log : logs) {
    auto cursor = log.cursor();
    for (RawRecord record; cursor.next(record);) {
      const bool sends = record.kind == RawKind::mpi_send || record.kind == RawKind::mpi_isend;
      const bool receives = record.kind == RawKind::mpi_recv || record.kind == RawKind::mpi_irecv;
      if (!sends && !receives) continue;
      const auto message = record.as<raw::mpi_send>();
      const Partner partner(message.comm, message.peer);
      if (!partners.contains(partner)) continue;
      ++(sends ? tally.sent : tally.received)[{partner, message.tag}];
    }
  }
  return tally;
}

}  // namespace culprit::assemble::stuck
