// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps a mark beside the records (trace/raw/raw.h, RawHeartbeat) of when the measured program was
// last known to run. A killed program writes no further records, and calls that never returned have
// no end time: only this mark shows how long they had waited. It costs one small write per second,
// by culprit itself; if the whole job is killed, the last mark remains.
#pragma once

#include <filesystem>

namespace culprit::cli {

/// `ended`: the program has ended just now. Does nothing where there are no records yet.
void beat(const std::filesystem::path& experiment, bool ended);

}  // namespace culprit::cli
