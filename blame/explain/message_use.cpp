// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages that carry little information, and sweeps that turned, with the corresponding waits. A
// message is counted by its receiver's rank, so the first rank adds up the counts of all. Sums are
// whole nanoseconds: they are the same for any number of ranks.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/ranks/exchange.h"
#include "blame/explain/explanations.h"
#include "blame/explain/gather_rows.h"
#include "replay/match/sweeps/grid_steps.h"

namespace culprit::blame {

namespace {

using replay::MessageKind;
using replay::MessageTally;
using replay::MessageWait;
using replay::Wait;

/// The sums for a row of message_use.
struct UseSum {
  MessageTally tally;
  Duration empty, repeated;  ///< waited
  auto key() const { return std::tuple(tally.path, tally.sender); }
};

/// A wait for the front of a sweep.
struct RefillSum {
  ProcessId corner;
  CommId comm;
  LocationId location;  ///< that waited
  uint64_t waits = 0;
  Duration time;
  auto key() const { return std::tuple(corner, comm); }
};

/// Visits each wait of a location that has a record in its message waits. Both lists are sorted by
/// begin, and waits do not overlap.
template <class Visit>
void with_messages(std::span<const Wait> waits, std::span<const MessageWait> messages,
                   const Visit& visit) {
  auto first = messages.begin();
  for (const Wait& wait : waits) {
    while (first != messages.end() && first->begin < wait.begin) ++first;
    for (auto more = first; more != messages.end() && more->begin == wait.begin; ++more) {
      if (more->end != wait.end || more->cause != wait.cause) continue;
      visit(wait, *more);
      break;
    }
  }
}

bool is_late_message(replay::Pattern found) {
  return found == replay::pattern("mpi.late_sender") ||
         found == replay::pattern("mpi.wrong_order") ||
         found == replay::pattern("mpi.direction_change") ||
         found == replay::pattern("mpi.pipeline_refill") ||
         found == replay::pattern("mpi.late_receiver");
}

void add_message_use(const replay::Run& run, std::vector<UseSum> own, Findings& found) {
  for (const UseSum& sum : gather_rows(*run.ranks, std::move(own))) {
    std::vector<FoundMessageUse>& rows = found.message_use;
    if (rows.empty() || std::tuple(rows.back().callpath, rows.back().location) != sum.key()) {
      rows.push_back({sum.tally.path, sum.tally.sender});
    }
    FoundMessageUse& row = rows.back();
    row.messages += sum.tally.messages;
    row.bytes += sum.tally.bytes;
    row.empty += sum.tally.empty;
    row.repeated += sum.tally.repeated;
    row.receivers += sum.tally.receivers;
    row.silent_receivers += sum.tally.silent;
    row.waiting_empty_s += sum.empty.seconds();
    row.waiting_repeated_s += sum.repeated.seconds();
  }
}

std::string coordinates_of(const trace::GridPlace& place) {
  std::string text;
  for (uint32_t c : place.coordinates) text += (text.empty() ? "" : ",") + std::to_string(c);
  return text;
}

FoundRefill refill_of(const replay::Run& run, const replay::GridSteps& grids,
                      const RefillSum& sum) {
  FoundRefill row;
  row.rank = run.definitions->processes[sum.corner.index()].rank;
  const trace::Grid* const grid = grids.of(sum.comm);
  const trace::GridPlace* const place = grid == nullptr ? nullptr : grids.place(*grid, sum.corner);
  if (place == nullptr) return row;
  row.topology = grid->name;
  row.coordinates = coordinates_of(*place);
  return row;
}

void add_refills(const replay::Run& run, const replay::GridSteps& grids, std::vector<RefillSum> own,
                 Findings& found) {
  std::tuple<ProcessId, CommId> last;
  std::set<LocationId> waiters;
  Duration time;
  for (const RefillSum& sum : gather_rows(*run.ranks, std::move(own))) {
    if (found.refills.empty() || last != sum.key()) {
      found.refills.push_back(refill_of(run, grids, sum));
      waiters.clear();
      time = Duration::zero();
    }
    last = sum.key();
    FoundRefill& row = found.refills.back();
    row.waits += sum.waits;
    waiters.insert(sum.location);
    row.locations = waiters.size();
    row.time_s = (time += sum.time).seconds();
  }
}

}  // namespace

void explain_messages(const Explained& given, Findings& found) {
  const replay::Run& run = given.run;
  using UseKey = std::tuple<CallPathId, LocationId>;
  std::map<UseKey, UseSum> uses;
  const auto use_of = [&](CallPathId path, LocationId sender) -> UseSum& {
    return uses.try_emplace({path, sender}, UseSum{{path, sender}, {}, {}}).first->second;
  };
  for (const MessageTally& tally : given.graph.messages) {
    MessageTally& sum = use_of(tally.path, tally.sender).tally;
    sum.messages += tally.messages;
    sum.bytes += tally.bytes;
    sum.empty += tally.empty;
    sum.repeated += tally.repeated;
    sum.receivers += tally.receivers;
    sum.silent += tally.silent;
  }
  const replay::GridSteps grids(*run.definitions);
  std::map<std::tuple<ProcessId, CommId, LocationId>, RefillSum> refills;
  for (LocationId id : run.locations) {
    with_messages(
        given.graph.waits[id.index()], given.graph.message_waits[id.index()],
        [&](const Wait& wait, const MessageWait& more) {
          if (!is_late_message(wait.pattern)) return;
          if (more.kind != MessageKind::data) {
            UseSum& sum = use_of(more.sent, more.sender);
            (more.kind == MessageKind::empty ? sum.empty : sum.repeated) += wait.amount;
          }
          if (wait.pattern != replay::pattern("mpi.pipeline_refill")) return;
          const CommId comm = grids.whole(more.comm);
          RefillSum& sum =
              refills.try_emplace({more.corner, comm, id}, RefillSum{more.corner, comm, id, 0, {}})
                  .first->second;
          ++sum.waits;
          sum.time += wait.amount;
        });
  }
  std::vector<UseSum> use_rows;
  for (const auto& [key, sum] : uses) use_rows.push_back(sum);
  std::vector<RefillSum> refill_rows;
  for (const auto& [key, sum] : refills) refill_rows.push_back(sum);
  add_message_use(run, std::move(use_rows), found);
  add_refills(run, grids, std::move(refill_rows), found);
}

}  // namespace culprit::blame
