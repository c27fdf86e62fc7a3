// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each list has one base, which its label names: savings are of the run, and so is time on the
// critical path; the verdict's shares and the efficiency are of the threads' time.
#include "report/text_page/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "blame/judge/diagnose.h"
#include "blame/judge/summary.h"
#include "report/text_page/glance.h"
#include "report/text_page/head.h"
#include "report/text_page/lines.h"
#include "report/verdict/apart/spare_threads.h"
#include "report/verdict/device_words.h"
#include "report/verdict/savings.h"
#include "report/verdict/verdict.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::Proportion;

constexpr size_t kMostRows = 5;
constexpr size_t kMostFunctions = 3;
constexpr double kWorthARow = 0.1;         ///< of the first row; smaller ones are left out
constexpr double kFunctionMatters = 0.05;  ///< of the whole
/// Of the run: where no saving is as large, the reader wants to know what else takes the time.
constexpr double kLargeSaving = 0.05;

/// "  0.30 s  28 %  resolve_contacts (hybrid_chain.c:26) on rank 0 thread 1, halved".
std::string row(const std::string& time, Proportion share, const std::string& words) {
  constexpr size_t kTime = 11, kShare = 7;
  const std::string figures =
      fmt::format("{}{}  ", right(time, kTime), right(rounded(share), kShare));
  if (page_width() < kRoomBeside) return wrapped(figures + words, 2);
  std::string lines = wrapped(words, figures.size());
  return lines.replace(0, figures.size(), figures);
}

std::string saving_rows(const Verdict& verdict, const Findings& findings, const TimeFormat& time) {
  if (verdict.savings.empty()) return "";
  std::string page =
      fmt::format("\nEach would shorten the run of {} by\n", time(findings.run.wall_s));
  size_t rows = 0;
  for (const Saving& each : verdict.savings) {
    const bool little = each.gain_s < kWorthARow * verdict.savings.front().gain_s;
    if (rows == kMostRows || little) break;
    page += row(time(each.gain_s),
                Proportion::of(Amount<blame::Run>(each.gain_s), blame::run_time(findings)),
                fmt::format("{}, {}", each.what, each.change));
    ++rows;
  }
  return page;
}

/// Where nothing is known to save much time, the functions that take most of it.
std::string function_rows(const Findings& findings, const PageNames& names,
                          const TimeFormat& time) {
  const bool has_path = !findings.critical_callpaths.empty();
  const double whole_s = has_path ? findings.run.wall_s : findings.run.allocation_s;
  std::string rows;
  size_t count = 0;
  for (const blame::FunctionTime& each :
       has_path ? blame::critical_functions(findings) : blame::busy_functions(findings)) {
    if (count++ == kMostFunctions || each.time_s < kFunctionMatters * whole_s) break;
    rows += row(time(each.time_s),
                Proportion::of(Amount<blame::Row>(each.time_s), Amount<blame::Row>(whole_s)),
                names.code(each.example));
  }
  if (rows.empty()) return "";
  const std::string whole = time(whole_s);
  return (has_path ? fmt::format("\nMost of the run's {}\n", whole)
                   : fmt::format("\nMost of the threads' {}\n", whole)) +
         rows;
}

/// A sentence without its explanation, which the full page has.
std::string in_short(const std::string& sentence) {
  const size_t end = std::min(sentence.find(": "), sentence.find(". "));
  return end == sentence.npos ? sentence : sentence.substr(0, end) + '.';
}

/// The two commands that lead further.
std::string next_commands(const std::string& experiment) {
  if (experiment.empty()) return "";
  return fmt::format("\nMore:    culprit report {0} --full\nBrowser: culprit view {0}\n",
                     experiment);
}

class Screen {
 public:
  Screen(const Findings& findings, const std::string& experiment)
      : findings_(findings),
        names_(findings),
        time_(findings.run.wall_s),
        verdict_(judge(findings, names_)),
        experiment_(experiment) {}

  std::string write() const {
    std::string page = head_in_short(findings_, time_) + '\n';
    page += wrapped(verdict_.text.empty() ? nothing() : verdict_.text, 0);
    page += lines();
    if (!verdict_.warning.empty()) page += wrapped("Warning: " + verdict_.warning, 0);
    page += notes();
    if (verdict_.judges_speed()) page += speed();
    const std::string spare = spare_threads_in_short(findings_, names_, time_);
    if (!spare.empty()) page += wrapped(spare, 0);
    return page + next_commands(experiment_);
  }

 private:
  std::string nothing() const {
    return findings_.locations.size() > 1 ? "No thread waited for another."
                                          : "One thread ran alone, and waited for no other.";
  }

  /// Of the function that the verdict names first.
  std::string lines() const {
    if (verdict_.kind != VerdictKind::cause || verdict_.causes.empty()) return "";
    const blame::FoundCallPath* const function = names_.find(verdict_.causes.front().example);
    return function == nullptr ? "" : wrapped(lines_sentence(findings_, *function), 0);
  }

  /// Figures that are not those of a whole run, measured, have a note that says what they are;
  /// where little was found, one may say why.
  std::string notes() const {
    const bool is_derived = findings_.run.operation != blame::Operation::none ||
                            (findings_.critical_path.empty() && findings_.delays.empty());
    const bool found_little = verdict_.kind == VerdictKind::nothing ||
                              verdict_.kind == VerdictKind::hardly_any_waiting ||
                              verdict_.kind == VerdictKind::failed;
    if (!is_derived && !found_little) return "";
    const std::vector<std::string>& notes = findings_.run.notes;
    if (is_derived) return notes.empty() ? "" : wrapped("Note: " + in_short(notes.front()), 0);
    std::string lines;
    for (const std::string& note : notes) lines += wrapped("Note: " + note, 0);
    return lines;
  }

  std::string speed() const {
    std::string page;
    if (const std::string efficiency = efficiency_line(findings_); !efficiency.empty()) {
      page += wrapped("Efficiency: " + efficiency, 0);
    }
    if (const std::string devices = device_verdict(findings_, names_);
        !verdict_.text.ends_with(devices)) {
      page += wrapped(devices, 0);
    }
    const std::string savings = saving_rows(verdict_, findings_, time_);
    const double most_s = verdict_.savings.empty() ? 0 : verdict_.savings.front().gain_s;
    const bool little = most_s < kLargeSaving * findings_.run.wall_s;
    return page + savings + (little ? function_rows(findings_, names_, time_) : "");
  }

  const Findings& findings_;
  const PageNames names_;
  const TimeFormat time_;
  const Verdict verdict_;
  const std::string experiment_;
};

}  // namespace

std::string first_screen(const Findings& findings, const std::filesystem::path& experiment) {
  return Screen(findings, experiment.string()).write();
}

}  // namespace culprit::report
