// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/pipeline.h"

#include <chrono>
#include <system_error>

#include "assemble/assemble.h"
#include "blame/analyze.h"
#include "cli/message.h"
#include "report/findings_db.h"
#include "report/formats.h"
#include "report/layout.h"
#include "trace/otf2_reader.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<void> assemble_experiment(const fs::path& experiment, const PipelineOptions& options) {
  const Stopwatch watch;
  const auto facts = assemble::assemble(experiment, options.threads, options.keep_raw);
  if (!facts) return facts.error();
  say("wrote the trace: {} of {} ({:.1f} s)", report::counted(facts.value().events, "event"),
      report::counted(facts.value().processes, "process", "processes"), watch.seconds());
  return {};
}

Result<blame::Findings> analyze_experiment(const fs::path& experiment,
                                           const PipelineOptions& options) {
  const Stopwatch watch;
  auto info = read_info(experiment);
  if (!info) return info.error();
  Losses losses;
  auto source = trace::open_otf2(trace_file(experiment, *info), losses);
  if (!source) return source.error();
  blame::AnalyzeOptions analysis;
  analysis.threads = options.threads;
  analysis.memory = options.memory;
  auto findings = blame::analyze(**source, analysis, losses);
  if (!findings) return findings.error();
  merge_facts(experiment, *info, *findings);
  if (auto saved = report::save_findings(*findings, findings_file(experiment)); !saved) {
    return saved.error();
  }
  say("analysed {} ({:.1f} s): {}", report::counted(findings->run.locations, "location"),
      watch.seconds(), for_display(experiment).string());
  return findings;
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
