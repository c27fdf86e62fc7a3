// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps a mark beside the records (trace/raw/raw.h, RawHeartbeat) of when the measured program was
// last known to run. A program that is killed says no more, and calls that never returned leave no
// time of their own: how long they had waited is known from this alone. It costs one small write a
// second, by culprit itself; where the whole job is killed, the last one stays.
#pragma once

#include <filesystem>

namespace culprit::cli {

/// `ended`: the program has ended just now. Does nothing where there are no records yet.
void beat(const std::filesystem::path& experiment, bool ended);

}  // namespace culprit::cli
