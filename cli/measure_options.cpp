// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See measure_options.h. The program may stand behind `--`, or be the first word that is no option:
// from there on everything is its own.

#include "cli/measure_options.h"

#include <memory>

#include "cli/message.h"

namespace culprit::cli {

Action add_measuring(CLI::App& command, const Program& program, bool report) {
  auto options = std::make_shared<MeasureOptions>();
  options->report = report;
  bool* const openmp = &options->openmp;
  command.add_option("-o,--output", options->experiment,
                     "the experiment folder to make (default: culprit.<program>.<time>)");
  command
      .add_option("--sampling", options->sampling_hz,
                  "samples a second and thread of where the program is; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 10000));
  command.add_option("--counters", options->counters,
                     "what to count by region, joined by commas: rusage, PAPI_TOT_INS, perf::..., "
                     "sde:::..., and multiplex if there are more than fit at a time");
  command.add_flag_callback(
      "--no-openmp", [openmp] { *openmp = false; },
      "leave programs built by gcc on their own OpenMP runtime, unobserved");
  command.add_flag("--keep-raw", options->pipeline.keep_raw,
                   "keep the collector's records beside the trace");
  command.add_option("-j,--jobs", options->pipeline.threads,
                     "threads to use after the run (default: all cores)");
  command.prefix_command();
  command.footer(
      report ? "culprit run -- mpirun -n 4 ./program    or    mpirun -n 4 culprit run -- ./program"
             : "culprit record -- mpirun -n 4 ./program    or    mpirun -n 4 culprit record -- "
               "./program");
  return [options, &command, &program] {
    options->command = command.remaining();
    options->command.insert(options->command.end(), program.begin(), program.end());
    if (options->command.empty()) {
      say("no program given (as in `culprit {} -- mpirun -n 4 ./program`)", command.get_name());
      return kUsage;
    }
    if (options->command.front().starts_with('-')) {
      say("{} has no option '{}' (see `culprit {} --help`)", command.get_name(),
          options->command.front(), command.get_name());
      return kUsage;
    }
    return measure(*options);
  };
}

}  // namespace culprit::cli
