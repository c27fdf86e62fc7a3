// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// GOAL as text: a block for each rank with its labelled operations, each followed by its
// requirements.
#include <fmt/format.h>

#include <iterator>

#include "predict/goal/goal_program.h"

namespace culprit::predict {

std::string goal_text(const std::vector<GoalProcess>& processes) {
  std::string text = fmt::format("num_ranks {}\n", processes.size());
  const auto out = std::back_inserter(text);
  for (size_t rank = 0; rank < processes.size(); ++rank) {
    const GoalProcess& process = processes[rank];
    fmt::format_to(out, "\nrank {} {{\n", rank);
    size_t next = 0;
    for (uint32_t op = 0; op < process.ops.size(); ++op) {
      const GoalOp& what = process.ops[op];
      if (what.kind == GoalOp::Kind::calc) {
        fmt::format_to(out, "l{}: calc {}\n", op, what.amount);
      } else {
        // Simulators charge for size - 1 bytes.
        const bool send = what.kind == GoalOp::Kind::send;
        fmt::format_to(out, "l{}: {} {}b {} {} tag {}\n", op, send ? "send" : "recv",
                       std::max<uint64_t>(what.amount, 1), send ? "to" : "from", what.peer,
                       what.tag);
      }
      for (; next < process.dependencies.size() && process.dependencies[next].op == op; ++next) {
        const GoalDependency& each = process.dependencies[next];
        fmt::format_to(out, "l{} {} l{}\n", op, each.to_begin ? "irequires" : "requires", each.on);
      }
    }
    text += "}\n";
  }
  return text;
}

}  // namespace culprit::predict
