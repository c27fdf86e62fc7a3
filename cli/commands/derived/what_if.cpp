// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit whatif: how long the run would take, if something in it took more or less time. The
// predicted run can be kept as an experiment, with a trace of its own.

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/commands/derived/derive.h"
#include "cli/commands/subcommands.h"
#include "cli/message.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "predict/machine/machine.h"
#include "report/db/findings_db.h"
#include "report/prediction/prediction.h"
#include "report/table/selection.h"
#include "trace/otf2/anchor.h"
#include "trace/otf2/export.h"
#include "trace/otf2/reader.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

struct WhatIfArguments {
  fs::path input;
  fs::path output;
  std::vector<std::string> scaled, removed, balanced;
  std::optional<std::string> ranks, threads;
  std::string latency = "x1", bandwidth = "x1", kernels = "x1", launch_latency = "x1";
  std::string noise, recorded_noise = "x1", message_delay;
  fs::path machine, recorded_on;
  unsigned repeats = 20;
  uint64_t seed = 1;
  bool sensitivity = false;
  std::string locks = "decided";
  std::string over;
  std::string format = "text";
  unsigned jobs = 0;
};

constexpr double kMostTimes = 1e6;  ///< as much

/// "x0.5", "0.5".
Result<double> parse_factor(const std::string& option, std::string_view text) {
  const std::string_view number = text.starts_with('x') ? text.substr(1) : text;
  double factor = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), factor);
  if (error != std::errc() || end != number.data() + number.size() || !(factor >= 0) ||
      factor > kMostTimes) {
    return Error{fmt::format("{} takes a factor, as in x0.5, not '{}'", option, text)};
  }
  return factor;
}

/// "main/*/forces=0.5": names may have equal signs, too.
Result<predict::Scaling> parse_scaling(const std::string& text) {
  const size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0) {
    return Error{"--scale takes call paths and a factor, as in 'main/*/forces=0.5', not '" + text +
                 "'"};
  }
  const auto factor = parse_factor("--scale", std::string_view(text).substr(sign + 1));
  if (!factor) return factor.error();
  return predict::Scaling{text.substr(0, sign), *factor};
}

Result<void> set_factors(const WhatIfArguments& arguments, predict::Scenario& scenario) {
  struct {
    const char* option;
    const std::string& text;
    double& factor;
  } const all[] = {{"--latency", arguments.latency, scenario.latency},
                   {"--bandwidth", arguments.bandwidth, scenario.bandwidth},
                   {"--device-kernels", arguments.kernels, scenario.kernels},
                   {"--launch-latency", arguments.launch_latency, scenario.launch_latency}};
  for (const auto& [option, text, factor] : all) {
    const auto parsed = parse_factor(option, text);
    if (!parsed) return parsed.error();
    factor = *parsed;
  }
  if (scenario.bandwidth <= 0) return Error{"--bandwidth takes a factor above 0"};
  return {};
}

/// The run on another machine.
Result<void> move_run(const predict::Machine& recorded, const WhatIfArguments& arguments,
                      predict::Perturbation& change) {
  auto wanted = predict::read_machine(arguments.machine);
  if (!wanted) return wanted.error();
  predict::Perturbation moved = predict::from_to(recorded, *wanted);
  if (!moved.changes_compute() && !moved.changes_links()) {
    return Error{fmt::format(
        "'{}' and '{}' have nothing to compare: neither noise nor the same kind of link",
        arguments.recorded_on.string(), arguments.machine.string())};
  }
  for (predict::NoiseChange& noise : moved.noise) change.noise.push_back(std::move(noise));
  change.links = std::move(moved.links);
  change.moved = true;
  return {};
}

/// Sets noise and message times from the files of machines.
Result<void> set_machines(const WhatIfArguments& arguments, predict::Scenario& scenario) {
  std::optional<predict::Machine> recorded;
  if (!arguments.recorded_on.empty()) {
    auto read = predict::read_machine(arguments.recorded_on);
    if (!read) return read.error();
    recorded = std::move(*read);
  }
  const auto remains = parse_factor("--recorded-noise", arguments.recorded_noise);
  if (!remains) return remains.error();
  if (*remains != 1 && !arguments.machine.empty()) {
    return Error{
        "--machine replaces the noise that there was: --recorded-noise says nothing beside it"};
  }
  if (*remains != 1) {
    if (!recorded || !recorded->noise.known()) {
      return Error{
          "how much noise there was is not known: name a file of culprit machine, of the "
          "machine that the run was recorded on, with --recorded-on"};
    }
    scenario.perturbation.noise.push_back({recorded->noise.detours, *remains - 1});
  }
  if (arguments.machine.empty()) {
    const bool scales = scenario.latency != 1 || scenario.bandwidth != 1;
    if (recorded && !scales && *remains == 1) {
      return Error{
          "--recorded-on alone changes nothing: it goes with --machine, --recorded-noise, "
          "--latency or --bandwidth"};
    }
    if (recorded && scales) {
      scenario.perturbation.links = predict::from_to(*recorded, *recorded).links;
      if (!scenario.perturbation.changes_links() && *remains == 1) {
        return Error{fmt::format("'{}' says nothing of messages", arguments.recorded_on.string())};
      }
    }
    return {};
  }
  if (!recorded) {
    return Error{
        "a run on another machine is predicted from how the two differ: name the file of "
        "the one that it was recorded on, too, with --recorded-on"};
  }
  return move_run(*recorded, arguments, scenario.perturbation);
}

Result<void> set_perturbation(const WhatIfArguments& arguments, predict::Scenario& scenario) {
  if (!arguments.noise.empty()) {
    auto noise = predict::noise_of(arguments.noise);
    if (!noise) return noise.error();
    scenario.perturbation.noise.push_back({std::move(*noise), 1});
  }
  if (!arguments.message_delay.empty()) {
    auto delay = predict::parse_distribution(arguments.message_delay);
    if (!delay) return delay.error();
    scenario.perturbation.message_delay = std::move(*delay);
  }
  scenario.repeats = arguments.repeats;
  scenario.seed = arguments.seed;
  return set_machines(arguments, scenario);
}

Result<predict::Scenario> scenario_of(const WhatIfArguments& arguments) {
  predict::Scenario scenario;
  for (const std::string& text : arguments.scaled) {
    auto scaling = parse_scaling(text);
    if (!scaling) return scaling.error();
    scenario.scalings.push_back(std::move(*scaling));
  }
  for (const std::string& glob : arguments.removed) scenario.scalings.push_back({glob, 0, true});
  scenario.balanced = arguments.balanced;
  for (const auto& [text, set] :
       {std::pair(&arguments.ranks, &scenario.ranks), {&arguments.threads, &scenario.threads}}) {
    if (!*text) continue;
    auto numbers = report::parse_ranks(**text);
    if (!numbers) return numbers.error();
    *set = std::move(*numbers);
    if (scenario.scalings.empty() && scenario.balanced.empty()) {
      return Error{
          "--rank and --thread choose whose code is changed: say which with --scale, --remove or "
          "--balance; all else holds for all ranks"};
    }
  }
  if (auto set = set_factors(arguments, scenario); !set) return set.error();
  if (auto set = set_perturbation(arguments, scenario); !set) return set.error();
  if (!arguments.over.empty() && arguments.balanced.empty()) {
    return Error{"--over says who shares what is balanced: say that with --balance"};
  }
  if (arguments.over == "ranks") scenario.over = predict::Over::ranks;
  if (arguments.over == "threads") scenario.over = predict::Over::threads;
  if (arguments.over == "all") scenario.over = predict::Over::all;
  if (arguments.locks == "recorded") scenario.locks = predict::LockOrder::recorded;
  if (!scenario.changes_anything() && !arguments.sensitivity && arguments.machine.empty()) {
    return Error{
        "nothing is to be changed: say what, as in --scale 'solve=0.5' or --balance solve"};
  }
  return scenario;
}

/// An experiment's trace, or an archive's.
Result<OpenTrace> open_input(const fs::path& input, unsigned jobs, Losses& losses) {
  std::error_code code;
  if (fs::is_directory(input, code)) {
    const auto info = read_info(input);
    if (!info) return info.error();
    if (!fs::exists(trace_of(input, *info), code)) {
      return Error{"'" + input.string() +
                   "' contains neither a trace nor records: a prediction needs them"};
    }
    return open_trace(input, *info, jobs, losses);
  }
  auto archive = trace::open_otf2(input, losses);
  if (!archive) return archive.error();
  OpenTrace opened;
  opened.source = std::move(*archive);
  return opened;
}

/// Stores the prediction as an experiment with the trace of the predicted run, so that it can be
/// viewed and analysed like any other.
int keep(predict::Prediction prediction, const WhatIfArguments& arguments,
         const std::string& change) {
  const blame::Findings& recorded = prediction.recorded;
  blame::Findings findings = std::move(prediction.predicted);
  findings.inputs.push_back({arguments.input.string(), blame::InputRole::before,
                             recorded.run.command, recorded.run.ranks, recorded.run.locations,
                             recorded.run.wall_s, recorded.run.allocation_s,
                             recorded.identities.waiting_s});
  findings.run.notes.push_back(
      fmt::format("This run never took place: it is {}, executed again with {}.",
                  arguments.input.string(), change));
  if (prediction.sampled.repeats > 1) {
    findings.run.notes.push_back(
        fmt::format("It is the first of {} executions with random numbers, which take {:.3f} s on "
                    "average.",
                    prediction.sampled.repeats, prediction.sampled.mean_s));
  }
  const fs::path folder = fs::absolute(arguments.output);
  const int status =
      keep_derived(std::move(findings), blame::Operation::what_if, {arguments.input}, folder);
  if (status != 0) return status;
  Losses told;  // the findings contain them
  auto written = trace::export_otf2(*prediction.trace, folder / "trace", arguments.jobs, told);
  return written ? 0 : fail(written.error());
}

int what_if(const WhatIfArguments& arguments) {
  const auto scenario = scenario_of(arguments);
  if (!scenario) return fail(scenario.error());
  if (auto is_new = check_new(arguments.output); !is_new) return fail(is_new.error());
  Losses losses;
  const auto opened = open_input(arguments.input, arguments.jobs, losses);
  if (!opened) return fail(opened.error());
  auto prediction =
      predict::what_if(*opened->source, *scenario, arguments.jobs, losses, arguments.sensitivity);
  if (!prediction) return fail(prediction.error());
  const bool text = arguments.format == "text";
  if (!print(text ? report::prediction_text(*prediction, *scenario)
                  : report::prediction_json(*prediction, *scenario))) {
    return fail(lost_output());
  }
  if (arguments.output.empty()) return 0;
  return keep(std::move(*prediction), arguments, report::scenario_words(*scenario));
}

}  // namespace

Action add_what_if(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<WhatIfArguments>();
  WhatIfArguments& a = *arguments;
  command.add_option("experiment", a.input, "an experiment folder, or an OTF2 trace")->required();
  command.add_option("--scale", a.scaled,
                     "code that takes so much of its time, with what it calls, as in "
                     "'main/*/forces=0.5'; without a slash, functions of that name; factors of "
                     "several multiply");
  command.add_option("--remove", a.removed,
                     "code that takes no time at all, with its calls of MPI; what it sends is sent "
                     "at once, and where it meets other ranks it still does");
  command.add_option(
      "--balance", a.balanced,
      "code that is spread evenly over all who could share it, between operations that they pass "
      "together");
  command
      .add_option("--over", a.over,
                  "who could share it: ranks, threads of each process, or all threads (default: "
                  "threads, where there is one process, else ranks)")
      ->check(CLI::IsMember({"all", "ranks", "threads"}));
  command.add_option("--rank", a.ranks,
                     "what is scaled, removed or balanced, on these ranks alone, as in 0,4-7");
  command.add_option("--thread", a.threads, "likewise, on these threads of each process");
  command.add_option("--latency", a.latency, "factor on what small messages take, as in x0.5");
  command.add_option("--bandwidth", a.bandwidth, "factor on bytes per second, as in x2");
  command.add_option("--device-kernels", a.kernels, "factor on the time of all kernels");
  command.add_option("--launch-latency", a.launch_latency,
                     "factor on what operations of devices take to begin, as in 0");
  command.add_option(
      "--noise", a.noise,
      "noise that comes on top, as in 'exponential(10us)@1kHz' of work, or a file of "
      "culprit machine");
  command.add_option("--recorded-noise", a.recorded_noise,
                     "factor on the noise that there was (--recorded-on says how much), as in 0");
  command.add_option("--message-delay", a.message_delay,
                     "what each message takes longer, and each round of a collective operation, as "
                     "in 'constant(10us)'");
  command.add_option("--machine", a.machine,
                     "a file of culprit machine: the run on that machine, its noise and messages");
  command.add_option("--recorded-on", a.recorded_on,
                     "the same of the machine that the run was recorded on");
  command.add_option("--repeats", a.repeats, "executions with other random numbers")
      ->check(CLI::Range(1, 100000));
  command.add_option("--seed", a.seed, "of the random numbers");
  command.add_flag("--sensitivity", a.sensitivity,
                   "also say how much longer the run gets with a higher latency, by call path");
  command.add_option("--locks", a.locks, "who has a lock first: decided anew, or as recorded")
      ->check(CLI::IsMember({"decided", "recorded"}));
  command.add_option("--format", a.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command.add_option("-o,--output", a.output,
                     "keep the predicted run as an experiment, for report, view and diff");
  command.add_option("-j,--jobs", a.jobs, "threads to use (default: all cores)");
  return [arguments] { return what_if(*arguments); };
}

}  // namespace culprit::cli
