// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit patterns: the table of wait patterns, as far as it concerns people.

#include "report/words/patterns.h"

#include <cstdio>
#include <memory>

#include "cli/commands/subcommands.h"
#include "cli/message.h"

namespace culprit::cli {
namespace {

int explain(const std::string& id) {
  if (id.empty()) {
    std::fputs((report::pattern_tree() + "\nAll about one: culprit patterns ID\n").c_str(), stdout);
    return 0;
  }
  const report::PatternText* pattern = report::find_pattern(id);
  if (pattern == nullptr) return fail({"there is no pattern '" + id + "': see `culprit patterns`"});
  std::fputs(report::pattern_page(*pattern).c_str(), stdout);
  return 0;
}

}  // namespace

Action add_patterns(CLI::App& command, const Program&) {
  auto id = std::make_shared<std::string>();
  command.add_option("id", *id, "explain this one, such as mpi.late_sender (default: list all)");
  return [id] { return explain(*id); };
}

}  // namespace culprit::cli
