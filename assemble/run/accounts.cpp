// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads are surveyed in parallel; what they found is added up by process afterwards, in the order
// of their numbers, so that nothing depends on who was faster.
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
  for (size_t i = 0; i < jobs.size(); ++i) {
    const RawProcessFolder& folder = folders[jobs[i].folder];
    ProcessAccount& account = accounts[jobs[i].folder];
    if (surveys[i].core_use.on_core_ns > 0) {
      const RawLog& log = folder.logs[jobs[i].log];
      CoreUse& use = account.core_uses[log.thread()] = surveys[i].core_use;
      if (log.thread() == 0) use.from_ticks = folder.process.start_ticks;
    }
    numbers[jobs[i].folder].push_back(surveys[i].team_number);
    account.threads.push_back(surveys[i].tool);
    account.survey.merge(std::move(surveys[i].survey));
  }
  for (size_t i = 0; i < folders.size(); ++i) order_threads(folders[i].logs, numbers[i]);
  return accounts;
}

}  // namespace culprit::assemble
