// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A member's rows of one group and operation are added up on the first rank. Groups are numbered in
// the order of communicators, those of streams behind them. Sums are whole nanoseconds: they are
// the same for any number of ranks.
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "blame/explain/explanations.h"
#include "blame/explain/gather_rows.h"

namespace culprit::blame {

namespace {

/// A group: a communicator, or the streams of a channel.
using Group = std::pair<CommId, uint32_t>;

struct ArrivalSum {
  replay::ArrivalTally tally;
  auto key() const {
    return std::tuple(tally.comm, tally.channel, tally.operation, tally.location);
  }
};

void add(replay::ArrivalTally& to, const replay::ArrivalTally& more) {
  to.operations += more.operations;
  to.last += more.last;
  to.skew += more.skew;
  to.late += more.late;
  to.transfer += more.transfer;
}

}  // namespace

void explain_arrivals(const Explained& given, Findings& found) {
  const replay::Run& run = given.run;
  std::vector<ArrivalSum> own;
  for (const replay::ArrivalTally& tally : given.graph.arrivals) own.push_back({tally});
  std::map<decltype(ArrivalSum{}.key()), replay::ArrivalTally> sums;
  for (const ArrivalSum& row : gather_rows(*run.ranks, std::move(own))) {
    const auto [place, fresh] = sums.try_emplace(row.key(), row.tally);
    if (!fresh) add(place->second, row.tally);
  }
  std::map<Group, uint32_t> groups;
  for (const auto& [key, sum] : sums) {
    const Group group(sum.comm, sum.channel);
    FoundArrival& row = found.arrivals.emplace_back();
    row.group_id = groups.try_emplace(group, static_cast<uint32_t>(groups.size())).first->second;
    if (sum.comm.valid()) row.communicator = run.comm(sum.comm).name;
    if (sum.operation.valid()) row.operation = run.regions[sum.operation.index()].name;
    row.location = sum.location;
    row.count = sum.operations;
    row.last = sum.last;
    row.skew_s = sum.skew.seconds();
    row.late_s = sum.late.seconds();
    row.transfer_s = sum.transfer.seconds();
  }
}

}  // namespace culprit::blame
