// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Compares the bytes that replay keeps for the expected number of events with the free memory of
// each node for all its ranks.
#include "blame/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/memory.h"
#include "base/ranks/exchange.h"
#include "replay/model/shares.h"

namespace culprit::blame {

namespace {

/// Needed and free bytes of one rank, or of all ranks on a node.
struct Room {
  double needed = 0;
  double free = 0;
};

/// An estimate: peaks that were measured lie between 20 and 45 bytes an event
/// (docs/evidence/performance.md), but a trace can be made that takes a hundred times as much.
double needed_here(const trace::Source& source, const Transport& ranks, double events) {
  constexpr double kBytesAnEvent = 48, kOwnLocation = 16 << 10, kOthers = 1 << 10,
                   kAnyTrace = 64 << 20;
  const trace::Definitions& definitions = source.definitions();
  const auto shares = replay::Shares::of(source, ranks.size());
  double own = 0, all = 0, needed = kAnyTrace;
  for (const trace::Location& location : definitions.locations) {
    const bool is_own = shares.owner(location.process) == ranks.rank();
    const double weight = 1 + static_cast<double>(location.event_count);
    all += weight;
    own += is_own ? weight : 0;
    needed += is_own ? kOwnLocation : kOthers;
  }
  return needed + events * kBytesAnEvent * own / std::max(all, 1.0);
}

/// Counting reads every file, which one rank does for all.
uint64_t expected_events(const trace::Source& source, Transport& ranks) {
  Packer packer;
  if (ranks.rank() == 0) packer.put(source.expected_events());
  return Unpacker(share_of_first(ranks, packer.take())).get<uint64_t>();
}

/// Returns the rooms by node. The free memory that each rank of a node sees is the same.
std::map<std::string, Room> rooms(Transport& ranks, const Room& own, bool apart) {
  Packer packer;
  packer.put(ranks.node());
  packer.put(own);
  std::map<std::string, Room> nodes;
  for (const Parcel& parcel : gather_everywhere(ranks, packer.take())) {
    Unpacker unpacker(parcel);
    const std::string name = unpacker.get_string();
    const auto rank = unpacker.get<Room>();
    const auto [node, fresh] = nodes.try_emplace(name, rank);
    if (fresh) continue;
    node->second.needed += rank.needed;
    node->second.free =
        apart ? node->second.free + rank.free : std::min(node->second.free, rank.free);
  }
  return nodes;
}

std::string number_of(double events) {
  constexpr double kMillion = 1e6;
  if (events >= kMillion) return fmt::format("{:.3g} million events", events / kMillion);
  return events == 1 ? "one event" : fmt::format("{:.0f} events", events);
}

}  // namespace

Result<void> check_memory(const trace::Source& source, Transport& ranks, uint64_t given) {
  const double free = static_cast<double>(given != 0 ? given : available_memory());
  const auto events = static_cast<double>(expected_events(source, ranks));
  const Room own{needed_here(source, ranks, events), free};
  for (const auto& [node, room] : rooms(ranks, own, given != 0)) {
    if (events == 0 || room.needed <= room.free) continue;
    constexpr double kGiB = 1 << 30;
    const std::string where = ranks.alone() ? "" : " on node " + node;
    return Error{
        fmt::format("the trace contains {}, and its analysis takes up to {:.1f} GiB of "
                    "memory{}, but {} {:.1f} GiB: analyze it where there is more{}, or record less "
                    "(culprit run --estimate shows how)",
                    number_of(events), room.needed / kGiB, where,
                    given != 0 ? "--memory allows" : "there are only", room.free / kGiB,
                    ranks.alone() ? " or on several nodes (mpirun culprit analyze)" : "")};
  }
  return {};
}

}  // namespace culprit::blame
