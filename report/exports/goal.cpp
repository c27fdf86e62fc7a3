// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/goal/goal_program.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"

namespace culprit::report {

Result<void> export_goal(const trace::Source& source, const std::filesystem::path& output,
                         unsigned threads, Losses& losses) {
  const auto program = predict::goal_program(source, threads, losses);
  if (!program) return program.error();
  return write_new_file(output, goal_text(*program));
}

}  // namespace culprit::report
