// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit patterns: the table of wait patterns, as far as it concerns people.

#include "report/patterns.h"

#include <cstdio>

#include "cli/message.h"
#include "cli/subcommands.h"
#include "report/layout.h"

namespace culprit::cli {

Action add_patterns(CLI::App&, const Program&) {
  return [] {
    for (const report::PatternText& pattern : report::patterns()) {
      const std::string entry = fmt::format("{} ({})\n", pattern.name, pattern.id) +
                                report::wrapped(fmt::format("{}.", pattern.summary), 4) +
                                report::wrapped(fmt::format("Try: {}.", pattern.remedy), 4);
      std::fputs(entry.c_str(), stdout);
    }
    return 0;
  };
}

}  // namespace culprit::cli
