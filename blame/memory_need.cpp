// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/memory.h"
#include "replay/exchange.h"
#include "replay/shares.h"

namespace culprit::blame {

namespace {

/// Of a rank, or of all that share a node, in bytes.
struct Room {
  double needed = 0;
  double free = 0;
};

/// An estimate: peaks that were measured lie between 20 and 45 bytes an event
/// (docs/performance.md), but a trace can be made that takes a hundred times as much.
double needed_here(const trace::Source& source, const replay::Transport& ranks) {
  constexpr double kBytesAnEvent = 48, kBytesALocation = 16 << 10, kAnyTrace = 64 << 20;
  const trace::Definitions& definitions = source.definitions();
  const replay::Shares shares(definitions, ranks.size());
  double own = 0, all = 0;
  for (const trace::Location& location : definitions.locations) {
    const double events = 1 + static_cast<double>(location.event_count);
    all += events;
    if (shares.owner(location.process) == ranks.rank()) own += events;
  }
  const double events = static_cast<double>(source.expected_events()) * own / std::max(all, 1.0);
  return events * kBytesAnEvent +
         static_cast<double>(definitions.locations.size()) * kBytesALocation + kAnyTrace;
}

/// By node. What each rank sees free there is the same memory.
std::map<std::string, Room> rooms(replay::Transport& ranks, const Room& own, bool apart) {
  replay::Packer packer;
  packer.put(ranks.node());
  packer.put(own);
  std::map<std::string, Room> nodes;
  for (const replay::Parcel& parcel : replay::gather_everywhere(ranks, packer.take())) {
    replay::Unpacker unpacker(parcel);
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

}  // namespace

Result<void> check_memory(const trace::Source& source, replay::Transport& ranks, uint64_t given) {
  const double free = static_cast<double>(given != 0 ? given : available_memory());
  const Room own{needed_here(source, ranks), free};
  const auto events = static_cast<double>(source.expected_events());
  for (const auto& [node, room] : rooms(ranks, own, given != 0)) {
    if (events == 0 || room.needed <= room.free) continue;
    constexpr double kGiB = 1 << 30;
    const std::string where = ranks.alone() ? "" : " on node " + node;
    return Error{fmt::format(
        "the trace holds {:.3g} million events, and their analysis takes up to {:.1f} GiB of "
        "memory{}, of which {} {:.1f} GiB: analyse it where there is more{}, or record less "
        "(culprit run --estimate says how)",
        events * 1e-6, room.needed / kGiB, where, given != 0 ? "--memory allows" : "there are",
        room.free / kGiB, ranks.alone() ? " or on several nodes (mpirun culprit analyze)" : "")};
  }
  return {};
}

}  // namespace culprit::blame
