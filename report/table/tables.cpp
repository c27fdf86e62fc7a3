// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tables, each a list of columns and the code that fills them. Rows in which all values are
// zero are left out; the others are sorted by their time. Where a pattern is selected, only its
// waits and their causes count.
#include "report/table/tables.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "report/table/groups.h"
#include "report/words/names.h"
#include "report/words/patterns.h"

namespace culprit::report {

namespace {

using blame::Findings;

constexpr const char* kSpreadNote =
    "largest: the rank with most of the time; variation: standard deviation over ranks, divided by "
    "the mean";

size_t ranks_of(const Findings& findings, const Selection& selection) {
  if (!selection.ranks.empty()) return selection.ranks.size();
  std::set<uint32_t> ranks;
  for (const blame::FoundLocation& location : findings.locations) ranks.insert(location.rank);
  return ranks.size();
}

void add_spread_columns(ReportTable& table) {
  table.columns.push_back({"largest_rank", "largest rank", CellKind::count});
  table.columns.push_back({"largest_rank_s", "its time"});
  table.columns.push_back({"variation", "variation", CellKind::share});
}

void add_spread(const std::map<uint32_t, double>& by_rank, size_t ranks, std::vector<Cell>& row) {
  const auto spread = spread_over(by_rank, ranks);
  if (!spread) {
    row.insert(row.end(), 3, Cell());
    return;
  }
  row.emplace_back(uint64_t{spread->largest_rank});
  row.emplace_back(spread->largest_s);
  row.emplace_back(spread->variation);
}

void sort_by(size_t column, ReportTable& table) {
  const auto size = [&](const std::vector<Cell>& row) {
    const double* const value = std::get_if<double>(&row[column]);
    return value != nullptr ? std::abs(*value) : 0;
  };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

/// Returns whether a row is shown. In a difference of runs, changes in either direction count.
bool is_something(const GroupSums& sums, bool of_pattern) {
  const bool waits = sums.waiting_s != 0 || sums.caused_s != 0;
  return waits || (!of_pattern && (sums.visits != 0 || sums.time_s != 0));
}

/// Time, waiting, costs and the critical path of groups, with their spread if they span ranks.
ReportTable sums_table(const Findings& findings, const Selection& selection, std::string title,
                       std::string head, const GroupOf& group, bool spans_ranks) {
  ReportTable table;
  table.title = std::move(title);
  table.columns = {{"name", std::move(head), CellKind::text},
                   {"visits", "visits", CellKind::count, true},
                   {"time_s", "time"},
                   {"waiting_s", "waiting"},
                   {"caused_s", "causes"},
                   {"critical_s", "critical path", CellKind::seconds, true}};
  table.note =
      "time: allocated, with waiting; causes: the waiting that its delays cost, anywhere; critical "
      "path: wall-clock time on it";
  const size_t ranks = ranks_of(findings, selection);
  const bool spread = spans_ranks && ranks > 1, of_pattern = !selection.pattern.empty();
  if (spread) {
    add_spread_columns(table);
    table.note += std::string("; ") + kSpreadNote;
  }
  for (auto& [name, sums] : sum_groups(findings, group)) {
    if (!is_something(sums, of_pattern)) continue;
    std::vector<Cell> row = {name,           sums.visits,   sums.time_s,
                             sums.waiting_s, sums.caused_s, sums.critical_s};
    if (spread) add_spread(sums.by_rank, ranks, row);
    table.rows.push_back(std::move(row));
  }
  sort_by(2, table);
  if (of_pattern) sort_by(4, table), sort_by(3, table);
  return table;
}

}  // namespace

Result<ReportTable> table_by_callpath(const Findings& findings, const Selection& selection) {
  const auto group = [&](CallPathId path, LocationId) -> std::optional<std::string> {
    if (!path.valid()) return std::nullopt;
    return findings.callpaths[path.index()].name;
  };
  return sums_table(findings, selection, "By call path", "call path", group, true);
}

Result<ReportTable> table_by_region(const Findings& findings, const Selection& selection) {
  const PageNames names(findings);
  const auto group = [&](CallPathId path, LocationId) -> std::optional<std::string> {
    if (!path.valid()) return std::nullopt;
    return names.code(path);
  };
  return sums_table(findings, selection, "By function, construct or call", "function", group, true);
}

Result<ReportTable> table_by_rank(const Findings& findings, const Selection& selection) {
  const auto group = [&](CallPathId, LocationId location) -> std::optional<std::string> {
    return std::to_string(findings.locations[location.index()].rank);
  };
  ReportTable table = sums_table(findings, selection, "By rank", "rank", group, false);
  return table;
}

Result<ReportTable> table_by_thread(const Findings& findings, const Selection& selection) {
  const auto group = [&](CallPathId, LocationId location) -> std::optional<std::string> {
    const blame::FoundLocation& row = findings.locations[location.index()];
    return row.stream.empty() ? row.name : row.name + " (" + row.stream + ")";
  };
  return sums_table(findings, selection, "By thread and device stream", "thread", group, false);
}

Result<ReportTable> table_by_pattern(const Findings& findings, const Selection& selection) {
  struct Sums {
    uint64_t count = 0;
    double time_s = 0, indirect_s = 0, propagating_s = 0;
    std::map<uint32_t, double> by_rank;
  };
  std::map<std::string, Sums> patterns, of_user;
  const auto add = [&](const auto& row, Sums& sums) {
    sums.count += row.count;
    sums.time_s += row.time_s;
    if (row.location.valid()) {
      sums.by_rank[findings.locations[row.location.index()].rank] += row.time_s;
    }
  };
  for (const blame::FoundUserPattern& own : findings.user_patterns) of_user[own.name];
  for (const blame::FoundUserWait& row : findings.user_waits) add(row, of_user[row.pattern]);
  for (const blame::FoundWait& row : findings.waits) {
    if (of_user.contains(row.pattern)) continue;
    Sums& sums = patterns[row.pattern];
    add(row, sums);
    sums.indirect_s += row.indirect_s;
    sums.propagating_s += row.propagating_s;
  }
  ReportTable table;
  table.title = "By wait pattern";
  table.columns = {{"pattern", "id", CellKind::text},
                   {"name", "wait state", CellKind::text},
                   {"count", "waits", CellKind::count},
                   {"waiting_s", "waiting"},
                   {"indirect_s", "indirect", CellKind::seconds, true},
                   {"propagating_s", "passed on", CellKind::seconds, true}};
  table.note = "indirect: caused by other waits that propagated; passed on: causes further waits";
  if (!of_user.empty()) {
    table.columns.push_back({"own_s", "your own"});
    table.note += "; your own: what patterns of your own found, which is in no other sum";
  }
  const size_t ranks = ranks_of(findings, selection);
  if (ranks > 1) {
    add_spread_columns(table);
    table.note += std::string("; ") + kSpreadNote;
  }
  for (const auto& [id, sums] : patterns) {
    std::vector<Cell> row = {id,
                             std::string(pattern_name(id)),
                             sums.count,
                             sums.time_s,
                             sums.indirect_s,
                             sums.propagating_s};
    if (!of_user.empty()) row.emplace_back();
    if (ranks > 1) add_spread(sums.by_rank, ranks, row);
    table.rows.push_back(std::move(row));
  }
  sort_by(3, table);
  for (const auto& [name, sums] : of_user) {
    if (!selection.everything() && sums.count == 0) continue;
    std::vector<Cell> row = {name, name, sums.count, Cell(), Cell(), Cell(), sums.time_s};
    if (ranks > 1) add_spread(sums.by_rank, ranks, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Result<ReportTable> table_by_phase(const Findings& findings, const Selection& selection) {
  if (!selection.everything()) {
    return Error{
        "phases and iterations are known over the whole run only: leave out --rank, --pattern and "
        "--callpath"};
  }
  const PageNames names(findings);
  ReportTable table;
  table.title = "By phase and iteration";
  table.columns = {{"kind", "kind", CellKind::text},
                   {"name", "name", CellKind::text},
                   {"number", "number", CellKind::text},
                   {"visits", "visits", CellKind::count},
                   {"time_s", "time"},
                   {"waiting_s", "waiting"},
                   {"useful_s", "useful"},
                   {"load_balance", "load balance", CellKind::share},
                   {"communication", "communication", CellKind::share},
                   {"longest_s", "longest visit"},
                   {"longest_location", "of", CellKind::text}};
  table.note = "load balance and communication: efficiencies (docs/efficiency.md)";
  for (const blame::FoundStage& row : findings.stages) {
    const bool iteration = row.kind == blame::StageKind::iteration;
    table.rows.push_back({std::string(to_string(row.kind)), row.name,
                          iteration ? Cell(std::to_string(row.number)) : Cell(), row.visits,
                          row.time_s, row.waiting_s, row.useful_s, row.load_balance,
                          row.communication, row.longest_s, names.location(row.longest_location)});
  }
  sort_by(4, table);
  return table;
}

Result<ReportTable> table_by_device(const Findings& findings, const Selection& selection) {
  if (!selection.pattern.empty() || !selection.callpath.empty()) {
    return Error{"what devices did is known of whole devices: leave out --pattern and --callpath"};
  }
  ReportTable table;
  table.title = "By device";
  table.columns = {{"name", "device", CellKind::text},
                   {"node", "node", CellKind::text},
                   {"streams", "streams", CellKind::count},
                   {"operations", "operations", CellKind::count},
                   {"busy_s", "busy"},
                   {"kernels_s", "kernels"},
                   {"copies_s", "copies"},
                   {"overlapped_s", "overlapped"},
                   {"idle_s", "idle"},
                   {"late_s", "no launch"},
                   {"latency_s", "latency"},
                   {"unknown_s", "unknown"}};
  table.note =
      "idle = no launch (hosts are late) + latency (launched, not started) + unknown; copies: and "
      "everything else but kernels; overlapped: with kernels";
  if (!selection.ranks.empty()) {
    table.note += "; devices are whole, and those whose first stream is of the ranks selected";
  }
  for (const blame::FoundDevice& row : findings.devices) {
    const bool selected = selection.ranks.empty() ||
                          (row.location.valid() &&
                           selection.ranks.contains(findings.locations[row.location.index()].rank));
    if (!selected) continue;
    table.rows.push_back({row.name, row.node, row.streams, row.operations, row.busy_s,
                          row.kernels_s, row.copies_s, row.overlapped_s, row.idle_s, row.late_s,
                          row.latency_s, row.unknown_s});
  }
  sort_by(4, table);
  return table;
}

Result<ReportTable> make_table(const Findings& findings, GroupBy by, const Selection& selection,
                               size_t top) {
  static constexpr Result<ReportTable> (*kTables[])(const Findings&, const Selection&) = {
#define GROUP_BY(id, rows) table_by_##id,
#include "report/table/group_by.def"
#undef GROUP_BY
  };
  if (auto checked = check_selection(selection, findings); !checked) return checked.error();
  auto made = kTables[static_cast<size_t>(by)](
      selection.everything() ? findings : select(findings, selection), selection);
  if (!made) return made.error();
  ReportTable table = std::move(made).value();
  if (!selection.everything()) table.title += " (" + in_words(selection) + ")";
  if (top > 0 && table.rows.size() > top) {
    table.left_out = table.rows.size() - top;
    table.rows.resize(top);
  }
  return table;
}

}  // namespace culprit::report
