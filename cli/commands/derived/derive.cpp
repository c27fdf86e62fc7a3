// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit mean, merge and cut, and the code that culprit diff shares with them.

#include "cli/commands/derived/derive.h"

#include <fmt/format.h>

#include <memory>
#include <system_error>
#include <utility>

#include "blame/algebra/combine.h"
#include "blame/algebra/cut.h"
#include "cli/command.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "report/db/findings_db.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("algebra");

struct DeriveArguments {
  std::vector<fs::path> inputs;
  fs::path output;
  blame::Cut cut;
};

std::string shell_words(blame::Operation operation, const std::vector<fs::path>& inputs) {
  std::vector<std::string> words = {"culprit", std::string(to_string(operation))};
  for (const fs::path& input : inputs) words.push_back(input.string());
  return Command(std::move(words)).line();
}

std::vector<const blame::Findings*> pointers(const std::vector<blame::Findings>& all) {
  std::vector<const blame::Findings*> to;
  for (const blame::Findings& each : all) to.push_back(&each);
  return to;
}

void add_input(const fs::path& name, const blame::Findings& input, blame::Findings& made) {
  const blame::RunInfo& run = input.run;
  made.inputs.push_back({name.string(), blame::InputRole::one, run.command, run.ranks,
                         run.locations, run.wall_s, run.allocation_s, input.identities.waiting_s});
}

int run_several(blame::Operation operation, const DeriveArguments& arguments) {
  const auto all = open_all(arguments.inputs);
  if (!all) return fail(all.error());
  if (auto good = refuse_differences(arguments.inputs, *all); !good) return fail(good.error());
  const auto inputs = pointers(*all);
  const std::string unlike = blame::unlike(inputs);
  if (!unlike.empty()) kLog.warning("{}", unlike);
  blame::Findings made =
      operation == blame::Operation::mean ? blame::mean_of(inputs) : blame::merge(inputs);
  for (size_t i = 0; i < all->size(); ++i) add_input(arguments.inputs[i], (*all)[i], made);
  if (!unlike.empty()) made.run.notes.push_back(unlike);
  if (operation == blame::Operation::mean) {
    made.run.notes.push_back(
        fmt::format("This is the mean of {} runs: single waits, the order of the critical path, "
                    "and devices over time are not in it.",
                    all->size()));
  }
  return keep_derived(std::move(made), operation, arguments.inputs, arguments.output);
}

int run_cut(const DeriveArguments& arguments) {
  const blame::Cut& wanted = arguments.cut;
  if (wanted.roots.empty() && wanted.drops.empty() && wanted.folded.empty()) {
    return fail({"nothing is to be cut: say --root, --drop or --fold with call paths"});
  }
  const auto all = open_all(arguments.inputs);
  if (!all) return fail(all.error());
  if (auto good = refuse_differences(arguments.inputs, *all); !good) return fail(good.error());
  auto made = blame::cut(all->front(), wanted);
  if (!made) return fail(made.error());
  add_input(arguments.inputs.front(), all->front(), *made);
  made->run.notes.push_back(
      "Call paths were cut: times are those of what is left. Delays have their whole cost, "
      "wherever others waited, and their shares are of what all delays that are left cost. Of the "
      "whole run are its length, phases and iterations, devices, and what changes would gain. Over "
      "time, what a process or a group of them did is told of its first thread.");
  return keep_derived(std::move(*made), blame::Operation::cut, arguments.inputs, arguments.output);
}

void add_output(CLI::App& command, DeriveArguments& arguments) {
  command.add_option("-o,--output", arguments.output,
                     "the experiment folder to create (default: culprit.<command>.<time>)");
}

Action add_several(CLI::App& command, blame::Operation operation) {
  auto arguments = std::make_shared<DeriveArguments>();
  command.add_option("experiments", arguments->inputs, "experiment folders, two at least")
      ->required()
      ->expected(2, 1 << 20);
  add_output(command, *arguments);
  return [arguments, operation] { return run_several(operation, *arguments); };
}

}  // namespace

Result<std::vector<blame::Findings>> open_all(const std::vector<fs::path>& inputs,
                                              std::optional<uint64_t> window) {
  std::vector<blame::Findings> all;
  for (const fs::path& input : inputs) {
    auto opened = open_findings(input, window);
    if (!opened) return opened.error();
    all.push_back(std::move(opened->findings));
  }
  return all;
}

Result<void> refuse_differences(const std::vector<fs::path>& inputs,
                                const std::vector<blame::Findings>& findings) {
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].run.operation != blame::Operation::diff) continue;
    return Error{"'" + inputs[i].string() +
                 "' is a difference of runs, of which nothing else can be made: name the runs"};
  }
  return {};
}

int keep_derived(blame::Findings findings, blame::Operation operation,
                 const std::vector<fs::path>& inputs, const fs::path& output) {
  findings.run.operation = operation;
  findings.run.command = shell_words(operation, inputs);
  findings.run.date = time_for_people();
  ExperimentInfo info;
  info.command = findings.run.command;
  info.program = findings.run.program;
  info.date = findings.run.date;
  info.operation = to_string(operation);
  const auto experiment = create_experiment(output, std::string(to_string(operation)));
  if (!experiment) return fail(experiment.error());
  auto kept = write_info(*experiment, info);
  if (kept) kept = report::save_findings(findings, findings_file(*experiment));
  if (!kept) {
    std::error_code ignored;
    fs::remove_all(*experiment, ignored);
    return fail(kept.error());
  }
  kLog.info("wrote {}", for_display(*experiment).string());
  return 0;
}

Action add_mean(CLI::App& command, const Program&) {
  return add_several(command, blame::Operation::mean);
}

Action add_merge(CLI::App& command, const Program&) {
  return add_several(command, blame::Operation::merge);
}

Action add_cut(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<DeriveArguments>();
  command.add_option("experiment", arguments->inputs, "an experiment folder")
      ->required()
      ->expected(1);
  command.add_option("--root", arguments->cut.roots,
                     "keep these call paths alone, as new roots; * stands for anything");
  command.add_option("--drop", arguments->cut.drops,
                     "leave these call paths out, with what they call");
  command.add_option("--fold", arguments->cut.folded,
                     "count what these call paths call as their own");
  add_output(command, *arguments);
  return [arguments] { return run_cut(*arguments); };
}

}  // namespace culprit::cli
