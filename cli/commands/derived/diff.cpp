// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// culprit diff: the changes between two runs, or between repeats of both; and a condition on them,
// for continuous integration.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "blame/algebra/compare.h"
#include "blame/algebra/scaling.h"
#include "cli/commands/derived/derive.h"
#include "cli/commands/derived/diff_formats.h"
#include "cli/commands/option_checks.h"
#include "cli/commands/subcommands.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "report/verdict/change_words.h"
#include "report/words/displayed.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

struct DiffArguments {
  std::vector<fs::path> pair, before, after;
  fs::path output;
  std::string fail_if;
  std::string format = "text";
  std::string scaling;  ///< a word of Scaling; empty: nothing was scaled
  /// Of long runs: one for all, or one for those before and one for those after; none: whole runs.
  std::vector<uint64_t> windows;

  std::optional<uint64_t> window_before() const {
    return windows.empty() ? std::nullopt : std::optional(windows.front());
  }
  std::optional<uint64_t> window_after() const {
    return windows.empty() ? std::nullopt : std::optional(windows.back());
  }
};

/// An experiment's name in the result.
fs::path name_of(const fs::path& input, std::optional<uint64_t> window) {
  return window ? fs::path(fmt::format("{} (window {})", input.string(), *window)) : input;
}

/// "waiting > +5%", "delay(solve*) > 0.2s".
struct Condition {
  blame::ChangedFigure figure{};
  std::string regions;  ///< a glob; empty: the whole run
  bool more = true;     ///< than the limit; otherwise less
  double limit = 0;
  bool relative = false;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The last part of a condition. False if it is no number with a unit.
bool parse_limit(std::string_view text, Condition& condition) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), condition.limit);
  if (error != std::errc() || !std::isfinite(condition.limit)) return false;
  const std::string_view unit = trimmed(text.substr(static_cast<size_t>(end - text.data())));
  condition.relative = unit == "%";
  if (unit == "%") condition.limit /= 100;
  if (unit == "ms") condition.limit *= 1e-3;
  if (unit == "us") condition.limit *= 1e-6;
  return unit == "%" || unit == "s" || unit == "ms" || unit == "us";
}

Result<Condition> parse_condition(const std::string& text) {
  const Error wrong{fmt::format(
      "'{}' is no condition: say as in 'waiting > +5%' or 'delay(solve*) > 20ms', of {}", text,
      "wall, time, waiting, delay or critical")};
  const size_t at = text.find_first_of("<>");
  if (at == std::string::npos) return wrong;
  Condition condition;
  condition.more = text[at] == '>';
  std::string_view name = trimmed(std::string_view(text).substr(0, at));
  if (const size_t open = name.find('('); open != std::string_view::npos) {
    if (!name.ends_with(')')) return wrong;
    condition.regions = name.substr(open + 1, name.size() - open - 2);
    name = trimmed(name.substr(0, open));
  }
  const auto figure = find_word<blame::ChangedFigure>(name);
  if (!figure || !parse_limit(std::string_view(text).substr(at + 1), condition)) return wrong;
  const bool of_functions =
      *figure == blame::ChangedFigure::delay || *figure == blame::ChangedFigure::critical;
  if (of_functions && condition.regions.empty()) condition.regions = "*";
  if (*figure == blame::ChangedFigure::wall && !condition.regions.empty()) return wrong;
  condition.figure = *figure;
  return condition;
}

using Runs = std::vector<const blame::Findings*>;

/// Returns a sentence if the condition holds and the change exceeds run-to-run noise.
std::optional<std::string> holds(const Condition& condition, const Runs& runs_before,
                                 const Runs& runs_after) {
  const blame::FoundChange found =
      blame::change_in(runs_before, runs_after, condition.figure, condition.regions);
  const double before = found.before_s, after = found.after_s, change = after - before;
  const double limit = condition.relative ? condition.limit * before : condition.limit;
  if (condition.more ? change <= limit : change >= limit) return std::nullopt;
  if (found.noise_s >= 0 && !found.exceeds_noise) return std::nullopt;
  const report::TimeFormat time(std::max(before, after));
  return fmt::format("{} changed by {}{} (from {} to {})", to_string(condition.figure),
                     change < 0 ? "-" : "+", time(std::abs(change)), time(before), time(after));
}

/// Error if a run is given twice: it would show no run-to-run noise.
Result<void> check_repeats(const DiffArguments& arguments) {
  if (arguments.before.size() + arguments.after.size() <= 2) return {};
  std::set<fs::path> known;
  for (const auto* runs : {&arguments.before, &arguments.after}) {
    for (const fs::path& run : *runs) {
      std::error_code code;
      const fs::path whole = fs::weakly_canonical(run, code);
      if (!code && !known.insert(whole).second) {
        return Error{"'" + run.string() + "' is given twice: repeats are other runs"};
      }
    }
  }
  return {};
}

/// Returns the difference, after all checks of the arguments.
Result<blame::Findings> difference_of(const DiffArguments& arguments, const Runs& before,
                                      const Runs& after, const std::vector<fs::path>& inputs) {
  std::vector<std::string> names;
  for (const fs::path& input : inputs) names.push_back(input.string());
  blame::Findings found = blame::difference(before, after, names);
  if (const auto scaling = find_word<blame::Scaling>(arguments.scaling)) {
    auto added = blame::add_scaling_losses(before, after, *scaling, found);
    if (!added) return added.error();
  }
  return found;
}

std::string text_of(const DiffArguments& arguments, const blame::Findings& found,
                    const std::optional<std::string>& met) {
  const JudgedChange judged{arguments.fail_if, met};
  if (arguments.format == "markdown") return change_in_markdown(found, judged);
  if (arguments.format == "junit") return change_in_junit(found, judged);
  return report::wrapped(report::change_sentence(found), 0);
}

int compare(DiffArguments& arguments, const std::optional<Condition>& condition) {
  const auto before = open_all(arguments.before, arguments.window_before());
  const auto after = open_all(arguments.after, arguments.window_after());
  if (!before) return fail(before.error());
  if (!after) return fail(after.error());
  if (auto good = refuse_differences(arguments.before, *before); !good) return fail(good.error());
  if (auto good = refuse_differences(arguments.after, *after); !good) return fail(good.error());
  Runs a, b;
  std::vector<fs::path> inputs;
  for (const fs::path& each : arguments.before) {
    inputs.push_back(name_of(each, arguments.window_before()));
  }
  for (const fs::path& each : arguments.after) {
    inputs.push_back(name_of(each, arguments.window_after()));
  }
  for (const blame::Findings& each : *before) a.push_back(&each);
  for (const blame::Findings& each : *after) b.push_back(&each);
  if (condition && !condition->regions.empty() && !blame::has_region(a, condition->regions) &&
      !blame::has_region(b, condition->regions)) {
    return misused({fmt::format("'{}': no run has a function like '{}'", arguments.fail_if,
                                condition->regions)});
  }
  auto found = difference_of(arguments, a, b, inputs);
  if (!found) return fail(found.error());
  const blame::Findings shown = report::displayed(*found);
  const auto met = condition ? holds(*condition, a, b) : std::nullopt;
  if (!print(text_of(arguments, shown, met))) return fail(lost_output());
  const int status =
      keep_derived(std::move(*found), blame::Operation::diff, inputs, arguments.output);
  if (status != 0 || !met) return status;
  log::Component("diff").error("{}: {}", arguments.fail_if, *met);
  return kRegression;
}

int diff(DiffArguments arguments) {
  if (!arguments.pair.empty()) {
    if (!arguments.before.empty() || !arguments.after.empty()) {
      return fail({"name either two experiments, or repeats with --before and --after"});
    }
    arguments.before = {arguments.pair[0]};
    arguments.after = {arguments.pair[1]};
  }
  if (arguments.before.empty() || arguments.after.empty()) {
    return fail({"name two experiments, or repeats of both with --before and --after"});
  }
  if (arguments.windows.size() > 2) return fail({"name one window, or one for each side: 3,9"});
  if (auto checked = check_repeats(arguments); !checked) return fail(checked.error());
  if (auto checked = check_new(arguments.output); !checked) return fail(checked.error());
  std::optional<Condition> condition;
  if (!arguments.fail_if.empty()) {
    auto parsed = parse_condition(arguments.fail_if);
    if (!parsed) return misused(parsed.error());
    condition = *parsed;
  }
  return compare(arguments, condition);
}

}  // namespace

Action add_diff(CLI::App& command, const Program&) {
  auto arguments = std::make_shared<DiffArguments>();
  command.add_option("experiments", arguments->pair, "the experiment before, and the one after")
      ->expected(2);
  command.add_option("--before", arguments->before, "repeats of the run before, instead of one");
  command.add_option("--after", arguments->after, "repeats of the run after");
  command.add_option("-o,--output", arguments->output,
                     "the experiment folder to create (default: culprit.diff.<time>)");
  command
      .add_option("--format", arguments->format,
                  "how the change is printed: text, a sentence; markdown, for a comment; junit, a "
                  "test that fails if the condition of --fail-if holds")
      ->check(CLI::IsMember({"text", "markdown", "junit"}));
  command
      .add_option(
          "--window", arguments->windows,
          "of long runs, compare this window (0: the part from the begin of which everything "
          "is recorded); or one before and one after, as in 3,9")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--scaling", arguments->scaling,
                  "the runs after have more ranks or threads; say what that lost by call path, if "
                  "the work is the same (strong) or in proportion (weak)")
      ->check(CLI::IsMember({"weak", "strong"}));
  command
      .add_option(
          "--fail-if", arguments->fail_if,
          fmt::format("exit with {} if this holds, as in 'waiting > +5%', 'wall > 0.2s' or "
                      "'delay(solve*) > 10%'; where there are repeats, only if it exceeds noise",
                      kRegression))
      ->check(not_empty());
  return [arguments] { return diff(*arguments); };
}

}  // namespace culprit::cli
