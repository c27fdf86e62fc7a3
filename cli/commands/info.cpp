// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit info: the contents of an experiment, the size of each part, and whether it is complete.
// It only reads files and analyzes nothing.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "assemble/run_facts.h"
#include "base/printable.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "report/db/findings_db.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

std::string size_in_words(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1000 && unit + 1 < std::size(kUnits); ++unit) size /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

/// Returns the size of a file, or of all files in a folder.
uint64_t size_of(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    const uintmax_t size = fs::file_size(path, code);
    return code ? 0 : size;
  }
  uint64_t sum = 0;
  for (fs::recursive_directory_iterator at(path, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code gone;
    if (at->is_regular_file(gone)) {
      const uintmax_t size = at->file_size(gone);
      if (!gone) sum += size;
    }
  }
  return sum;
}

/// A page of two columns: a name, and its description.
class Sheet {
 public:
  void line(std::string_view what, const std::string& words) {
    constexpr size_t kColumn = 14;
    if (words.empty()) return;
    std::string lines = report::wrapped(printable(words), kColumn);
    lines.replace(0, kColumn, report::left(what, kColumn));
    page_ += lines;
  }
  const std::string& page() const { return page_; }

 private:
  std::string page_;
};

void tell_parts(const fs::path& experiment, const ExperimentInfo& info, Sheet& sheet) {
  std::error_code code;
  const auto part = [&](std::string_view what, const fs::path& path, std::string_view use) {
    if (!fs::exists(path, code)) return;
    sheet.line(what, fmt::format("{}: {}", size_in_words(size_of(path)), use));
  };
  part("raw", experiment / "raw", "the records; they can be analyzed again");
  part("names", experiment / "names", "the names of functions, kept with the records");
  part("trace", experiment / "trace", "an OTF2 archive of the same run");
  part("findings.db", findings_file(experiment), "what the analysis found");
  if (!info.trace.empty()) {
    sheet.line("refers to",
               info.trace + (fs::exists(info.trace, code) ? "" : ", which is not there any more"));
  }
}

void tell_measurement(const fs::path& experiment, const ExperimentInfo& info, Sheet& sheet) {
  sheet.line("command", info.command);
  sheet.line("program", info.program);
  sheet.line("date", info.date);
  for (const std::string& sentence : info.selected) sheet.line("left out", sentence);
  const auto facts = assemble::read_facts(experiment);
  if (!facts) return;
  sheet.line("MPI", facts->mpi);
  sheet.line("OpenMP", facts->openmp);
  sheet.line("recorded", fmt::format("{} of {}, about {} when they are replayed",
                                     report::counted(facts->records, "record"),
                                     report::counted(facts->processes, "process", "processes"),
                                     report::counted(facts->events, "event")));
}

std::vector<std::string> data_losses(const Losses& losses) {
  std::vector<std::string> sentences;
  for (const auto& [name, loss] : losses.all()) {
    if (loss.severity == Severity::data_loss) sentences.push_back(loss.advice);
  }
  return sentences;
}

void tell_run(const blame::Findings& findings, Sheet& sheet) {
  const blame::RunInfo& run = findings.run;
  if (run.operation == blame::Operation::diff) {
    sheet.line("difference",
               fmt::format("of {}: {:+.3f} s of run time",
                           report::counted(findings.inputs.size(), "run"), run.wall_s));
    return;
  }
  sheet.line("analyzed",
             fmt::format("{} of {}, {}, {:.3f} s long", report::counted(run.locations, "location"),
                         report::counted(run.ranks, "rank"), report::counted(run.events, "event"),
                         run.wall_s));
}

void tell_status(const ExperimentInfo& info, Sheet& sheet) {
  if (!info.command.empty()) sheet.line("exit status", std::to_string(info.exit_status));
}

/// Adds the facts from the measurement, for a run without findings.
void tell_unanalyzed(const fs::path& experiment, const ExperimentInfo& info, Sheet& sheet) {
  std::error_code code;
  tell_status(info, sheet);
  if (!fs::exists(trace_of(experiment, info), code)) {
    return sheet.line("state", "there are neither findings nor a trace nor records");
  }
  sheet.line("state",
             "not analyzed yet: run `culprit analyze " + for_display(experiment).string() + "`");
  if (const auto facts = assemble::read_facts(experiment)) {
    for (const std::string& loss : data_losses(facts->losses)) sheet.line("incomplete", loss);
  }
}

/// Adds the state of the experiment.
void tell_state(const fs::path& experiment, const ExperimentInfo& info, Sheet& sheet) {
  std::error_code code;
  if (!fs::exists(findings_file(experiment), code)) {
    return tell_unanalyzed(experiment, info, sheet);
  }
  const auto findings = report::load_findings(findings_file(experiment));
  if (!findings) {
    tell_status(info, sheet);
    return sheet.line("findings.db", findings.error().sentence);
  }
  // A derived experiment is not a program's run, and never had a trace.
  const bool is_run = findings->run.operation == blame::Operation::none;
  if (is_run) tell_status(info, sheet);
  tell_run(*findings, sheet);
  if (is_run && !fs::exists(trace_of(experiment, info), code)) {
    sheet.line("events", "there is neither a trace nor records: only findings are left");
  }
  for (const std::string& sentence : findings->identities.violations) {
    sheet.line("do not rely", sentence);
  }
  const std::vector<std::string> lost = data_losses(findings->losses);
  for (const std::string& loss : lost) sheet.line("incomplete", loss);
  if (lost.empty()) sheet.line("state", "complete: no data loss is known");
}

/// The experiment's findings.db stands for it, as it does elsewhere.
fs::path experiment_of(const fs::path& input) {
  std::error_code code;
  const fs::path whole = fs::absolute(input).lexically_normal();
  return fs::is_regular_file(whole, code) ? whole.parent_path() : input;
}

int tell(const fs::path& input) {
  const fs::path experiment = experiment_of(input);
  const auto info = read_info(experiment);
  if (!info) return fail(info.error());
  Sheet sheet;
  sheet.line("experiment", for_display(fs::absolute(experiment)).string());
  tell_measurement(experiment, *info, sheet);
  tell_state(experiment, *info, sheet);
  tell_parts(experiment, *info, sheet);
  return print(sheet.page()) ? 0 : fail(lost_output());
}

}  // namespace

Action add_info(CLI::App& command, const Program&) {
  auto experiment = std::make_shared<fs::path>();
  command.add_option("experiment", *experiment,
                     "an experiment folder, or its findings.db (default: the newest one here)");
  return [experiment] { return tell(*experiment); };
}

}  // namespace culprit::cli
