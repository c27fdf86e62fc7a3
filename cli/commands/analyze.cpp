// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit analyze: findings for an experiment, in place, or for a trace of any format that culprit
// reads, in a new experiment that refers to it. Nothing is ever written beside a foreign trace.
// Started by mpirun or srun, its copies share the analysis; the first does all the rest.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "assemble/assemble.h"
#include "base/printable.h"
#include "base/settings.h"
#include "cli/command.h"
#include "cli/commands/option_checks.h"
#include "cli/commands/subcommands.h"
#include "cli/commands/verdict.h"
#include "cli/launcher.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "trace/any/open_trace.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("analyze");

struct AnalyzeArguments {
  std::vector<fs::path> inputs;  ///< an experiment or a trace; or the traces of several ranks
  fs::path output;
  bool report = false;
  bool full = false;
  bool alone = false;
  bool passes = false;
  std::vector<std::string> disabled;
  std::string ties = "shared";
  std::string wrappers;
  std::string debuginfod;
  PipelineOptions pipeline;
};

/// Prints the passes of the analysis, their purpose, and their times.
void print_passes(const blame::Findings& findings) {
  const auto optional = blame::optional_passes();
  for (const blame::PassTime& pass : findings.passes) {
    const auto known = std::find_if(optional.begin(), optional.end(),
                                    [&](const auto& each) { return each.name == pass.name; });
    const std::string what = known != optional.end() ? std::string(known->what) : "always";
    std::puts(fmt::format("{:9.3f} s  {:<28} {}", pass.time_s, pass.name, what).c_str());
  }
}

int conclude(const Result<Analysis>& analysis, const AnalyzeArguments& arguments,
             const fs::path& experiment) {
  if (!analysis) return fail(analysis.error());
  const blame::Findings& findings = analysis->findings;
  const fs::path place = analysis->saved ? experiment : fs::path();
  if (arguments.report && !print_report(findings, place, arguments.full))
    return fail(lost_output());
  if (arguments.passes) print_passes(findings);
  if (!analysis->saved) return fail(analysis->saved.error());
  return judge(findings, experiment);
}

Result<void> look_for_trace(const fs::path& experiment) {
  std::error_code code;
  const auto info = read_info(experiment);
  if (!info) return info.error();
  const fs::path trace = trace_of(experiment, info.value());
  if (!fs::exists(trace, code)) {
    return Error{"'" + experiment.string() + "' contains neither a trace nor records"};
  }
  if (info.value().trace.empty() && fs::is_directory(trace, code) && !has_raw_records(experiment)) {
    return Error{
        "'" + experiment.string() +
        "' contains no records: the program used neither MPI nor OpenMP nor a device, and made no "
        "threads"};
  }
  return {};
}

/// Removes a new experiment, unless it is worth keeping.
class Draft {
 public:
  explicit Draft(fs::path experiment) : experiment_(std::move(experiment)) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(experiment_, ignored);
  }
  void keep() { kept_ = true; }

 private:
  const fs::path experiment_;
  bool kept_ = false;
};

/// A new experiment that refers to `traces`; it does not survive any that cannot be analyzed.
int analyze_elsewhere(const AnalyzeArguments& arguments, const std::vector<fs::path>& traces,
                      ExperimentInfo info, const Result<assemble::RunFacts>& facts) {
  for (const fs::path& trace : traces) {
    info.traces.push_back(fs::absolute(trace).lexically_normal().string());
  }
  info.trace = info.traces.front();
  if (info.traces.size() == 1) info.traces.clear();
  const auto experiment =
      create_experiment(arguments.output, Command({info.program}).program_name());
  if (!experiment) return fail(experiment.error());
  Draft draft(experiment.value());
  auto analysis = [&]() -> Result<Analysis> {
    if (auto written = write_info(experiment.value(), info); !written) return written.error();
    if (facts) {
      auto written = assemble::write_facts(experiment.value(), facts.value());
      if (!written) return written.error();
    }
    return analyze_experiment(experiment.value(), arguments.pipeline);
  }();
  if (analysis && analysis->saved) draft.keep();
  return conclude(analysis, arguments, experiment.value());
}

/// With an output, the experiment is left unchanged: it may not be writable.
int analyze_experiment_folder(const AnalyzeArguments& arguments) {
  const fs::path& experiment = arguments.inputs.front();
  if (auto ready = look_for_trace(experiment); !ready) return fail(ready.error());
  if (!arguments.output.empty()) {
    const ExperimentInfo info = read_info(experiment).value();
    const bool several = !info.traces.empty();
    std::vector<fs::path> traces(info.traces.begin(), info.traces.end());
    if (!several) traces = {trace_of(experiment, info)};
    return analyze_elsewhere(arguments, traces, info, assemble::read_facts(experiment));
  }
  return conclude(analyze_experiment(experiment, arguments.pipeline), arguments, experiment);
}

/// Traces are named by their folder: an archive's anchor is nearly always called traces.otf2, and
/// files of ranks by numbers. A single file of another tool has a name of its own.
std::string name_of_traces(const std::vector<fs::path>& traces) {
  const fs::path& first = traces.front();
  const fs::path folder = fs::absolute(first).lexically_normal().parent_path().filename();
  const bool by_itself = traces.size() == 1 && trace::is_foreign_trace(first);
  if (!by_itself && !folder.empty()) return folder.string();
  const std::string name = first.filename().string();
  return name.substr(0, name.find('.', 1));
}

Result<void> look_for_inputs(const std::vector<fs::path>& inputs) {
  std::error_code code;
  for (const fs::path& input : inputs) {
    if (!fs::exists(input, code)) return Error{"there is no '" + input.string() + "'"};
    if (inputs.size() > 1 && fs::is_directory(input, code)) {
      return Error{"'" + input.string() +
                   "' is a folder: several inputs are files, a trace of each rank of one job"};
    }
  }
  return {};
}

int analyze_input(const AnalyzeArguments& arguments) {
  if (auto there = look_for_inputs(arguments.inputs); !there) return fail(there.error());
  std::error_code code;
  std::vector<fs::path> traces = arguments.inputs;
  if (fs::is_directory(traces.front(), code)) {
    const fs::path folder = traces.front();
    if (fs::exists(info_file(folder), code)) return analyze_experiment_folder(arguments);
    traces = trace::find_traces(folder);
    if (traces.empty()) return analyze_experiment_folder(arguments);
  }
  ExperimentInfo info;
  info.program = name_of_traces(traces);
  return analyze_elsewhere(arguments, traces, info, Error{"a trace knows nothing of its run"});
}

/// The arguments that must be the same for all copies.
std::string shared_arguments(const AnalyzeArguments& arguments) {
  std::string text = "analyze";
  for (const fs::path& input : arguments.inputs) text += " " + input.string();
  if (!arguments.output.empty()) text += " -o " + arguments.output.string();
  if (arguments.pipeline.threads != 0) text += fmt::format(" -j {}", arguments.pipeline.threads);
  if (arguments.pipeline.memory != 0)
    text += fmt::format(" --memory {}", arguments.pipeline.memory);
  if (arguments.pipeline.verify) text += " --verify";
  if (arguments.pipeline.last_alone) text += " --ties last";
  if (!arguments.disabled.empty()) {
    text += fmt::format(" --disable-passes {}", fmt::join(arguments.disabled, ","));
  }
  return text;
}

int analyze_together(AnalyzeArguments& arguments, Transport& ranks) {
  if (auto same = check_same(ranks, shared_arguments(arguments)); !same) {
    return ranks.rank() == 0 ? fail(same.error()) : 0;
  }
  arguments.pipeline.ranks = &ranks;
  if (ranks.rank() > 0) {
    log::show_from(log::Level::error);  // only the first copy reports
    return help_to_analyze(arguments.pipeline);
  }
  kLog.debug("sharing the analysis among {} ranks", ranks.size());
  TaskForOthers others(ranks);
  arguments.pipeline.others = &others;
  return analyze_input(arguments);
}

int analyze(AnalyzeArguments arguments) {
  const auto ranks = open_ranks(arguments.alone);
  if (!ranks) return fail(ranks.error());
  Transport& all = *ranks.value();
  if (all.alone()) return analyze_input(arguments);
  try {
    return analyze_together(arguments, all);
  } catch (const std::bad_alloc&) {
    all.give_up("out of memory: analyze this trace on more nodes");
  } catch (const std::exception& problem) {
    all.give_up(printable(problem.what()).c_str());
  }
  return kFailure;
}

std::string refuse_unknown_pass(const std::string& name) {
  blame::DisabledPasses ignored;
  if (blame::disable(ignored, name)) return "";
  return fmt::format("'{}' is no pass that can be left out (`culprit analyze --passes` names them)",
                     name);
}

}  // namespace

Action add_analyze(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  command
      .add_option("experiment", arguments->inputs,
                  "an experiment folder; a trace: a traces.otf2, or a file of each rank (or the "
                  "folder of all) from PyTorch's profiler (.json, .json.gz), Nsight Systems "
                  "(.sqlite) or rocprofv3 (.db)")
      ->required();
  command.add_option("-o,--output", arguments->output,
                     "the experiment folder to create (default: in place; for a trace: "
                     "culprit.<its folder>.<time>)");
  command.add_option("-j,--jobs", arguments->pipeline.threads,
                     "threads to use (default: all cores)");
  command
      .add_option(
          "--memory", arguments->pipeline.memory,
          "memory that the analysis may use, as in 100G; a trace that needs more is refused "
          "(default: all free memory)")
      ->transform(CLI::AsSizeValue(false));
  command.add_flag("--profile", arguments->pipeline.profile,
                   "of the experiment's profile alone, even where there is a trace");
  command.add_flag("--otf2", arguments->pipeline.otf2, text(Setting::otf2).help);
  command.add_flag("--alone", arguments->alone,
                   "when started by a launcher: do not share the work with the other copies");
  command.add_flag("--verify", arguments->pipeline.verify,
                   "also check what each pass of the analysis leaves to the next");
  command.add_flag("--passes", arguments->passes,
                   "also print the passes of the analysis and how long each took");
  command
      .add_option("--disable-passes", arguments->disabled,
                  "leave these passes out, separated by commas: those that --passes explains")
      ->type_name("PASSES")
      ->delimiter(',')
      ->check(CLI::Validator(refuse_unknown_pass, ""));
  command
      .add_option(
          "--ties", arguments->ties,
          "who is to blame where several were late, within a tenth of the wait: all of them "
          "(shared), or as in Boehme's thesis the last alone (last)")
      ->check(CLI::IsMember({"shared", "last"}))
      ->capture_default_str();
  command.add_option("--wrappers", arguments->wrappers, text(Setting::wrappers).help)
      ->type_name("PATH");
  command.add_option("--debuginfod", arguments->debuginfod, text(Setting::debuginfod).help)
      ->check(CLI::Range(0, 86400))
      ->type_name("SECONDS");
  command.add_flag("--report", arguments->report, "also print the report");
  add_full(command, arguments->full);
  return [arguments] {
    for (const std::string& pass : arguments->disabled) {
      blame::disable(arguments->pipeline.disabled, pass);
    }
    arguments->pipeline.last_alone = arguments->ties == "last";
    if (auto read = take_wrappers(arguments->wrappers); !read) {
      kLog.error("{}", read.error().sentence);
      return kUsage;
    }
    take_debuginfod(arguments->debuginfod);
    return analyze(*arguments);
  };
}

}  // namespace culprit::cli
