// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit run: the whole job with one command. Measures, assembles, analyses, prints.

#include "cli/commands/measure_options.h"

namespace culprit::cli {

Action add_run(CLI::App& command, const Program& program) {
  return add_measuring(command, program, /*report=*/true);
}

}  // namespace culprit::cli
