// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One function for each row of explanations.def, which turns numbers into rows of findings.
#include "blame/explain/explanations.h"

#include "base/ranks/exchange.h"
#include "blame/delay/instances.h"
#include "blame/delay/victims.h"
#include "blame/explain/distribution.h"
#include "blame/explain/efficiency.h"
#include "blame/explain/stages.h"
#include "blame/idle/idle_blame.h"
#include "blame/idle/lock_blame.h"
#include "blame/profile/path_kinds.h"

namespace culprit::blame {

namespace {

void add_nobody(const IdleBlame::TeamGroup& group, Findings& found) {
  for (size_t reason = 0; reason < kNobodyReasons; ++reason) {
    const double time = group.nobody_team_s[reason] + group.nobody_pool_s[reason];
    if (time <= 0) continue;
    found.idle_nobody.push_back({group.members.front(), NobodyReason(reason), time});
    found.identities.idle_nobody_s += time;
  }
}

}  // namespace

void explain_idle_threads(const Explained& given, Findings& found) {
  const IdleBlame idle = blame_for_idleness(given.run, given.graph, given.threads);
  for (const IdleBlame::BlameShare& row : idle.earned) {
    found.idle_blame.push_back({row.path, row.location, row.time_s});
    found.identities.idle_blame_s += row.time_s;
  }
  const std::vector<PathKind> kinds = path_kinds(given.run);
  for (const IdleBlame::TeamGroup& group : idle.groups) {
    add_nobody(group, found);
    for (LocationId id : group.members) {
      for (const WaitSum& sum : given.all.waits[id.index()]) {
        // Teams that start-up makes, as MPI_Init and imports may, wait within start-up.
        if (kinds[sum.path.index()] == PathKind::start_up) continue;
        const WaitKind kind = wait_kind(sum.pattern);
        if (kind == WaitKind::team || kind == WaitKind::pool) {
          found.identities.idle_s += sum.time.seconds();
        }
      }
    }
  }
  std::vector<ProcessTimes> own =
      process_times(given.run, given.all.waits, given.all.profiles, idle);
  std::erase_if(own, [](const ProcessTimes& process) { return process.threads <= 0; });
  found.efficiencies = efficiencies(concatenate(*given.run.ranks, own), given.run.wall().seconds(),
                                    given.run.device_idle.valid());
}

void explain_victims(const Explained& given, Findings& found) {
  found.victims =
      find_victims(given.run, given.graph, given.all.delays, given.threads, given.budget);
}

void explain_locks(const Explained& given, Findings& found) {
  found.lock_blame = blame_for_locks(given.run, given.graph, given.threads);
}

void explain_instances(const Explained& given, Findings& found) {
  found.instances =
      worst_instances(given.run, given.graph, given.all.delays, given.threads, given.budget);
}

void explain_distributions(const Explained& given, Findings& found) {
  found.distributions = distribute_delays(given.run, given.graph, given.all.delays,
                                          given.all.profiles, given.threads, given.budget);
}

void explain_stages(const Explained& given, Findings& found) {
  found.stages = collect_stages(given.run, given.graph, given.threads, given.budget);
}

}  // namespace culprit::blame
