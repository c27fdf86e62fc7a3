// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit stuck: shows which ranks of a hung run wait for which, and where every thread is, without
// disturbing it: its records lie in files that can be read at any moment, and the system provides
// more data on processes of this host. Processes are not read at the same moment, so the state of
// one may be outdated when another is read: only states that persist for a second are shown.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "assemble/assemble.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/commands/whereabouts.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "report/verdict/stuck.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using assemble::RunState;
using assemble::StuckGroup;
using assemble::StuckMember;

struct Arguments {
  fs::path experiment;
  unsigned threads = 0;
  double after_s = 2;
};

/// Start times may differ a little: the clock of a running run is estimated better from moment to
/// moment.
bool is_same(const StuckMember& a, const StuckMember& b) {
  constexpr double kClock = 0.05;
  return a.location == b.location && a.name == b.name && a.call == b.call &&
         std::abs(a.since_s - b.since_s) < kClock;
}

bool holds_member(const std::vector<StuckGroup>& groups, const StuckMember& wanted) {
  for (const StuckGroup& group : groups) {
    for (const StuckMember& member : group.members) {
      if (is_same(member, wanted)) return true;
    }
  }
  return false;
}

/// Returns the later groups all of whose members were stuck before, in the same calls.
std::vector<StuckGroup> lasting(const std::vector<StuckGroup>& before,
                                std::vector<StuckGroup> later) {
  std::erase_if(later, [&](const StuckGroup& group) {
    return !std::all_of(group.members.begin(), group.members.end(),
                        [&](const StuckMember& member) { return holds_member(before, member); });
  });
  return later;
}

/// Watches a running run: looks again until a thread is certainly stuck, a thread makes progress,
/// or none has for the requested time.
Result<RunState> watch(const fs::path& experiment, const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> patience(arguments.after_s + 1);
  assemble::look::Look look;
  auto before = assemble::look_for_stuck(experiment, arguments.threads, look);
  if (!before || !assemble::still_runs(experiment)) return before;
  while (true) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    auto later = assemble::look_for_stuck(experiment, arguments.threads, look);
    if (!later) return later;
    const bool is_new = before.value().groups.empty() && !later.value().groups.empty();
    std::vector<StuckGroup> now = later.value().groups;
    later.value().groups = lasting(before.value().groups, std::move(later.value().groups));
    const double idle_s = idle_seconds(later.value());
    const bool is_known =
        !later.value().groups.empty() || idle_s == 0 || (idle_s >= arguments.after_s && !is_new);
    if (is_known || std::chrono::steady_clock::now() - begin > patience) return later;
    later.value().groups = std::move(now);
    before = std::move(later);
  }
}

Result<RunState> look(const fs::path& experiment, const Arguments& arguments) {
  if (assemble::has_records(experiment)) return watch(experiment, arguments);
  const auto facts = assemble::read_facts(experiment);
  if (!facts) return facts.error();
  RunState state;
  state.groups = facts.value().stuck;
  return state;
}

std::vector<report::StuckPart> stuck_parts(const StuckGroup& group) {
  std::vector<report::StuckPart> parts;
  for (const StuckMember& member : group.members) {
    parts.push_back(
        {report::stuck_part(member.name, member.call, member.place, member.why), member.in_circle});
  }
  return parts;
}

std::string sentence_of(const StuckGroup& group) {
  return report::wrapped(report::stuck_sentence(group.deadlock, stuck_parts(group)), 0);
}

std::string verdict_on_idle(const RunState& state, double after_s) {
  if (state.everybody.empty()) return "Nothing is stuck: all have come to their end.";
  const double idle_s = idle_seconds(state);
  if (idle_s < after_s) {
    return "Nothing is stuck, as far as culprit can see: each call that waits, waits for a rank or "
           "thread that goes on.";
  }
  return fmt::format(
      "No progress for {:.1f} s: no call returned, and nobody computes. Nobody is known to be "
      "stuck for ever; what each waits for may still come.",
      idle_s);
}

int stuck(const fs::path& experiment, const Arguments& arguments) {
  if (const auto info = read_info(experiment); !info) return fail(info.error());
  const auto state = look(experiment, arguments);
  if (!state) return fail(state.error());
  std::string page;
  for (const StuckGroup& group : state.value().groups) page += sentence_of(group);
  if (page.empty()) page = report::wrapped(verdict_on_idle(state.value(), arguments.after_s), 0);
  if (!state.value().everybody.empty()) {
    page += "\nWhere everybody is:\n" + whereabouts_lines(state.value());
  }
  std::fputs(printable(page, "\n").c_str(), stdout);
  if (!state.value().groups.empty()) return kStuck;
  return !state.value().everybody.empty() && idle_seconds(state.value()) >= arguments.after_s
             ? kNoProgress
             : 0;
}

}  // namespace

Action add_stuck(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<Arguments>();
  command.add_option("experiment", arguments->experiment,
                     "the experiment of a run, going on or not (default: the newest one here)");
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  command
      .add_option("--after", arguments->after_s,
                  "seconds without progress after which the status is 6")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  return [arguments] { return stuck(arguments->experiment, *arguments); };
}

}  // namespace culprit::cli
