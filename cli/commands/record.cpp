// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit record: measures and writes the trace; `culprit analyze` goes on from there, here or
// elsewhere.

#include "cli/commands/measure_options.h"

namespace culprit::cli {

Action add_record(CLI::App& command, const Program& program) {
  return add_measuring(command, program, /*report=*/false);
}

}  // namespace culprit::cli
