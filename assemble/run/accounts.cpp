// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads are surveyed in parallel; their results are added up by process afterwards, in the order
// of their numbers, so that the result does not depend on timing.
#include "assemble/run/accounts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "base/progress/progress.h"

namespace culprit::assemble {
namespace {

struct Job {
  size_t folder;
  size_t log;
};

std::vector<Job> jobs_of(const std::vector<RawProcessFolder>& folders) {
  std::vector<Job> jobs;
  for (size_t i = 0; i < folders.size(); ++i) {
    for (size_t log = 0; log < folders[i].logs.size(); ++log) jobs.push_back({i, log});
  }
  return jobs;
}

void order_threads(std::vector<RawLog>& logs, const std::vector<std::optional<uint32_t>>& numbers) {
  std::vector<size_t> order(logs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() < 3) return;
  std::stable_sort(order.begin() + 1, order.end(), [&](size_t a, size_t b) {
    return numbers[a].value_or(UINT32_MAX) < numbers[b].value_or(UINT32_MAX);
  });
  std::vector<RawLog> ordered;
  for (const size_t at : order) ordered.push_back(std::move(logs[at]));
  logs = std::move(ordered);
}

/// Of a process's clock, as it read it itself.
double ns_per_tick(const trace::RawProcess& process) {
  const uint64_t ticks = process.last.ticks - process.first.ticks;
  const uint64_t ns = process.last.monotonic_ns - process.first.monotonic_ns;
  return ticks > 0 ? static_cast<double>(ns) / static_cast<double>(ticks) : 1;
}

/// The facts that decide whether a thread becomes a location.
struct LogFacts {
  uint32_t tid = 0;
  bool acts = false;
  uint64_t from_ticks = 0;
  uint64_t on_core_ns = 0;  ///< as it said itself
};

/// Whether this is a library's own thread that worked for so little of the run that it is a worker
/// by chance, and that no thread waited for. As a location it would seem to idle all along.
bool is_idle_helper(const LogFacts& thread, const std::map<uint32_t, TaskUse>& tasks,
                    const trace::RawProcess& process) {
  constexpr double kWorks = 0.02;
  const auto task = tasks.find(thread.tid);
  if (thread.tid == 0 || thread.acts || task == tasks.end() || task->second.library.empty()) {
    return false;
  }
  const uint64_t end = std::max(process.end_ticks, process.last.ticks);
  const double life_ns =
      static_cast<double>(end - std::min(thread.from_ticks, end)) * ns_per_tick(process);
  const uint64_t worked_ns = std::max(task->second.on_core_ns, thread.on_core_ns);
  return static_cast<double>(worked_ns) < kWorks * life_ns;
}

/// Adds sleeps that another thread saw, which are not in its own records.
void add_seen_asleep(const Sleepers& sleepers, const RawLog& log, const trace::RawProcess& process,
                     ThreadSurvey& thread) {
  uint64_t& blocked = thread.core_use.blocked_ticks;
  if (log.thread() == 0) blocked += sleepers.length_of(process.pid);
  for (const uint32_t tid : thread.survey.recorders) blocked += sleepers.length_of(tid);
}

/// They stay among the process's threads, as those that are not recorded.
void leave_out_idle_helpers(const std::vector<LogFacts>& facts, RawProcessFolder& folder,
                            std::vector<std::optional<uint32_t>>& numbers, Survey& survey) {
  size_t kept = 0;
  for (size_t i = 0; i < folder.logs.size(); ++i) {
    if (is_idle_helper(facts[i], survey.tasks, folder.process)) {
      survey.recorders.erase(facts[i].tid);
      continue;
    }
    if (kept != i) {
      folder.logs[kept] = std::move(folder.logs[i]);
      numbers[kept] = numbers[i];
    }
    ++kept;
  }
  folder.logs.erase(folder.logs.begin() + static_cast<ptrdiff_t>(kept), folder.logs.end());
  numbers.resize(kept);
}

}  // namespace

std::vector<ProcessAccount> survey_threads(std::vector<RawProcessFolder>& folders,
                                           unsigned threads) {
  const std::vector<Job> jobs = jobs_of(folders);
  std::vector<ThreadSurvey> surveys(jobs.size());
  progress::Progress progress(progress::Stage::records, jobs.size());
  parallel_for(jobs.size(), threads, [&](size_t i) {
    surveys[i] = survey_log(folders[jobs[i].folder].logs[jobs[i].log]);
    progress.step();
  });
  std::vector<ProcessAccount> accounts(folders.size());
  std::vector<std::vector<std::optional<uint32_t>>> numbers(folders.size());
  std::vector<std::vector<LogFacts>> facts(folders.size());
  for (size_t i = 0; i < folders.size(); ++i) {
    for (const RawLog& log : folders[i].watch_logs) accounts[i].sleepers.read(log);
    accounts[i].sleepers.add_addresses(accounts[i].survey.addresses);
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    const RawProcessFolder& folder = folders[jobs[i].folder];
    ProcessAccount& account = accounts[jobs[i].folder];
    add_seen_asleep(account.sleepers, folder.logs[jobs[i].log], folder.process, surveys[i]);
    if (surveys[i].core_use.on_core_ns > 0) {
      const RawLog& log = folder.logs[jobs[i].log];
      CoreUse& use = account.core_uses[log.thread()] = surveys[i].core_use;
      if (log.thread() == 0) use.from_ticks = folder.process.start_ticks;
    }
    facts[jobs[i].folder].push_back({surveys[i].tid, surveys[i].acts,
                                     surveys[i].core_use.from_ticks,
                                     static_cast<uint64_t>(surveys[i].core_use.on_core_ns)});
    const RawLog& surveyed = folder.logs[jobs[i].log];
    numbers[jobs[i].folder].push_back(surveyed.team_number ? surveyed.team_number
                                                           : surveys[i].team_number);
    account.threads.push_back(surveys[i].tool);
    account.survey.merge(std::move(surveys[i].survey));
  }
  for (size_t i = 0; i < folders.size(); ++i) {
    accounts[i].made_tasks = accounts[i].survey.task_code.size();
    leave_out_idle_helpers(facts[i], folders[i], numbers[i], accounts[i].survey);
    order_threads(folders[i].logs, numbers[i]);
  }
  return accounts;
}

}  // namespace culprit::assemble
