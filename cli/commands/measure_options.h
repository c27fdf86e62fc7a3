// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The options that `run` and `record` have in common.
#pragma once

#include "cli/commands/subcommands.h"
#include "cli/launch/measure.h"

namespace culprit::cli {

/// Adds the options that are settings (base/settings.def), with their variables; `given` receives
/// the values.
void add_settings(CLI::App& command, GivenSettings& given, bool report);

/// Adds all to `command`; the action measures with `report` as given.
Action add_measuring(CLI::App& command, const Program& program, bool report);

}  // namespace culprit::cli
