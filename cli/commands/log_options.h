// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much culprit says on the way: CULPRIT_LOG (debug, info, warning, error), and the options -v
// and -q, which go before it.
#pragma once

#include <CLI/CLI.hpp>

namespace culprit::cli {

/// `name` is the value of CULPRIT_LOG, or null. One that is no level is ignored, with a warning.
void set_log_level(const char* name);

/// Adds -v and -q, which take effect as soon as the command line has been read.
void add_log_options(CLI::App& command);

}  // namespace culprit::cli
