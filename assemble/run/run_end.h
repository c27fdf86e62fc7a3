// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When a run ended whose processes did not come to their end. A waiting process writes nothing: the
// run lasted until its starter saw it end, or last saw it run (trace/raw/raw.h, RawHeartbeat).
// Launchers may need seconds to notice that ranks have died. But if a process spins as it waits,
// its sampling timer notes now and then that it lives: where one had done so for long, and the
// launcher came seconds later, the last of these moments is when it died.
#pragma once

#include <optional>
#include <vector>

#include "assemble/raw/reader.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "base/files/guarded_path.h"
#include "base/time.h"
#include "trace/raw/raw.h"

namespace culprit::assemble {

/// The mark beside the records. None if there is none that can be read.
std::optional<trace::RawHeartbeat> read_heartbeat(const GuardedPath& raw);

/// `accounts` by process. None if it is unknown.
std::optional<Time> find_run_end(const GuardedPath& raw,
                                 const std::vector<RawProcessFolder>& processes,
                                 const std::vector<ProcessAccount>& accounts, const Clock& clock);

}  // namespace culprit::assemble
