// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A rank's part is packed and unpacked by the table of findings, field by field; sums are added,
// lists appended. Orders are stable: of equal rows the first stays first.
#include "blame/collect/join_findings.h"

#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/findings/findings_fields.h"

namespace culprit::blame {

namespace {

// --- joining ----------------------------------------------------------------------------------

/// The contribution of one rank's part of the run.
struct Part {
  uint32_t ranks, locations;
  uint64_t events;
  double allocation_s, waiting_s, idle_s, idle_blame_s, idle_nobody_s;
  double device_idle_s, device_idle_blame_s, device_wait_s, device_wait_blame_s;
};

Part part_of(const Findings& found) {
  const Identities& sums = found.identities;
  return {found.run.ranks,          found.run.locations, found.run.events,
          found.run.allocation_s,   sums.waiting_s,      sums.idle_s,
          sums.idle_blame_s,        sums.idle_nobody_s,  sums.device_idle_s,
          sums.device_idle_blame_s, sums.device_wait_s,  sums.device_wait_blame_s};
}

void add_part(const Part& part, Findings& found) {
  found.run.ranks += part.ranks;
  found.run.locations += part.locations;
  found.run.events += part.events;
  found.run.allocation_s += part.allocation_s;
  found.identities.waiting_s += part.waiting_s;
  found.identities.idle_s += part.idle_s;
  found.identities.idle_blame_s += part.idle_blame_s;
  found.identities.idle_nobody_s += part.idle_nobody_s;
  found.identities.device_idle_s += part.device_idle_s;
  found.identities.device_idle_blame_s += part.device_idle_blame_s;
  found.identities.device_wait_s += part.device_wait_s;
  found.identities.device_wait_blame_s += part.device_wait_blame_s;
}

Parcel pack(const Findings& found) {
  Packer to;
  to.put(part_of(found));
  visit_lists_of<Origin::each_rank>(
      [&](const auto& rows) {
        to.put(uint64_t{rows.size()});
        for (const auto& row : rows) {
          visit_fields(row, [&](const auto& field) { to.put(field); });
        }
      },
      found);
  for (const FoundLocation& row : found.locations) to.put(row.life_s), to.put(row.waiting_s);
  to.put(uint64_t{found.losses.all().size()});
  for (const auto& [name, loss] : found.losses.all()) {
    to.put(name), to.put(loss.count), to.put(loss.severity), to.put(loss.advice);
  }
  for (const PassTime& pass : found.passes) to.put(pass.time_s);
  return to.take();
}

void add(const Parcel& parcel, Findings& found) {
  Unpacker from(parcel);
  add_part(from.get<Part>(), found);
  visit_lists_of<Origin::each_rank>(
      [&](auto& rows) {
        for (auto left = from.get<uint64_t>(); left > 0; --left) {
          visit_fields(rows.emplace_back(), [&](auto& field) { from.get_into(field); });
        }
      },
      found);
  for (FoundLocation& row : found.locations) {
    row.life_s += from.get<double>();
    row.waiting_s += from.get<double>();
  }
  for (auto left = from.get<uint64_t>(); left > 0; --left) {
    const std::string name = from.get_string();
    const auto count = from.get<uint64_t>();
    const auto severity = from.get<Severity>();
    found.losses.restore(name, {count, severity, from.get_string()});
  }
  for (PassTime& pass : found.passes) pass.time_s = std::max(pass.time_s, from.get<double>());
}

// --- orders -----------------------------------------------------------------------------------

/// Of equal ones the first stays first. Rows are large: they are moved once.
template <class Row, class Key>
void largest_first(std::vector<Row>& rows, const Key& key) {
  using Size = decltype(key(rows.front()));
  std::vector<std::pair<Size, uint32_t>> order;
  order.reserve(rows.size());
  for (const Row& row : rows) order.emplace_back(key(row), static_cast<uint32_t>(order.size()));
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const auto& [size, at] : order) sorted.push_back(std::move(rows[at]));
  rows = std::move(sorted);
}

template <class Row>
void longest_first(std::vector<Row>& rows) {
  largest_first(rows, [](const Row& row) { return row.time_s; });
}

}  // namespace

void join_findings(Transport& ranks, Findings& found) {
  if (ranks.alone()) return;
  const bool first = ranks.rank() == 0;
  const std::vector<Parcel> parts = gather(ranks, first ? Parcel() : pack(found));
  if (!first) return;
  for (size_t r = 1; r < parts.size(); ++r) add(parts[r], found);
}

void sort_findings(Findings& found, unsigned threads) {
  const std::function<void()> sorts[] = {
      [&] { longest_first(found.profile); },
      [&] {
        largest_first(found.delays, [](const FoundDelay& row) { return row.short_s + row.long_s; });
      },
      [&] { longest_first(found.waits); },
      [&] { longest_first(found.victims); },
      [&] { longest_first(found.critical_path); },
      [&] { longest_first(found.critical_callpaths); },
      [&] { longest_first(found.tiles); },
      [&] { longest_first(found.unexplained); },
      [&] { longest_first(found.shared_calls); },
      [&] { longest_first(found.spare_threads); },
      [&] { longest_first(found.idle_blame); },
      [&] { longest_first(found.idle_nobody); },
      [&] { longest_first(found.lock_blame); },
      [&] { longest_first(found.polling); },
      [&] { longest_first(found.polling_causes); },
      [&] {
        largest_first(found.message_use, [](const FoundMessageUse& row) {
          return std::pair(row.waiting_empty_s + row.waiting_repeated_s, row.empty + row.repeated);
        });
      },
      [&] { longest_first(found.refills); },
      [&] { longest_first(found.device_blame); },
      [&] { longest_first(found.device_calls); },
      [&] { longest_first(found.device_operations); },
      [&] {
        largest_first(found.kernel_times, [](const FoundKernelTime& row) { return row.system_s; });
      },
      [&] {
        largest_first(found.counts, [](const FoundCount& row) {
          return std::pair(-static_cast<double>(row.metric.index()), row.value);
        });
      },
  };
  parallel_for(std::size(sorts), threads, [&](size_t i) { sorts[i](); });
}

}  // namespace culprit::blame
