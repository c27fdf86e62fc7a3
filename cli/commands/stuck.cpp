// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit stuck: asks a run that does not go on who waits for whom, without disturbing it: its
// records lie in files that can be read at any moment. Processes are not read at the same moment,
// so what was true of one may be over for another: only what is still so a second later is said.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "assemble/assemble.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "report/page/layout.h"
#include "report/page/stuck.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using assemble::StuckGroup;
using assemble::StuckMember;

bool holds_member(const std::vector<StuckGroup>& groups, const StuckMember& wanted) {
  for (const StuckGroup& group : groups) {
    for (const StuckMember& member : group.members) {
      if (member.location == wanted.location && member.since_s == wanted.since_s) return true;
    }
  }
  return false;
}

/// Of the later groups those of which all members were stuck before, in the same calls.
std::vector<StuckGroup> lasting(const std::vector<StuckGroup>& before,
                                std::vector<StuckGroup> later) {
  std::erase_if(later, [&](const StuckGroup& group) {
    return !std::all_of(group.members.begin(), group.members.end(),
                        [&](const StuckMember& member) { return holds_member(before, member); });
  });
  return later;
}

Result<std::vector<StuckGroup>> look(const fs::path& experiment, unsigned threads) {
  const auto facts = assemble::read_facts(experiment);
  if (facts) return facts.value().stuck;
  if (!assemble::has_records(experiment)) return facts.error();
  const auto before = assemble::look_for_stuck(experiment, threads);
  if (!before || before.value().empty()) return before;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  auto later = assemble::look_for_stuck(experiment, threads);
  if (!later) return later;
  return lasting(before.value(), std::move(later.value()));
}

std::vector<report::StuckPart> stuck_parts(const StuckGroup& group) {
  std::vector<report::StuckPart> parts;
  for (const StuckMember& member : group.members) {
    parts.push_back(
        {report::stuck_part(member.name, member.call, member.place, member.why), member.in_circle});
  }
  return parts;
}

int stuck(const fs::path& experiment, unsigned threads) {
  if (const auto info = read_info(experiment); !info) return fail(info.error());
  const auto groups = look(experiment, threads);
  if (!groups) return fail(groups.error());
  if (groups.value().empty()) {
    std::puts(
        "Nothing is stuck, as far as culprit can see: each call that waits, waits for a rank or "
        "thread\nthat goes on.");
    return 0;
  }
  for (const StuckGroup& group : groups.value()) {
    const std::string text =
        report::wrapped(report::stuck_sentence(group.deadlock, stuck_parts(group)), 0);
    std::fputs(printable(text, "\n").c_str(), stdout);
  }
  return kStuck;
}

}  // namespace

Action add_stuck(CLI::App& command, const Program&) {
  struct Arguments {
    fs::path experiment;
    unsigned threads = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  command
      .add_option("experiment", arguments->experiment, "the experiment of a run, going on or not")
      ->required();
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  return [arguments] { return stuck(arguments->experiment, arguments->threads); };
}

}  // namespace culprit::cli
