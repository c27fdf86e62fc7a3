// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See measure.h. The order is: refuse what cannot work before anything is made; make the folder;
// run the program; process the records even if it failed; pass on its exit status. A folder that
// holds no data when all is done is removed.

#include "cli/launch/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <system_error>

#include "assemble/names/static_parts.h"
#include "cli/commands/estimate.h"
#include "cli/installation.h"
#include "cli/launch/child.h"
#include "cli/launch/exclude.h"
#include "cli/launch/heartbeat.h"
#include "cli/launch/launch_environment.h"
#include "cli/launch/launcher.h"
#include "cli/launch/openmp_runtime.h"
#include "cli/launch/rendezvous.h"
#include "cli/launch/selection.h"
#include "cli/message.h"
#include "cli/parameters.h"
#include "cli/pipeline.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("measure");

ExperimentInfo describe(const MeasureOptions& options) {
  ExperimentInfo info;
  info.command = shell_line(options.command);
  info.program = program_name(options.command);
  info.date = time_for_people();
  info.selected = sentences_of(options.settings);
  info.parameters = parse_recorded_parameters(options.settings[Setting::param]).value();
  return info;
}

/// What the measurement uses, and what it has to do without.
void log_settings(const LaunchSettings& settings) {
  kLog.debug("preloading {}", settings.preload.string());
  for (size_t i = 0; i < kProbes.size(); ++i) {
    const std::string file = settings.probes[i].string();
    kLog.debug("{} probe: {}", kProbes[i].name, file.empty() ? "none" : file);
  }
  for (const auto& [setting, value] : settings.settings) {
    kLog.debug("{}={}", variable(setting), value);
  }
}

/// What the collector is told of OpenMP; empty: to leave it alone.
std::string openmp_runtime(const GivenSettings& given) {
  const auto way = given.value<Setting::openmp>();
  if (given.value<Setting::no_openmp>() || way == "none") return "";
  if (way == "gcc") return "libgomp";
  const auto runtime = best_openmp_runtime();
  return runtime ? runtime->library.string() : "";
}

PipelineOptions pipeline_of(const GivenSettings& given) {
  PipelineOptions options;
  options.threads = given.value<Setting::jobs>();
  options.otf2 = given.value<Setting::otf2>();
  return options;
}

ChildResult run_measured(const MeasureOptions& options, const fs::path& experiment,
                         const fs::path& preload, const std::string& farewell = {}) {
  const GivenSettings& given = options.settings;
  GivenSettings told = given;
  told[Setting::experiment] = experiment.string();
  told[Setting::openmp_runtime] = openmp_runtime(given);
  if (given.value<Setting::estimate>()) told[Setting::count_only] = "1";
  if (const std::string& patterns = given[Setting::exclude]; !patterns.empty()) {
    const auto excluded = exclude_functions(options.command, patterns, experiment);
    if (!excluded) fail(excluded.error());
  }
  const LaunchSettings settings{preload, told.for_program(), installed_probes()};
  log_settings(settings);
  const Launch launch = prepare_launch(options.command, settings, inherited_environment());
  // Of thousands of ranks, not all shall write to one file every second.
  const bool in_front = !farewell.empty();
  std::function<void()> every_second;
  if (in_front) every_second = [&] { beat(experiment, /*ended=*/false); };
  ChildResult child = run_child(launch.command, launch.environment, farewell, every_second);
  if (child.started) beat(experiment, /*ended=*/true);
  return child;
}

void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

bool omp_tools_are_disabled() {
  const char* tools = std::getenv("OMP_TOOL");
  return tools != nullptr && std::string_view(tools) == "disabled";
}

/// Whether the command gives its processes a preload library by itself, in the place of culprit's.
bool replaces_preload(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return word.starts_with("LD_PRELOAD=") || word.find("=LD_PRELOAD=") != std::string::npos ||
           word.find(",LD_PRELOAD=") != std::string::npos;
  });
}

/// Why a program among the words of the command shows nothing by its nature; empty if none does.
std::string static_program_among(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    std::error_code code;
    if (word.starts_with('-') || !fs::is_regular_file(word, code)) continue;
    std::string why = assemble::static_parts_of(word);
    if (!why.empty()) return why;
  }
  return "";
}

/// Why there is nothing to analyze. A launcher that refuses to start anything looks the same from
/// here as a program that fails by itself: its own message says which it was.
void explain_nothing_recorded(const std::vector<std::string>& command, int status, bool tried) {
  if (!tried && replaces_preload(command)) {
    kLog.error(
        "the command sets LD_PRELOAD and so displaces culprit's library: set it in front of "
        "culprit instead (LD_PRELOAD=... culprit run -- ...), which then preloads both");
  } else if (tried) {
    kLog.error(
        "the program's processes could not write their records: is the disk full, or do limits "
        "(ulimit) restrict files, descriptors or memory?");
  } else if (omp_tools_are_disabled()) {
    kLog.error(
        "OMP_TOOL=disabled keeps culprit out of the OpenMP runtime, and no MPI call was recorded: "
        "there is nothing to analyze");
  } else if (const std::string why = static_program_among(command); !why.empty()) {
    kLog.error("{}", why);
  } else if (status == 0) {
    kLog.error("the program used neither MPI nor OpenMP nor a device: there is nothing to analyze");
  } else {
    kLog.error(
        "the command ended with status {} before any MPI or OpenMP call was recorded: see its own "
        "messages above",
        status);
  }
}

/// Prints how large the trace would be; nothing is kept.
int print_estimate(const fs::path& experiment, int status) {
  const auto found = assemble::estimate(experiment / "raw");
  remove_folder(experiment);
  if (!found) return fail(found.error());
  const std::string page = estimate_page(found.value());
  std::fwrite(page.data(), 1, page.size(), stdout);
  return status;
}

/// From records to what was asked for. Returns what culprit exits with, given the program's status.
int finish(const MeasureOptions& options, const fs::path& experiment, int status) {
  const int otherwise = status != 0 ? status : kFailure;
  if (!has_raw_records(experiment)) {
    const bool tried = assemble::has_records(experiment);
    remove_folder(experiment);
    explain_nothing_recorded(options.command, status, tried);
    return otherwise;
  }
  if (options.settings.value<Setting::estimate>()) return print_estimate(experiment, status);
  // Who ended the command may end culprit, too, before it is done.
  if (status != 0) {
    kLog.warning(
        "the command ended with status {}; if no report follows, `culprit analyze {}` shows what "
        "was recorded until then",
        status, for_display(experiment).string());
  }
  if (!options.report) {
    if (auto done = complete_experiment(experiment, pipeline_of(options.settings)); !done) {
      fail(done.error());
      return otherwise;
    }
    kLog.info("recorded: {}", for_display(experiment).string());
    return status;
  }
  const auto findings = analyze_experiment(experiment, pipeline_of(options.settings));
  if (!findings) {
    fail(findings.error());
    return otherwise;
  }
  print_report(findings.value(), experiment);
  return status;
}

/// culprit stands in front of whatever starts the ranks, if there is such a thing at all.
int measure_in_front(const MeasureOptions& options, const fs::path& preload) {
  ExperimentInfo info = describe(options);
  const auto experiment = create_experiment(options.settings[Setting::output], info.program);
  if (!experiment) return fail(experiment.error());
  if (auto written = write_info(experiment.value(), info); !written) return fail(written.error());
  const std::string place = for_display(experiment.value()).string();
  kLog.info("measuring into {}", place);
  const ChildResult child =
      run_measured(options, experiment.value(), preload,
                   log::plain_line(fmt::format("asked to stop: if no report follows, `culprit "
                                               "analyze {}` shows what was recorded until now",
                                               place)));
  if (!child.started) {
    remove_folder(experiment.value());
    kLog.error("cannot start '{}': {}", options.command.front(), child.failure);
    return child.status;
  }
  info.exit_status = child.status;
  if (auto written = write_info(experiment.value(), info); !written) fail(written.error());
  return finish(options, experiment.value(), child.status);
}

/// This process is one rank of `job`; the last one to end processes the records of all. If the
/// launcher asks the ranks to stop, it will soon kill them: then the records are left for `culprit
/// analyze`.
int measure_as_rank(const MeasureOptions& options, const Job& job, const fs::path& preload) {
  ExperimentInfo info = describe(options);
  info.job = job.token;
  const auto met = meet(job, options.settings[Setting::output], info);
  if (!met) return fail(met.error());
  const MeetingPlace& place = met.value();
  const ChildResult child = run_measured(options, place.experiment, preload);
  if (!child.started) kLog.error("cannot start '{}': {}", options.command.front(), child.failure);
  if (!is_last(job, place, child.status)) return child.status;
  part(place);
  info.exit_status = worst_status(job, place);
  if (auto written = write_info(place.experiment, info); !written) fail(written.error());
  if (child.interrupted) {
    kLog.warning("the run was stopped from outside: `culprit analyze {}` shows what it recorded",
                 for_display(place.experiment).string());
    return child.status;
  }
  return finish(options, place.experiment, child.status);
}

}  // namespace

int measure(const MeasureOptions& options) {
  if (auto good = options.settings.check(); !good) {
    kLog.error("{}", good.error().sentence);
    return kUsage;
  }
  if (auto named = parse_recorded_parameters(options.settings[Setting::param]); !named) {
    kLog.error("{}", named.error().sentence);
    return kUsage;
  }
  const int startable = check_program(options.command.front());
  if (startable != 0) return explain_unstartable(options.command.front(), startable);
  const std::string outer = process_environment(variable(Setting::experiment));
  if (!outer.empty()) {
    kLog.info("already being measured into '{}': starting the program unchanged", outer);
    const ChildResult child = run_child(options.command, inherited_environment());
    if (!child.started) kLog.error("cannot start '{}': {}", options.command.front(), child.failure);
    return child.status;
  }
  const auto preload = preload_library();
  if (!preload) return fail(preload.error());
  const auto job = detect_job(process_environment);
  return job ? measure_as_rank(options, *job, preload.value())
             : measure_in_front(options, preload.value());
}

}  // namespace culprit::cli
