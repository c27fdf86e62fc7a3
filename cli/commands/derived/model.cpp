// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit model: how figures of runs depend on the number of ranks, of threads, or a parameter of
// the program. The latter is given when a run is measured (run --param), or here.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/regular_file.h"
#include "cli/command.h"
#include "cli/commands/derived/derive.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/parameters.h"
#include "cli/terminal.h"
#include "predict/model/model_runs.h"
#include "report/exports/figures.h"
#include "report/formats.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("model");

struct ModelArguments {
  std::vector<fs::path> runs;
  fs::path json_lines, output, exported;
  std::string format{report::formats().front().name};
  std::vector<std::string> parameters, over, predict;
  bool next = false;
  unsigned threads = 0;
};

/// "@2": in each run the number that is, or stands in ("-n=100"), the second argument.
Result<std::vector<double>> from_arguments(std::string_view place,
                                           const std::vector<const blame::Findings*>& runs,
                                           const std::vector<std::string>& names) {
  const auto number = parse_number(place);
  constexpr double kMostArguments = 1e6;
  if (!number || *number < 1 || *number > kMostArguments || *number != std::floor(*number)) {
    return Error{fmt::format("'@{}' is no argument: say as in @1", place)};
  }
  const auto at = static_cast<size_t>(*number) - 1;
  std::vector<double> values;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Command command = Command::of_line(runs[i]->run.command);
    const auto words = command.arguments_of(runs[i]->run.program);
    const std::string word = at < words.size() ? words[at] : "";
    const auto value = parse_number(std::string_view(word).substr(word.find('=') + 1));
    if (!value) {
      return Error{fmt::format("argument {} of the program in '{}' is no number: '{}'", at + 1,
                               names[i], word)};
    }
    values.push_back(*value);
  }
  return values;
}

/// "size=@1", "size=100,200,300,400,500".
Result<predict::NamedParameter> named(const std::string& text,
                                      const std::vector<const blame::Findings*>& runs,
                                      const std::vector<std::string>& names) {
  const size_t at = text.find('=');
  const std::string name = text.substr(0, at);
  if (at == std::string::npos || name.empty()) {
    return Error{
        fmt::format("'{}' names no parameter: say as in size=@1 (the program's first "
                    "argument) or size=100,200,... (a value for each run)",
                    text)};
  }
  if (name == predict::kRanks || name == predict::kThreads) {
    return Error{fmt::format("{} need not be named: culprit counts them", name)};
  }
  const std::string given = text.substr(at + 1);
  if (given.starts_with('@')) {
    auto values = from_arguments(given.substr(1), runs, names);
    if (!values) return values.error();
    return predict::NamedParameter{name, std::move(*values)};
  }
  predict::NamedParameter parameter{name, {}};
  std::istringstream list(given);
  for (std::string word; std::getline(list, word, ',');) {
    const auto value = parse_number(word);
    if (!value) return Error{fmt::format("'{}' is no value of {}", word, name)};
    parameter.values.push_back(*value);
  }
  if (parameter.values.size() != runs.size()) {
    return Error{fmt::format("{} values of {} are given for {} runs", parameter.values.size(), name,
                             runs.size())};
  }
  return parameter;
}

Result<std::map<std::string, double>> targets_of(const std::vector<std::string>& wished) {
  std::string list;
  for (const std::string& each : wished) list += (list.empty() ? "" : ",") + each;
  return parse_parameters(list);
}

/// The source of the figures, and its description for messages.
struct Source {
  predict::Measurements measurements;
  blame::Findings told;  ///< program, inputs, losses, notes
};

Result<Source> source_of_file(const ModelArguments& arguments) {
  if (!arguments.runs.empty()) return Error{"name either runs or a file with --json-lines"};
  if (!arguments.parameters.empty() || !arguments.over.empty()) {
    return Error{"a file has its own parameters: --param and --over are for runs"};
  }
  if (arguments.next) return Error{"--next is for runs: a file does not say what a run costs"};
  const auto text = read_regular_file(arguments.json_lines, Owner::anybody);
  if (!text) return Error{"cannot read '" + arguments.json_lines.string() + "'"};
  auto read = predict::read_json_lines(*text);
  if (!read) return Error{arguments.json_lines.string() + ": " + read.error().sentence};
  return Source{std::move(*read), {}};
}

void describe(const std::vector<blame::Findings>& runs, const std::vector<std::string>& names,
              blame::Findings& told) {
  told.run.program = runs.front().run.program;
  std::set<std::string> failed;
  for (size_t i = 0; i < runs.size(); ++i) {
    const blame::RunInfo& run = runs[i].run;
    told.inputs.push_back({names[i], blame::InputRole::one, run.command, run.ranks, run.locations,
                           run.wall_s, run.allocation_s, runs[i].identities.waiting_s});
    told.losses.merge(runs[i].losses);
    if (run.exit_status != 0) failed.insert(names[i]);
  }
  for (const std::string& name : failed) {
    told.run.notes.push_back(fmt::format(
        "The program of '{}' failed: its times may not be those of a whole run.", name));
  }
}

Result<Source> source_of_runs(const ModelArguments& arguments) {
  const auto runs = open_all(arguments.runs);
  if (!runs) return runs.error();
  std::vector<const blame::Findings*> inputs;
  std::vector<std::string> names;
  for (const blame::Findings& each : *runs) inputs.push_back(&each);
  for (const fs::path& each : arguments.runs) names.push_back(each.string());
  predict::ParameterChoice choice{{}, arguments.over};
  for (const std::string& text : arguments.parameters) {
    auto parameter = named(text, inputs, names);
    if (!parameter) return parameter.error();
    const auto is_same = [&](const auto& other) { return other.name == parameter->name; };
    if (std::any_of(choice.named.begin(), choice.named.end(), is_same)) {
      return Error{fmt::format("the parameter {} is named twice", parameter->name)};
    }
    choice.named.push_back(std::move(*parameter));
  }
  auto measured = predict::measurements_of(inputs, names, choice);
  if (!measured) return measured.error();
  Source source{std::move(*measured), {}};
  describe(*runs, names, source.told);
  return source;
}

Result<blame::Findings> make(const ModelArguments& arguments, const Source& source) {
  const auto targets = targets_of(arguments.predict);
  if (!targets) return targets.error();
  auto made =
      predict::model_runs(source.measurements, {*targets, arguments.next, arguments.threads});
  if (!made) return made;
  made->run.program = source.told.run.program;
  made->run.notes.insert(made->run.notes.begin(), source.told.run.notes.begin(),
                         source.told.run.notes.end());
  made->inputs = source.told.inputs;
  made->losses = source.told.losses;
  if (source.measurements.left_out > 0) {
    made->run.notes.push_back(
        fmt::format("{} figures are too small for a model, less than 0.1 % of the run time, or "
                    "were measured at too few points to tell parameters apart.",
                    source.measurements.left_out));
  }
  return made;
}

int model(const ModelArguments& arguments) {
  if (arguments.runs.empty() && arguments.json_lines.empty()) {
    return fail({"name runs that differ in ranks, threads or a parameter: five or more"});
  }
  const auto source =
      arguments.json_lines.empty() ? source_of_runs(arguments) : source_of_file(arguments);
  if (!source) return fail(source.error());
  auto made = make(arguments, *source);
  if (!made) return fail(made.error());
  if (!arguments.exported.empty()) {
    const auto written =
        report::write_new_file(arguments.exported, predict::write_json_lines(source->measurements));
    if (!written) return fail(written.error());
  }
  const report::Format& format = *report::find_format(arguments.format);
  const std::string text = format.render(*made, arguments.output);
  const bool printed = format.for_people ? print_page(text) : print(text);
  if (!printed) return fail(lost_output());
  if (arguments.output.empty()) return 0;
  std::vector<fs::path> inputs = arguments.runs;
  if (inputs.empty()) inputs = {"--json-lines", arguments.json_lines};
  return keep_derived(std::move(*made), blame::Operation::model, inputs, arguments.output);
}

}  // namespace

Action add_model(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<ModelArguments>();
  std::vector<std::string> formats;
  for (const report::Format& format : report::formats()) formats.emplace_back(format.name);
  command.add_option("experiments", arguments->runs,
                     "experiment folders of one program: five or more, better with repeats");
  command
      .add_option(
          "--param", arguments->parameters,
          "what else the runs differ in: size=@1, the program's first argument, or "
          "size=100,200,..., a value for each run (those of `culprit run --param` are known)")
      ->allow_extra_args(false);
  command.add_option("--over", arguments->over, "model over these parameters alone, such as ranks")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--predict", arguments->predict,
                  "for which values, as in ranks=4096; parameters that are not named stay at "
                  "their largest (default: four times the largest of the first)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_flag("--next", arguments->next,
                   "say which run would sharpen the models most for its cost");
  command.add_option("--json-lines", arguments->json_lines,
                     "a file of Extra-P's JSON Lines, instead of experiments");
  command.add_option("--export", arguments->exported,
                     "also write what was measured as Extra-P's JSON Lines, a file to create");
  command.add_option("--format", arguments->format, "text: a page for people; json: for programs")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command.add_option("-o,--output", arguments->output, "keep the models: an experiment to create");
  command.add_option("-j,--jobs", arguments->threads, "threads to use (default: all cores)");
  return [arguments] { return model(*arguments); };
}

}  // namespace culprit::cli
