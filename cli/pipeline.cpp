// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/pipeline.h"

#include <chrono>
#include <system_error>

#include "assemble/assemble.h"
#include "base/parallel.h"
#include "blame/analyze.h"
#include "cli/message.h"
#include "report/db/findings_db.h"
#include "report/formats.h"
#include "report/page/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("analyze");

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Collective.
Result<blame::Findings> analyze_trace(const fs::path& trace, const PipelineOptions& options) {
  replay::Alone alone;
  replay::Transport& ranks = options.ranks != nullptr ? *options.ranks : alone;
  Losses losses;
  const auto source = open_together(ranks, trace, losses);
  if (!source) return source.error();
  blame::AnalyzeOptions analysis;
  analysis.threads = threads_for(ranks, options.threads);
  analysis.memory = options.memory;
  analysis.ranks = &ranks;
  return blame::analyze(*source.value(), analysis, losses);
}

}  // namespace

namespace {

template <class Make>
Result<void> make_trace(const fs::path& experiment, const Make& make) {
  const Stopwatch watch;
  kLog.debug("assembling the trace from the records in {}", (experiment / "raw").string());
  const Result<assemble::RunFacts> facts = make();
  if (!facts) return facts.error();
  kLog.info("wrote the trace: {} of {} ({:.1f} s)", report::counted(facts.value().events, "event"),
            report::counted(facts.value().processes, "process", "processes"), watch.seconds());
  return {};
}

}  // namespace

Result<void> assemble_experiment(const fs::path& experiment, const PipelineOptions& options) {
  return make_trace(experiment, [&] {
    return assemble::assemble(experiment, options.threads, options.keep_raw);
  });
}

Result<void> assemble_elsewhere(const fs::path& to, const fs::path& from,
                                const PipelineOptions& options) {
  return make_trace(from, [&] { return assemble::assemble_into(to, from, options.threads); });
}

Result<blame::Findings> analyze_experiment(const fs::path& experiment,
                                           const PipelineOptions& options) {
  const Stopwatch watch;
  auto info = read_info(experiment);
  if (!info) return info.error();
  const fs::path trace = trace_file(experiment, *info);
  kLog.debug("reading {}", trace.string());
  if (options.others != nullptr) options.others->tell(fs::absolute(trace));
  auto findings = analyze_trace(trace, options);
  if (!findings) return findings.error();
  merge_facts(experiment, *info, *findings);
  if (auto saved = report::save_findings(*findings, findings_file(experiment)); !saved) {
    return saved.error();
  }
  if (const size_t unstarted = unstarted_threads(); unstarted > 0) {
    kLog.warning("{} could not be started (limits on processes or memory): fewer did the work",
                 report::counted(unstarted, "thread"));
  }
  for (const auto& [name, loss] : findings->losses.all()) {
    kLog.debug("{} ({}): {}", name, loss.count, loss.advice);
  }
  kLog.info("analyzed {} ({:.1f} s): {}", report::counted(findings->run.locations, "location"),
            watch.seconds(), for_display(experiment).string());
  return findings;
}

int help_to_analyze(const PipelineOptions& options) {
  const fs::path trace = wait_for_task(*options.ranks);
  // What goes wrong goes wrong on all, and the first reports it.
  if (!trace.empty()) static_cast<void>(analyze_trace(trace, options).ok());
  return 0;
}

void print_report(const blame::Findings& findings, const fs::path& experiment) {
  const std::string page = report::formats().front().render(findings, for_display(experiment));
  std::fwrite(page.data(), 1, page.size(), stdout);
  std::fflush(stdout);
}

fs::path for_display(const fs::path& path) {
  std::error_code code;
  const fs::path relative = fs::relative(path, code);
  if (code || relative.empty() || relative.string().size() >= path.string().size()) return path;
  return relative;
}

}  // namespace culprit::cli
