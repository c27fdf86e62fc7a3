// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See measure_options.h. The program may stand behind `--`, or be the first word that is no option:
// from there on everything is its own.

#include "cli/commands/measure_options.h"

#include <memory>

#include "cli/message.h"

namespace culprit::cli {

namespace {

constexpr log::Component kLog("measure");

void add_selection(CLI::App& command, Selection& selection) {
  command
      .add_option("--window", selection.window,
                  "record only this time window after the program's start, as in 10s..60s")
      ->envname("CULPRIT_WINDOW");
  command.add_option("--ranks", selection.ranks, "record only these ranks, as in 0-3,8")
      ->envname("CULPRIT_RANKS");
  command
      .add_option(
          "--phase", selection.phase,
          "record only this phase or loop marked by the program (culprit.h); NAME:n-m: only "
          "these visits or iterations")
      ->envname("CULPRIT_PHASE");
  command
      .add_option("--without", selection.without,
                  "do not record these frequent events, separated by commas: " + known_kinds())
      ->envname("CULPRIT_WITHOUT");
  command
      .add_option("--exclude", selection.exclude,
                  "do not record user-defined regions and instrumented functions with these names, "
                  "separated by commas; * and ? are wildcards")
      ->envname("CULPRIT_EXCLUDE");
}

void add_openmp(CLI::App& command, std::string& openmp) {
  command
      .add_option("--openmp", openmp,
                  "how to observe OpenMP in programs built with gcc: gcc (on their own runtime, "
                  "libgomp), libomp (run them on LLVM's), none")
      ->capture_default_str()
      ->check(CLI::IsMember({"gcc", "libomp", "none"}))
      ->envname("CULPRIT_OPENMP");
  command
      .add_flag_callback(
          "--no-openmp", [&openmp] { openmp = "none"; },
          "leave programs built with gcc on their own OpenMP runtime, unobserved: --openmp none")
      ->envname("CULPRIT_NO_OPENMP");
}

void add_limits(CLI::App& command, MeasureOptions& options) {
  command
      .add_option("--memory", options.memory_mib,
                  "MiB that the collector may use in each process (default: 64)")
      ->check(CLI::Range(1u, 65536u))
      ->envname("CULPRIT_MEMORY");
  command
      .add_option(
          "--max-size", options.max_size,
          "bytes of records after which each process stops recording, as in 2G (default: no limit)")
      ->transform(CLI::AsSizeValue(false))
      ->envname("CULPRIT_MAX_SIZE");
}

}  // namespace

Action add_measuring(CLI::App& command, const Program& program, bool report) {
  auto options = std::make_shared<MeasureOptions>();
  options->report = report;
  command
      .add_option("-o,--output", options->experiment,
                  "the experiment folder to create (default: culprit.<program>.<time>)")
      ->envname("CULPRIT_OUTPUT");
  command
      .add_option("--sampling", options->sampling_hz,
                  "call-stack samples per second and thread; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 10000))
      ->envname("CULPRIT_SAMPLING");
  command
      .add_option("--counters", options->counters,
                  "counters to record by call path, separated by commas: rusage, PAPI_TOT_INS, "
                  "perf::..., sde:::..., and multiplex if more are given than fit at a time")
      ->envname("CULPRIT_COUNTERS");
  add_openmp(command, options->openmp);
  command
      .add_option(
          "--cuda-graphs", options->cuda_graphs,
          "record each launch of a CUDA graph as one operation, or node by node, which slows "
          "graphs down: launches, nodes")
      ->capture_default_str()
      ->check(CLI::IsMember({"launches", "nodes"}))
      ->envname("CULPRIT_CUDA_GRAPHS");
  add_selection(command, options->selection);
  command
      .add_flag("--keep-raw", options->pipeline.keep_raw,
                "keep the collector's raw records beside the trace")
      ->envname("CULPRIT_KEEP_RAW");
  command
      .add_option("-j,--jobs", options->pipeline.threads,
                  "threads to use after the run (default: all cores)")
      ->envname("CULPRIT_JOBS");
  if (report) {
    command
        .add_flag("--estimate", options->estimate,
                  "estimate how large the trace of such a run would be and what to leave out; keep "
                  "nothing")
        ->envname("CULPRIT_ESTIMATE");
  }
  add_limits(command, *options);
  command.prefix_command();
  command.footer(
      report ? "culprit run -- mpirun -n 4 ./program    or    mpirun -n 4 culprit run -- ./program"
             : "culprit record -- mpirun -n 4 ./program    or    mpirun -n 4 culprit record -- "
               "./program");
  return [options, &command, &program] {
    options->command = command.remaining();
    options->command.insert(options->command.end(), program.begin(), program.end());
    if (options->command.empty()) {
      kLog.error("no program given (as in `culprit {} -- mpirun -n 4 ./program`)",
                 command.get_name());
      return kUsage;
    }
    if (options->command.front().starts_with('-')) {
      kLog.error("{} has no option '{}' (see `culprit {} --help`)", command.get_name(),
                 options->command.front(), command.get_name());
      return kUsage;
    }
    return measure(*options);
  };
}

}  // namespace culprit::cli
