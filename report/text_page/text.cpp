// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The report for people: one page that is understandable without knowing culprit. It goes from the
// general to the particular: what ran, how much of it was waiting, who made others wait, where they
// waited, the critical path, and what the result does not cover. Every figure stands with its share
// of a whole that is named; rows are joined over locations, and the worst locations are named.
// Nothing here computes: sums come from summary.h.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "blame/judge/causes.h"
#include "blame/judge/diagnose.h"
#include "blame/judge/evidence.h"
#include "blame/judge/summary.h"
#include "report/formats.h"
#include "report/table/groups.h"
#include "report/text_page/arrivals.h"
#include "report/text_page/changes.h"
#include "report/text_page/cores.h"
#include "report/text_page/devices.h"
#include "report/text_page/first_screen.h"
#include "report/text_page/glance.h"
#include "report/text_page/head.h"
#include "report/text_page/lines.h"
#include "report/text_page/messages.h"
#include "report/text_page/models.h"
#include "report/text_page/periods.h"
#include "report/text_page/threads.h"
#include "report/text_page/windows.h"
#include "report/verdict/apart/paragraphs.h"
#include "report/verdict/apart/spare_threads.h"
#include "report/verdict/effects.h"
#include "report/verdict/gains.h"
#include "report/verdict/places.h"
#include "report/verdict/stuck.h"
#include "report/verdict/verdict.h"
#include "report/words/counts.h"
#include "report/words/displayed.h"
#include "report/words/layout.h"
#include "report/words/names.h"
#include "report/words/patterns.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Findings;
using blame::OwnWaiting;
using blame::Proportion;
using blame::Waiting;

constexpr size_t kTopRows = 5;
constexpr size_t kWithSource = 3;       ///< entries that show source lines, where there are sources
constexpr double kRowMatters = 0.01;    ///< of the whole; smaller rows are only counted
constexpr double kTrifle = 0.001;       ///< of the whole; not worth a line of any kind
constexpr double kShareMatters = 0.05;  ///< of the time of a row; less imbalance is not shown
constexpr double kListedIsEnough =
    0.5;  ///< of all waiting: then the listed call paths tell the story

/// Writes one report; holds what all sections need.
class Page {
 public:
  Page(const Findings& findings, const std::filesystem::path& experiment);
  std::string write();

 private:
  void write_stuck();
  void write_verdict();
  void write_time_spent();
  void write_blame();
  void write_blamed(size_t place, const blame::Blamed& blamed);
  void write_causes(const std::vector<blame::Blamed>& list, size_t shown);
  void write_waits();
  void write_critical_path();
  void write_counters();
  void write_polling();
  void write_stages();
  void write_periods();
  void write_user_patterns();
  void write_not_covered();
  void write_foot();

  void heading(std::string_view title) { page_ += fmt::format("\n{}\n", title); }
  void line(std::string_view text) { page_ += fmt::format("{}\n", text); }
  template <class Part, class Whole>
  void entry(std::string_view mark, Amount<Part> time, Amount<Whole> whole, std::string_view text);
  void more_line(size_t more, std::string_view what);

  const blame::FoundCallPath* path(CallPathId id) const { return name_.find(id); }
  std::string path_name(CallPathId id, size_t width) const { return name_.path(id, width); }
  std::string region_name(CallPathId id) const { return name_.region(id); }
  /// Returns a sentence on a pseudo-region, which is not in the program; else nothing.
  std::string_view meaning_of_nowhere(CallPathId id) const {
    const trace::PseudoRegion* pseudo = path(id) ? trace::pseudo_region(path(id)->region) : nullptr;
    return pseudo != nullptr ? pseudo->meaning : std::string_view();
  }
  std::string code_name(CallPathId id) const { return name_.code(id); }
  std::string location_name(LocationId id) const { return name_.location(id); }
  std::string worst(const std::vector<blame::Share>& shares) const {
    return worst_places(shares, name_, time_);
  }
  std::string variation(const std::vector<blame::Share>& shares) const;
  std::string why(const blame::Blamed& blamed);
  std::string whole_of(const blame::Blamed& blamed) const;

  const Findings& findings_;
  const std::filesystem::path experiment_;
  const TimeFormat time_;
  const PageNames name_;
  const blame::Evidence evidence_;
  const std::vector<blame::Cause> causes_;
  Sources sources_;
  std::set<std::string_view> advised_;  ///< patterns whose remedy stands on the page already
  std::string page_;
};

Page::Page(const Findings& findings, const std::filesystem::path& experiment)
    : findings_(findings),
      experiment_(experiment),
      time_(findings.run.wall_s),
      name_(findings),
      evidence_(findings),
      causes_(causes(findings)),
      sources_(Sources::around(findings, experiment)) {}

std::string Page::write() {
  write_stuck();
  page_ += head_section(findings_, time_);
  write_verdict();
  page_ += window_section(findings_, name_, time_);
  page_ += at_a_glance(findings_, name_);
  write_time_spent();
  write_blame();
  write_waits();
  page_ += parallelism_section(findings_, name_, time_);
  page_ += spread_section(findings_, name_, time_);
  page_ += kernel_section(findings_, name_, time_);
  page_ += spare_threads_section(findings_, name_, time_);
  page_ += core_section(findings_, time_);
  page_ += device_section(findings_, name_, time_);
  page_ += arrival_section(findings_, name_, time_);
  page_ += refill_section(findings_, time_);
  page_ += message_section(findings_, name_, time_);
  write_polling();
  write_critical_path();
  page_ += longest_waits(findings_, name_);
  write_counters();
  write_user_patterns();
  write_stages();
  write_periods();
  write_not_covered();
  write_foot();
  return fitted(printable(page_, "\n"));  // a text that was cut may end in half a character
}

// --- sections ---

void Page::write_stuck() {
  for (const std::string& sentence : stuck_sentences(findings_)) page_ += wrapped(sentence, 0);
  if (!findings_.stuck.empty()) page_ += '\n';
}

/// A time, its share of a whole, and what it is the time of; under the text there is room for more.
template <class Part, class Whole>
void Page::entry(std::string_view mark, Amount<Part> time, Amount<Whole> whole,
                 std::string_view text) {
  page_ += beside(fmt::format("{}{} {}", left(mark, 3), right(time_(time.seconds()), 11),
                              right(percent(Proportion::of(time, whole)), 8)),
                  text);
}

void Page::more_line(size_t more, std::string_view what) {
  if (more > 0) page_ += wrapped(fmt::format("and {}", counted(more, what)), text_column());
}

/// How many of a list, largest first, are worth a row: few, and none that hardly matters.
template <class Rows, class Size>
size_t worth_showing(const Rows& rows, double whole_s, Size size) {
  size_t count = 0;
  while (count < rows.size() && count < kTopRows &&
         (count == 0 || size(rows[count]) >= kRowMatters * whole_s)) {
    ++count;
  }
  return count;
}

/// The whole page in a sentence or two, for those who read no further.
void Page::write_verdict() {
  const Verdict verdict = judge(findings_, name_);
  if (!verdict.text.empty()) page_ += wrapped("Verdict: " + verdict.text, 0);
  if (!verdict.warning.empty()) page_ += wrapped("Warning: " + verdict.warning, 0);
  if (!verdict.more.empty())
    page_ += '\n' + wrapped(fmt::format("{}", fmt::join(verdict.more, " ")), 0);
  page_ += paragraphs_apart(findings_, name_, time_);
}

void Page::write_time_spent() {
  const blame::RunInfo& run = findings_.run;
  const double waiting = findings_.identities.waiting_s;
  heading("WHERE THE TIME WENT");
  if (findings_.locations.size() <= 1 && waiting <= 0) {
    page_ += wrapped("One thread ran alone: there was nothing for it to wait for.", 2);
    return;
  }
  if (blame::lacks_waits_of_mpi(findings_)) {
    page_ += wrapped("How much of the time in MPI was waiting, a profile does not know.", 2);
    if (waiting <= 0) return;
  }
  if (waiting <= 0) {
    page_ +=
        wrapped(fmt::format("No waiting time was found in {} of allocated time (summed over {}).",
                            time_(run.allocation_s), time_lines(findings_)),
                2);
    return;
  }
  page_ += wrapped(
      fmt::format("Allocated time (wall-clock time summed over {}): {}. Of this, {} ({}) was "
                  "waiting time:",
                  time_lines(findings_), time_(run.allocation_s), time_(waiting),
                  percent(Proportion::of(blame::waiting(findings_), blame::allocation(findings_)))),
      2);
  const std::vector<blame::PatternTotal> totals = waiting_by_pattern(findings_);
  size_t shown = 0;
  for (const blame::PatternTotal& total : totals) {
    if (shown > 0 && total.time_s < kTrifle * run.allocation_s) break;
    const PatternText* pattern = find_pattern(total.pattern);
    entry("", Amount<Waiting>(total.time_s), blame::allocation(findings_),
          pattern ? fmt::format("{}: {}", pattern->name, pattern->summary) : total.pattern);
    ++shown;
  }
  more_line(totals.size() - shown, "other pattern");
  // Waits caused by start-up in a cut may lie outside of the cut.
  if (findings_.run.operation == blame::Operation::cut) return;
  const double start_up = findings_.start_up.waiting_s;
  if (start_up < kTrifle * run.allocation_s) return;
  entry("", Amount<Waiting>(start_up), blame::allocation(findings_),
        "of this stems from start-up and shutdown (not among the root causes)");
}

void Page::write_blame() {
  const std::vector<blame::Blamed> list = blamed(findings_);
  const Amount<OwnWaiting> waiting = blame::own_waiting(findings_);
  if (findings_.identities.waiting_s <= 0) return;
  // Of a profile neither causes nor the critical path are known: that none was found would be
  // wrong.
  if (list.empty() && findings_.critical_path.empty()) return;
  heading("ROOT CAUSES: the code that made others wait");
  if (list.empty()) {
    page_ += wrapped("No cause was found for any of the waiting time.", 2);
  } else {
    page_ += wrapped(fmt::format("A delay is the extra time that the late side spent in this code. "
                                 "Cost: the waiting time it causes; share: of {}.",
                                 all_waiting(findings_)),
                     2);
  }
  const size_t shown = worth_showing(list, waiting.seconds(),
                                     [](const blame::Blamed& blamed) { return blamed.cost_s(); });
  for (size_t i = 0; i < shown; ++i) write_blamed(i + 1, list[i]);
  more_line(list.size() - shown, "other call path");
  write_causes(list, shown);
  for (const blame::FoundUnattributed& row : findings_.unattributed) {
    const Amount<OwnWaiting> time(row.time_s);
    if (time < kTrifle * waiting) continue;
    entry("", time, waiting,
          fmt::format("not attributed ({}): {}", pattern_name(row.pattern), to_string(row.reason)));
  }
}

/// Costs that are spread over many call paths may still be those of a few functions.
void Page::write_causes(const std::vector<blame::Blamed>& list, size_t shown) {
  const Amount<OwnWaiting> waiting = blame::own_waiting(findings_);
  Amount<OwnWaiting> listed;
  for (size_t i = 0; i < shown; ++i) listed += Amount<OwnWaiting>(list[i].cost_s());
  if (list.size() <= shown || listed >= kListedIsEnough * waiting) return;
  page_ +=
      wrapped(fmt::format("These {} call paths account for {} of {}. The same costs by "
                          "function:",
                          shown, percent(Proportion::of(listed, waiting)), all_waiting(findings_)),
              2);
  const size_t rows = worth_showing(causes_, waiting.seconds(),
                                    [](const blame::Cause& cause) { return cause.cost_s; });
  for (size_t i = 0; i < rows; ++i) {
    entry("", causes_[i].cost(), waiting, name_of(causes_[i], name_));
    page_ += wrapped("on " + worst(causes_[i].shares), text_column());
  }
  more_line(causes_.size() - rows, "other function");
}

/// A row is a call path, and the verdict names functions: what the row is a part of, if it is.
std::string Page::whole_of(const blame::Blamed& blamed) const {
  const auto cause = std::find_if(causes_.begin(), causes_.end(), [&](const auto& each) {
    return std::count(each.callpaths.begin(), each.callpaths.end(), blamed.callpath) > 0;
  });
  if (cause == causes_.end() || cause->cost_s < blamed.cost_s() / 2) {
    return "It waits itself: what it costs is charged to those it waits for.";
  }
  if (cause->callpaths.size() == 1 && !cause->callee.valid()) return "";
  const std::string name = name_of(*cause, name_);
  const Proportion all = Proportion::of(cause->cost(), blame::own_waiting(findings_));
  return fmt::format("It is part of {}, with {} in all.", name, percent(all));
}

void Page::write_blamed(size_t place, const blame::Blamed& blamed) {
  const blame::FoundCallPath* found = path(blamed.callpath);
  entry(fmt::format("{}.", place), Amount<OwnWaiting>(blamed.cost_s()),
        blame::own_waiting(findings_), code_name(blamed.callpath));
  page_ += wrapped("on " + worst(blamed.shares) + variation(blamed.shares), text_column());
  page_ += wrapped(delay_bounds(findings_, blamed.callpath), text_column());
  if (found && found->name != found->region) {
    line(std::string(text_column(), ' ') + "in " +
         path_name(blamed.callpath, room_behind(text_column() + 3)));
  }
  page_ += wrapped(whole_of(blamed), text_column());
  if (found && place <= kWithSource) page_ += source_lines(findings_, *found, sources_);
  const std::string spread = distribution_sentence(findings_, blamed.callpath);
  page_ += wrapped(spread.empty() ? why(blamed) : why(blamed) + ' ' + spread, text_column());
  page_ += wrapped(gain_sentence(findings_, blamed.callpath, time_), text_column());
  const std::string evidence = evidence_.sentence(blamed.callpath);
  if (!evidence.empty() && meaning_of_nowhere(blamed.callpath).empty()) {
    page_ += wrapped(evidence, text_column());
  }
}

/// ", variation over ranks 0.43": the coefficient, of runs of several ranks.
std::string Page::variation(const std::vector<blame::Share>& shares) const {
  std::map<uint32_t, double> by_rank;
  for (const blame::Share& share : shares) {
    by_rank[findings_.locations[share.location.index()].rank] += share.time_s;
  }
  const auto spread = spread_over(by_rank, findings_.run.ranks);
  return spread ? fmt::format("; variation over ranks {:.2f}", spread->variation) : "";
}

/// Returns how the cost arose, and what can be done.
std::string Page::why(const blame::Blamed& blamed) {
  std::string text = effects_in_words(blamed, name_, time_);
  const std::string_view meaning = meaning_of_nowhere(blamed.callpath);
  const PatternText* pattern =
      blamed.effects.empty() ? nullptr : find_pattern(blamed.effects.front().pattern);
  if (!meaning.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", meaning);
  } else if (pattern && advised_.insert(pattern->id).second) {
    text += fmt::format(" Try: {}.", pattern->remedy);
  }
  return text;
}

void Page::write_waits() {
  const std::vector<blame::PatternSum> list = suffered(findings_);
  if (list.empty()) return;
  heading("WAIT STATES: where time was lost  (share: of allocated time)");
  const size_t shown = worth_showing(list, findings_.identities.waiting_s,
                                     [](const blame::PatternSum& wait) { return wait.time_s; });
  for (size_t i = 0; i < shown; ++i) {
    const blame::PatternSum& wait = list[i];
    entry("", Amount<Waiting>(wait.time_s), blame::allocation(findings_),
          path_name(wait.callpath, room_behind(text_column())));
    page_ +=
        wrapped(fmt::format("{}, {}: {}{}", pattern_name(wait.pattern), counted(wait.count, "time"),
                            worst(wait.shares), variation(wait.shares)),
                text_column());
    page_ += wrapped(wait_bounds(findings_, wait.callpath, wait.pattern), text_column());
  }
  more_line(list.size() - shown, "other place");
}

void Page::write_critical_path() {
  const std::vector<blame::OnCriticalPath> list = on_critical_path(findings_);
  if (list.empty()) return;
  heading("CRITICAL PATH: what determines the run time  (share: of wall-clock time)");
  page_ += wrapped(
      "The chain of work, free of waiting, that determines the run time: only faster code on it "
      "shortens the run. Imbalance: what would be saved if this work were evenly distributed.",
      2);
  const size_t shown = worth_showing(list, findings_.run.wall_s,
                                     [](const blame::OnCriticalPath& item) { return item.time_s; });
  for (size_t i = 0; i < shown; ++i) {
    const blame::OnCriticalPath& item = list[i];
    entry("", Amount<blame::Run>(item.time_s), blame::run_time(findings_),
          path_name(item.callpath, room_behind(text_column())));
    std::string text = worst(item.shares);
    if (item.imbalance_s > 0 && item.imbalance_s >= kShareMatters * item.time_s) {
      text += fmt::format("{}{} of this is imbalance", text.empty() ? "" : "; ",
                          time_(item.imbalance_s));
    }
    page_ += wrapped(text, text_column());
  }
  more_line(list.size() - shown, "other call path");
}

/// The call paths in which counted time went, with what was counted there.
void Page::write_counters() {
  const std::vector<blame::CountedPath> list = counted_paths(findings_);
  if (list.empty()) return;
  // In a merge, counters come from several runs, each with its own run time.
  const bool merged = findings_.run.operation == blame::Operation::merge;
  double whole_s = findings_.run.allocation_s;
  if (merged) {
    whole_s = 0;
    for (const blame::CountedPath& path : list) whole_s += path.time_s;
  }
  heading(fmt::format("COUNTERS  (share: of {})", merged ? "counted time" : "allocated time"));
  const size_t shown =
      worth_showing(list, whole_s, [](const blame::CountedPath& path) { return path.time_s; });
  for (size_t i = 0; i < shown; ++i) {
    entry("", Amount<blame::Row>(list[i].time_s), Amount<blame::Row>(whole_s),
          path_name(list[i].callpath, room_behind(text_column())));
    page_ += wrapped(counts_in_words(findings_.metrics, list[i]), text_column());
  }
  more_line(list.size() - shown, "other call path");
}

/// One line: it may well be time well spent.
void Page::write_polling() {
  std::vector<blame::Share> shares;  // by location
  double sum_s = 0;
  for (const blame::FoundPolling& row : findings_.polling) {
    sum_s += row.time_s;
    const auto known = std::find_if(shares.begin(), shares.end(), [&](const blame::Share& share) {
      return share.location == row.location;
    });
    if (known == shares.end()) {
      shares.push_back({row.location, row.time_s});
    } else {
      known->time_s += row.time_s;
    }
  }
  if (sum_s <= 0) return;
  std::stable_sort(shares.begin(), shares.end(), [](const blame::Share& a, const blame::Share& b) {
    return a.time_s > b.time_s;
  });
  const blame::FoundPolling& most = findings_.polling.front();
  heading("POLLING: not counted as waiting  (share: of allocated time)");
  entry("", Amount<blame::Allocation>(sum_s), blame::allocation(findings_),
        path_name(most.callpath, room_behind(text_column())));
  page_ += wrapped(
      fmt::format(
          "Most of it here: unsuccessful tests until the message was sent, on {}. Work done "
          "between the tests is included.",
          worst(shares)),
      text_column());
  if (findings_.polling_causes.empty()) return;
  const blame::FoundPollingCause& cause = findings_.polling_causes.front();
  page_ += wrapped(
      fmt::format("Caused by {} on {} ({})", path_name(cause.callpath, room_behind(text_column())),
                  location_name(cause.location), time_(cause.time_s)),
      text_column());
}

/// Writes the sum of each user-defined pattern, and the place with most of it.
void Page::write_user_patterns() {
  if (findings_.user_patterns.empty()) return;
  heading("PATTERNS OF YOUR OWN: in no other sum  (share: of allocated time)");
  for (const blame::FoundUserPattern& pattern : findings_.user_patterns) {
    double sum_s = 0;
    const blame::FoundUserWait* most = nullptr;
    for (const blame::FoundUserWait& row : findings_.user_waits) {
      if (row.pattern != pattern.name) continue;
      sum_s += row.time_s;
      if (most == nullptr || row.time_s > most->time_s) most = &row;
    }
    entry("", Amount<blame::Allocation>(sum_s), blame::allocation(findings_),
          fmt::format("{}: {}", pattern.name, pattern.summary));
    if (most == nullptr) continue;
    page_ += wrapped(fmt::format("most of it on {} in {} ({})", location_name(most->location),
                                 path_name(most->callpath, page_width() / 2), time_(most->time_s)),
                     text_column());
  }
}

void Page::write_stages() {
  const std::vector<blame::FoundStage>& stages = findings_.stages;
  if (stages.empty()) return;
  // A cut knows them of the whole run alone.
  const bool whole = findings_.run.operation == blame::Operation::cut && !findings_.inputs.empty();
  const double all_s = whole ? findings_.inputs.front().allocation_s : findings_.run.allocation_s;
  heading(fmt::format(
      "PHASES AND ITERATIONS  ({})",
      whole ? "of the whole run; share: of its allocated time" : "share: of allocated time"));
  const auto waiting = [](const blame::FoundStage& stage) {
    return fmt::format("{} of it waiting time",
                       percent(Proportion::of(Amount<blame::Row>(stage.waiting_s),
                                              Amount<blame::Row>(stage.time_s))));
  };
  for (size_t i = 0; i < stages.size();) {
    const blame::FoundStage& first = stages[i];
    blame::FoundStage sum = first;
    const blame::FoundStage* slowest = &first;
    size_t count = 1;
    for (++i; i < stages.size() && stages[i].kind == first.kind && stages[i].name == first.name;
         ++i, ++count) {
      sum.time_s += stages[i].time_s;
      sum.waiting_s += stages[i].waiting_s;
      if (stages[i].longest_s > slowest->longest_s) slowest = &stages[i];
    }
    const bool loop = first.kind == blame::StageKind::iteration;
    entry("", Amount<blame::Row>(sum.time_s), Amount<blame::Row>(all_s),
          fmt::format("{}: {}{}", first.name, loop ? counted(count, "iteration") + ", " : "",
                      waiting(sum)));
    page_ +=
        wrapped(loop ? fmt::format("slowest: iteration {} with {} on {}, {}", slowest->number,
                                   time_(slowest->longest_s),
                                   location_name(slowest->longest_location), waiting(*slowest))
                     : fmt::format("{}, the longest took {} on {}", counted(sum.visits, "visit"),
                                   time_(sum.longest_s), location_name(sum.longest_location)),
                text_column());
  }
}

void Page::write_periods() {
  if (findings_.periods.empty()) return;
  heading("PERIODS  (docs/periods.md)");
  page_ += periods_section(findings_.periods);
}

std::string_view spoken(Severity severity) {
  return severity == Severity::data_loss ? "Data loss"
         : severity == Severity::warning ? "Warning"
                                         : "Note";
}

void Page::write_not_covered() {
  heading("WHAT THIS RESULT DOES NOT COVER");
  const size_t before = page_.size();
  for (const std::string& violation : findings_.identities.violations) {
    page_ += wrapped("ERROR: " + violation, 2);
  }
  for (const Severity severity : kSeverities) {
    for (const auto& [name, loss] : findings_.losses.all()) {
      if (loss.severity != severity) continue;
      page_ += wrapped(
          fmt::format("{}: {} ({}: {})", spoken(severity), loss.advice, name, grouped(loss.count)),
          2);
    }
  }
  for (const std::string& note : findings_.run.notes) page_ += wrapped("Note: " + note, 2);
  if (page_.size() == before) line("  No known gaps.");
  const double overhead = findings_.run.overhead_pct;
  if (overhead < 0) {
    line("  The measurement overhead is unknown.");
  } else {
    line(
        fmt::format("  Measurement overhead: {} of the run time (estimate).",
                    overhead < 0.05 ? "less than 0.1 %" : fmt::format("about {:.1f} %", overhead)));
  }
}

void Page::write_foot() {
  if (experiment_.empty()) return;
  line("");
  line(fmt::format("Full results: {}", experiment_.string()));
  line(fmt::format("Machine-readable: culprit report {} --format json", experiment_.string()));
}

}  // namespace

namespace {

/// Differences and models have one page each: "" for all other findings.
std::string page_of_several_runs(const Findings& findings,
                                 const std::filesystem::path& experiment) {
  switch (findings.run.operation) {
    case blame::Operation::diff:
      return change_page(findings, experiment);
    case blame::Operation::model:
      return model_page(findings, experiment);
    default:
      return "";
  }
}

}  // namespace

std::string screen(const Findings& findings, const std::filesystem::path& experiment) {
  const Findings safe = displayed(findings);
  const std::string place = printable(experiment.string());
  std::string page = page_of_several_runs(safe, place);
  if (page.empty()) page = printable(first_screen(safe, place), "\n");
  return fitted(std::move(page));
}

std::string text(const Findings& findings, const std::filesystem::path& experiment) {
  const Findings safe = displayed(findings);
  const std::string place = printable(experiment.string());
  std::string page = page_of_several_runs(safe, place);
  return page.empty() ? Page(safe, place).write() : fitted(std::move(page));
}

}  // namespace culprit::report
