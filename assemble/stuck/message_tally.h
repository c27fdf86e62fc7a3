// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How many messages a process has sent and received, by partner and tag: messages sent and not
// received are on their way, and meet the receives that are still open. Only partners that matter
// to an open call are counted; a run has millions of messages, but few that matter.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble::stuck {

/// A communicator, as its process numbers it, and a rank in it.
using Partner = std::pair<uint32_t, int32_t>;

struct MessageTally {
  std::map<std::pair<Partner, int32_t>, int64_t> sent;      ///< by partner and tag
  std::map<std::pair<Partner, int32_t>, int64_t> received;  ///< likewise
};

MessageTally tally_messages(const std::vector<RawLog>& logs, const std::set<Partner>& partners);

}  // namespace culprit::assemble::stuck
