// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much culprit says on the way: the setting `log` (base/settings.def), and the options -v and
// -q, which go before it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace culprit::cli {

/// `name` is what the setting says; empty: nothing. One that is no level is ignored, with a
/// warning.
void set_log_level(const std::string& name);

/// Adds -v and -q, which take effect as soon as the command line has been read.
void add_log_options(CLI::App& command);

}  // namespace culprit::cli
