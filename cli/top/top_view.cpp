// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are those of culprit report's tables. Choosing a row shows what it is made of: of a rank its
// functions, of a function its call paths, of a call path the threads that were there.
#include "cli/top/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "report/table/lines.h"
#include "report/verdict/verdict.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::cli {
namespace {

using report::Cell;
using report::GroupBy;
using report::ReportTable;

constexpr std::array kViews = {GroupBy::region, GroupBy::callpath, GroupBy::rank,
                               GroupBy::thread, GroupBy::pattern,  GroupBy::device};
constexpr const char* kViewNames[] = {"functions", "call paths", "ranks",
                                      "threads",   "waits",      "devices"};
constexpr const char* kHelp =
    "Tab, Shift-Tab   what rows are: functions, call paths, ranks, threads, waits, devices\n"
    "Up, Down, PgUp, PgDn, Home, End   choose a row\n"
    "Enter            what the row is made of;  Backspace: back\n"
    "Left, Right      sort by another column;  r: the other way round\n"
    "p                stop and go on refreshing\n"
    "q, Ctrl-C        end\n";

size_t index_of(GroupBy by) {
  return static_cast<size_t>(std::find(kViews.begin(), kViews.end(), by) - kViews.begin());
}

/// Values that are missing are the least.
bool is_less(const Cell& a, const Cell& b) {
  return a < b;
}

std::string text_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : std::string();
}

std::string seconds_ago(double seconds) {
  return fmt::format("{:.1f} s", std::max(0.0, seconds));
}

/// "61 %"; of efficiencies, the parallel one.
std::string efficiency_of(const blame::Findings& findings) {
  for (const blame::FoundEfficiency& factor : findings.efficiencies) {
    if (factor.name == blame::Factor::parallel) {
      return fmt::format("parallel efficiency {:.0f} %", 100 * factor.value);
    }
  }
  return "";
}

/// The first `most` lines of a text, each cut to the page.
void add_lines(std::vector<std::string>& lines, const std::string& text, size_t columns,
               size_t most) {
  for (size_t at = 0; at < text.size() && most > 0; --most) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(report::cut_to(text.substr(at, end - at), columns));
    at = end + 1;
  }
}

}  // namespace

void TopView::set(Now now) {
  now_ = std::move(now);
  problem_.clear();
}

std::optional<ReportTable> TopView::table() const {
  if (!now_) return std::nullopt;
  auto made = report::make_table(now_->findings, level().by, level().selection, 0);
  if (!made) return std::nullopt;
  ReportTable table = std::move(made.value());
  if (!level().callpaths.empty()) {
    std::erase_if(table.rows, [&](const auto& row) {
      return std::find(level().callpaths.begin(), level().callpaths.end(), text_of(row[0])) ==
             level().callpaths.end();
    });
  }
  const size_t by = level().sort;
  if (by > 0 && by < table.columns.size()) {
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [by](const auto& a, const auto& b) { return is_less(b[by], a[by]); });
  }
  if (level().reversed) std::reverse(table.rows.begin(), table.rows.end());
  return table;
}

void TopView::change_view(int by) {
  constexpr auto kCount = static_cast<int>(kViews.size());
  const int next = (static_cast<int>(index_of(level().by)) + by + kCount) % kCount;
  level().by = kViews[static_cast<size_t>(next)];
  level().callpaths.clear();
  level().chosen = level().sort = 0;
  level().reversed = false;
}

void TopView::change_column(int by) {
  const auto shown = table();
  if (!shown || shown->columns.empty()) return;
  const auto count = static_cast<int>(shown->columns.size());
  level().sort = static_cast<size_t>((static_cast<int>(level().sort) + by + count) % count);
}

void TopView::descend() {
  const auto shown = table();
  if (!shown || level().chosen >= shown->rows.size()) return;
  const std::string name = text_of(shown->rows[level().chosen][0]);
  Level below;
  below.selection = level().selection;
  below.name = name;
  switch (level().by) {
    case GroupBy::rank:
    case GroupBy::thread:
      if (auto ranks = report::parse_ranks(name.substr(0, name.find('.')))) {
        below.selection.ranks = ranks.value();
      }
      break;
    case GroupBy::region: {
      const report::PageNames names(now_->findings);
      below.by = GroupBy::callpath;
      for (size_t i = 0; i < now_->findings.callpaths.size(); ++i) {
        if (names.code(CallPathId(i)) != name) continue;
        below.callpaths.push_back(now_->findings.callpaths[i].name);
      }
      break;
    }
    case GroupBy::callpath:
      below.by = GroupBy::thread;
      below.selection.callpath = name;
      break;
    case GroupBy::pattern:
      below.by = GroupBy::callpath;
      below.selection.pattern = name;
      break;
    default:
      return;
  }
  levels_.push_back(std::move(below));
}

bool TopView::press(TopKey key) {
  constexpr size_t kPage = 10;
  size_t& chosen = level().chosen;
  if (helps_) {
    helps_ = false;
    return key != TopKey::quit;
  }
  switch (key) {
    case TopKey::none:
      return true;
    case TopKey::quit:
      return false;
    case TopKey::up:
      chosen -= std::min<size_t>(chosen, 1);
      return true;
    case TopKey::page_up:
      chosen -= std::min(chosen, kPage);
      return true;
    case TopKey::first:
      chosen = 0;
      return true;
    case TopKey::down:
    case TopKey::page_down:
    case TopKey::last: {
      const auto shown = table();
      const size_t last = shown && !shown->rows.empty() ? shown->rows.size() - 1 : 0;
      const size_t step = key == TopKey::down ? 1 : key == TopKey::page_down ? kPage : last;
      chosen = std::min(chosen + step, last);
      return true;
    }
    case TopKey::next_view:
    case TopKey::previous_view:
      change_view(key == TopKey::next_view ? 1 : -1);
      return true;
    case TopKey::next_column:
    case TopKey::previous_column:
      change_column(key == TopKey::next_column ? 1 : -1);
      return true;
    case TopKey::reverse:
      level().reversed = !level().reversed;
      return true;
    case TopKey::into:
      descend();
      return true;
    case TopKey::back:
      if (levels_.size() > 1) levels_.pop_back();
      return true;
    case TopKey::pause:
      paused_ = !paused_;
      return true;
    case TopKey::help:
      helps_ = true;
      return true;
  }
  return true;
}

std::string TopView::way() const {
  std::string text;
  for (size_t i = 0; i + 1 < levels_.size(); ++i) {
    text += fmt::format("{} > {} > ", kViewNames[index_of(levels_[i].by)], levels_[i + 1].name);
  }
  return text + kViewNames[index_of(level().by)];
}

std::vector<std::string> TopView::head(size_t columns, double now_s) const {
  std::vector<std::string> lines;
  if (!now_) {
    add_lines(lines, report::wrapped("culprit top: " + experiment_, 0), columns, 2);
    add_lines(lines, report::wrapped(problem_.empty() ? "reading ..." : problem_, 0), columns, 3);
    return lines;
  }
  const blame::RunInfo& run = now_->findings.run;
  std::string state = now_->runs ? fmt::format("runs for {:.1f} s", run.wall_s)
                                 : fmt::format("has ended after {:.1f} s", run.wall_s);
  if (now_->runs && now_->newest_s > 0) {
    state += fmt::format("; newest data {} old", seconds_ago(now_s - now_->newest_s));
  }
  state += fmt::format("; read in {:.1f} s{}", now_->took_s,
                       now_->of_profile ? ", from the profile" : "");
  if (paused_) state += "; paused (p)";
  std::string text = fmt::format("{}: {}, {}, {}", run.program, report::counted(run.ranks, "rank"),
                                 report::counted(run.locations, "thread"), state);
  add_lines(lines, report::wrapped(text, 0), columns, 2);
  const report::PageNames names(now_->findings);
  std::string verdict = report::judge(now_->findings, names).text;
  const std::string efficiency = efficiency_of(now_->findings);
  if (verdict.empty()) verdict = "Nobody has waited so far.";
  if (!efficiency.empty()) verdict = efficiency + ". " + verdict;
  add_lines(lines, report::wrapped(verdict, 0), columns, 4);
  if (!now_->hangs.empty()) add_lines(lines, report::wrapped(now_->hangs, 0), columns, 3);
  if (!problem_.empty()) add_lines(lines, report::wrapped(problem_, 0), columns, 2);
  return lines;
}

std::string TopView::page(size_t rows, size_t columns, double now_s) const {
  report::set_page_width(std::max(columns, report::kLeastWidth));
  std::vector<std::string> lines = head(columns, now_s);
  lines.emplace_back();
  size_t marked = SIZE_MAX;
  if (helps_) {
    add_lines(lines, kHelp, columns, rows);
  } else if (auto shown = table()) {
    const size_t used = lines.size() + 3;  // the way, the columns' heads, the line of keys
    const size_t room = std::max<size_t>(rows > used ? rows - used : 1, 1);
    const size_t chosen =
        std::min(level().chosen, shown->rows.empty() ? 0 : shown->rows.size() - 1);
    const size_t from = chosen < room ? 0 : chosen - room + 1;
    const size_t sort = level().sort;
    std::string title = way();
    if (sort > 0 && sort < shown->columns.size()) title += " by " + shown->columns[sort].head;
    lines.push_back(report::cut_to(printable(title), columns));
    shown->rows.erase(shown->rows.begin(), shown->rows.begin() + static_cast<std::ptrdiff_t>(from));
    shown->rows.resize(std::min(room, shown->rows.size()));
    marked = lines.size() + 1 + chosen - from;
    for (const std::string& line : report::table_lines(*shown)) {
      lines.push_back(report::cut_to(line, columns));
    }
  } else if (now_) {
    lines.push_back(report::cut_to(way() + ": there is no such table here (Backspace)", columns));
  }
  while (lines.size() + 1 < rows) lines.emplace_back();
  lines.resize(std::max<size_t>(rows, 1) - 1);
  lines.push_back(report::cut_to(
      "Tab view  Enter into  Backspace back  Left/Right sort  ? help  q end", columns));
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_marked = i == marked && !helps_;
    if (is_marked)
      text += "\033[7m" + report::left(lines[i], columns) + "\033[27m";
    else
      text += lines[i];
    text += "\033[K";
    if (i + 1 < lines.size()) text += "\r\n";
  }
  return text;
}

std::string TopView::plain(double now_s) const {
  constexpr size_t kRows = 10;
  std::string text;
  for (const std::string& line : head(report::page_width(), now_s)) text += line + "\n";
  auto shown = table();
  if (!shown) return text + "\n";
  shown->rows.resize(std::min(kRows, shown->rows.size()));
  text += "\n";
  for (const std::string& line : report::table_lines(*shown)) text += line + "\n";
  return text + "\n";
}

}  // namespace culprit::cli
