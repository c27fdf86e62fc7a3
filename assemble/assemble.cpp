// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Opens records, and keeps in the experiment those facts that cannot be found out again later.
// Several ranks of a launcher may do so at once: they write the same, and files appear whole.

#include "assemble/assemble.h"

#include <fmt/format.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "assemble/bursts/windows.h"
#include "assemble/look/note.h"
#include "assemble/opening.h"
#include "assemble/prepare_run.h"
#include "assemble/raw/process.h"
#include "assemble/run/run_end.h"
#include "assemble/source.h"
#include "base/ranks/agree.h"
#include "trace/raw/bursts.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

}  // namespace

bool has_records(const fs::path& experiment) {
  const GuardedPath raw = records_of(experiment);
  const std::vector<std::string> names = raw.list();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name != trace::kRawBurstsFolder && (raw / name).is_folder();
  });
}

int refusal_of_records(const fs::path& experiment) {
  constexpr std::string_view kRefused = "refused.";
  const GuardedPath raw = records_of(experiment);
  for (const std::string& folder : raw.list()) {
    for (const std::string& name : (raw / folder).list()) {
      if (name.starts_with(kRefused)) return std::atoi(name.c_str() + kRefused.size());
    }
    const auto process = read_process(raw / folder / "process");
    if (process && process->process.written_behind != 0) {
      return static_cast<int>(process->process.written_behind);
    }
  }
  return 0;
}

bool still_runs(const fs::path& experiment) {
  constexpr int64_t kSilent = 10'000'000'000;
  if (!has_records(experiment) || read_facts(experiment)) return false;
  if (const auto mark = read_heartbeat(records_of(experiment))) {
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    return mark->ended == 0 && now_ns - static_cast<int64_t>(mark->realtime_ns) < kSilent;
  }
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  std::error_code error;
  const GuardedPath raw = records_of(experiment);
  for (const std::string& name : raw.list()) {  // <host>.<pid>.<start>
    const auto process = read_process(raw / name / "process");
    if (!process || process->process.ended != 0) continue;
    const size_t start = name.rfind('.'), pid = name.rfind('.', start - 1);
    if (start == name.npos || pid == name.npos || name.substr(0, pid) != host) continue;
    if (fs::exists("/proc/" + name.substr(pid + 1, start - pid - 1), error)) return true;
  }
  return false;
}

Result<RunState> look_for_stuck(const fs::path& experiment, unsigned threads, look::Look& look) {
  const GuardedPath raw = records_of(experiment);
  look = look::look_at_run(raw, look::Which::all,
                           look.processes.empty() ? look::read_notes(raw) : look);
  const auto options = options_for(experiment, threads);
  if (!options) return options.error();
  return find_stuck_now(raw, *options, look);
}

Result<OpenRecords> open_records(const fs::path& experiment, unsigned threads, Keep what,
                                 Transport* ranks) {
  Alone alone;
  Transport& all = ranks != nullptr ? *ranks : alone;
  if (all.alone() && is_long_run(experiment)) {
    auto whole = LongRun(experiment, threads).open(kWholePart, what);
    return whole ? Result<OpenRecords>(std::move(whole->records)) : whole.error();
  }
  const GuardedPath raw = records_of(experiment);
  auto options = options_for(experiment, threads);
  std::string wrong = options ? "" : options.error().sentence;
  if (wrong.empty() && !all.alone() && !raw.is_folder()) {
    wrong = fmt::format("there are no records in '{}'", raw.path().string());
  }
  if (auto agreed = first_error(all, wrong); !agreed) return agreed.error();
  options->ranks = ranks;
  auto run = prepare_run(raw, *options);
  if (!run) return run.error();
  OpenRecords opened;
  const bool keeps = what == Keep::names_and_facts && all.rank() == 0;
  opened.facts = settle_facts(experiment, *run.value(), keeps, opened.kept);
  opened.source = source_of(std::move(run).value());
  return opened;
}

// --- Windows ---

bool is_long_run(const fs::path& experiment) {
  const std::vector<NodeBursts> nodes = read_pages(records_of(experiment));
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const NodeBursts& node) { return node.page.whole_end != 0; });
}

struct LongRun::Parts {
  fs::path experiment;
  unsigned threads;
  Losses losses;
  WindowReader reader;
};

LongRun::LongRun(const fs::path& experiment, unsigned threads) {
  Losses losses;
  WindowReader reader(records_of(experiment), losses, threads);
  parts_.reset(new Parts{experiment, threads, std::move(losses), std::move(reader)});
}

LongRun::~LongRun() = default;

uint64_t LongRun::windows() const {
  return parts_->reader.count();
}

Result<OpenWindow> LongRun::open(uint64_t number, Keep what) const {
  const fs::path& experiment = parts_->experiment;
  const auto options = options_for(experiment, parts_->threads);
  if (!options) return options.error();
  if (number >= windows()) {
    return Error{fmt::format("'{}' has no window {}", experiment.string(), number)};
  }
  Losses losses = number == kWholePart ? parts_->losses : Losses();
  auto records = parts_->reader.read(number, losses);
  if (!records) return Error{fmt::format("of window {}, less than half is there", number)};
  auto run = prepare_window(std::move(*records), records_of(experiment), *options);
  if (!run) return run.error();
  OpenWindow opened;
  opened.window.number = number;
  const WindowSpan span = span_of(*run.value());
  opened.window.begin_s = opened.window.counted_from_s = span.begin.seconds();
  opened.window.end_s = span.end.seconds();
  if (number == kWholePart) {
    opened.records.facts =
        settle_facts(experiment, *run.value(), what == Keep::names_and_facts, opened.records.kept);
  } else {
    opened.records.facts = run.value()->facts;
    if (what == Keep::names_and_facts) {
      opened.records.kept = keep_names(experiment, *run.value());
    }
  }
  opened.records.facts.losses.merge(losses);
  opened.records.source = source_of(std::move(run).value());
  return opened;
}

}  // namespace culprit::assemble
