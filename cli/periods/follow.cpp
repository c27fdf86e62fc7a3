// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An update about a running run takes as long as reading its records. The next one begins when it
// is due, or at once if it is late.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "assemble/assemble.h"
#include "base/printable.h"
#include "cli/experiment.h"
#include "cli/message.h"
#include "cli/periods/look.h"
#include "cli/terminal.h"
#include "report/json/periods_json.h"
#include "report/text_page/periods.h"

namespace culprit::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr log::Component kLog("periods");
/// The longest time that a program may take until its first record.
constexpr std::chrono::seconds kLongestStart{60};

std::string told(const PeriodsArguments& arguments, const FoundPeriods& found) {
  if (arguments.format == "json") return report::periods_json(found.rows, found.now_s);
  std::string text;
  for (const blame::FoundPeriod& row : found.rows) {
    text += fmt::format("{:.3f} s  {}\n", found.now_s, report::period_line(row, found.now_s));
  }
  return printable(text, "\n");
}

/// False if the run has ended without a record, or there are none after a long time.
bool has_begun(const std::filesystem::path& experiment) {
  const auto begin = Clock::now();
  while (!assemble::still_runs(experiment)) {
    if (assemble::read_facts(experiment) || Clock::now() - begin > kLongestStart) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

}  // namespace

int follow_periods(const PeriodsArguments& arguments) {
  if (const auto info = read_info(arguments.input); !info) return fail(info.error());
  if (!has_begun(arguments.input)) {
    return fail({"there is no run to follow in '" + arguments.input.string() +
                 "': leave out --follow for one that has ended"});
  }
  auto due = Clock::now();
  bool has_told = false;
  Error why{"the run ended before it could be looked at"};
  while (assemble::still_runs(arguments.input)) {
    const auto found = look_for_periods(arguments);
    if (found) {
      has_told = true;
      if (!print(told(arguments, *found))) return fail(lost_output());
    } else {
      why = found.error();  // perhaps the selected part has not begun yet
    }
    due = std::max(due + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(arguments.every_s)),
                   Clock::now());
    std::this_thread::sleep_until(due);
  }
  if (!has_told) return fail(why);
  kLog.info("the run has ended");
  return 0;
}

}  // namespace culprit::cli
