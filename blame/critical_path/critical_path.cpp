// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Three steps. The first lists where each location waits for which other: parallel over locations.
// The second follows waits to their causes: one walk, which results in intervals of the path, each
// on one location. Where several ranks share the locations, the walk moves to the rank that has the
// next one, like a baton, and each keeps the intervals on its own. The third cuts the intervals
// into segments: parallel over intervals, each on the rank that has its location's activities. Rank
// 0 puts the segments together.
#include "blame/critical_path/critical_path.h"

#include <algorithm>
#include <tuple>

#include "base/flat_map.h"
#include "base/merge_runs.h"
#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "base/ranks/stream.h"

namespace culprit::blame {

namespace {

using replay::Activities;
using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// An interval of one activity in which its location waits.
struct Piece {
  Time begin, end;
  LocationId cause;
};
using Pieces = std::vector<Column<Piece>>;  // by LocationId, in order of time

/// An interval of the path on one location.
struct Stretch {
  Time begin, end;
  LocationId location;
};

Column<Piece> pieces_of(const Activities& life, const Column<Wait>& waits) {
  Column<Piece> pieces;
  pieces.reserve(waits.size());
  for (const Wait& wait : waits) {
    if (wait.pattern == replay::pattern("thread.spare")) {  // however little of it counts as a wait
      const size_t before = life.before(wait.end);
      pieces.push_back({life.begin(before), wait.end, wait.cause});
      continue;
    }
    if (!replay::counts_as_waiting(wait.pattern)) continue;  // polling: a handover
    for (size_t i = wait.activity; i < life.size() && life.begin(i) < wait.end; ++i) {
      if (life.path(i) != wait.path) continue;
      const Time begin = std::max(wait.begin, life.begin(i));
      const Time end = std::min(wait.end, life.end(i));
      if (begin < end) pieces.push_back({begin, end, wait.cause});
    }
  }
  return pieces;
}

/// Adds handovers: a location continues because another acted, without having waited. The path then
/// moves to the other through a wait of zero length.
void add_handovers(const Column<replay::Handover>& handovers, Column<Piece>& pieces) {
  if (handovers.empty()) return;
  constexpr Duration kInstant = Duration::from_nanos(1);
  Column<Piece> all;
  all.reserve(pieces.size() + handovers.size());
  size_t next = 0;
  for (const replay::Handover& handover : handovers) {
    while (next < pieces.size() && pieces[next].begin < handover.time) {
      all.push_back(pieces[next++]);
    }
    if (!all.empty() && all.back().end >= handover.time) continue;
    all.push_back({handover.time - kInstant, handover.time, handover.from});
  }
  for (; next < pieces.size(); ++next) all.push_back(pieces[next]);
  pieces = std::move(all);
}

/// Lists the pieces of this rank's locations.
Pieces list_pieces(const Run& run, const WaitGraph& graph, unsigned threads) {
  Pieces pieces(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const size_t id = run.locations[i].index();
    pieces[id] = pieces_of(run.timelines[id].activities, graph.waits[id]);
    add_handovers(graph.handovers[id], pieces[id]);
  });
  return pieces;
}

// --- the way ----------------------------------------------------------------------------------

/// Where the walk is.
struct Baton {
  LocationId here;
  Time now;
  uint64_t hops = 0;  ///< since it last stayed anywhere
};

class Walk {
 public:
  Walk(const Run& run, const Pieces& pieces, size_t locations)
      : run_(run),
        pieces_(pieces),
        locations_(locations),
        longest_(Duration::from_nanos((run.end - run.begin).nanos() / kCuts + 1)) {
    for (const Column<Piece>& list : pieces) next_.push_back(list.size());
  }

  /// Returns the intervals of the path on this rank's locations, in order of time. Collective.
  Column<Stretch> back_from(LocationId last) {
    Baton baton{last, run_.end};
    for (bool here = run_.owns(last); here || receive(baton); here = false) {
      walk(baton);
      if (run_.ranks->alone()) break;
      if (pass_on(baton)) break;
    }
    std::reverse(stretches_.begin(), stretches_.end());
    return std::move(stretches_);
  }

 private:
  /// The path is cut into at least this many parts, which are processed in parallel.
  static constexpr int64_t kCuts = 512;

  /// Goes on while the path is on locations of this rank.
  void walk(Baton& baton) {
    auto& [here, now, hops] = baton;
    while (now > run_.begin && run_.owns(here)) {
      const Piece* piece = last_piece(here, now);
      const bool waits = piece != nullptr && piece->end >= now;
      // Wrong clocks can make locations wait for each other in a circle: the path then stays on its
      // location.
      if (waits && hops++ < locations_) {
        here = piece->cause;
        continue;
      }
      hops = 0;
      stay(here, piece == nullptr ? run_.begin : waits ? piece->begin : piece->end, now);
    }
  }

  /// Passes the baton to the rank that goes on; at the end, to all. Returns whether it is the end.
  bool pass_on(const Baton& baton) {
    Stream& stream = stream_of(*run_.ranks);
    const auto send = [&](size_t to) {
      Packer packer;
      packer.put(baton);
      stream.send(to, packer.take());
    };
    if (baton.now > run_.begin) return send(run_.owner(baton.here)), false;
    for (size_t rank = 0; rank < run_.ranks->size(); ++rank) {
      if (rank != run_.ranks->rank()) send(rank);
    }
    return true;
  }
  /// Returns false at the end.
  bool receive(Baton& baton) {
    baton = Unpacker(stream_of(*run_.ranks).receive()).get<Baton>();
    return baton.now > run_.begin;
  }

  /// Returns the location's last wait that begins before `now`, which only decreases.
  const Piece* last_piece(LocationId here, Time now) {
    const Column<Piece>& list = pieces_[here.index()];
    size_t& high = next_[here.index()];  // from this index on, waits begin at now or later
    size_t step = 1, low = high;
    while (low > 0 && list[low - 1].begin >= now) {
      high = low - 1;
      low = low > step ? low - step : 0;
      step *= 2;
    }
    const Piece* next =
        std::lower_bound(list.begin() + low, list.begin() + high, now,
                         [](const Piece& piece, Time time) { return piece.begin < time; });
    high = static_cast<size_t>(next - list.begin());
    return high > 0 ? next - 1 : nullptr;
  }

  void stay(LocationId here, Time since, Time& now) {
    while (now > since) {
      const Time begin = now - since > longest_ ? now - longest_ : since;
      stretches_.push_back({begin, now, here});
      now = begin;
    }
  }

  const Run& run_;
  const Pieces& pieces_;
  const size_t locations_;    // of all ranks
  const Duration longest_;    // the longest interval
  std::vector<size_t> next_;  // by LocationId: the first piece that does not begin before now
  Column<Stretch> stretches_;
};

// --- its segments -----------------------------------------------------------------------------

/// The segments of some intervals, one after the other.
struct Cuts {
  Column<PathSegment> segments;
  Column<uint32_t> sizes;  ///< of each stretch: how many
  std::vector<CriticalPlace> places;
};

/// Cuts intervals into segments by the activities of their locations.
class Cutter {
 public:
  explicit Cutter(const Run& run) : run_(run) {}

  void cut(const Stretch& stretch) {
    const Activities& life = run_.at(stretch.location).activities;
    const size_t before = cuts_.segments.size();
    for (size_t i = life.after(stretch.begin); i < life.size() && life.begin(i) < stretch.end;
         ++i) {
      const Time begin = std::max(stretch.begin, life.begin(i));
      const Time end = std::min(stretch.end, life.end(i));
      if (begin < end) add({stretch.location, life.path(i), begin, end}, before);
    }
    cuts_.sizes.push_back(static_cast<uint32_t>(cuts_.segments.size() - before));
  }
  Cuts take() { return std::move(cuts_); }

 private:
  void add(const PathSegment& segment, size_t first) {
    const uint64_t key = uint64_t{segment.location.index()} << 32 | segment.path.index();
    const auto fresh = static_cast<uint32_t>(cuts_.places.size());
    const uint32_t row = row_of_.at(key, fresh);
    if (row == fresh) cuts_.places.push_back({segment.location, segment.path, Duration::zero()});
    cuts_.places[row].on_path += segment.end - segment.begin;
    if (cuts_.segments.size() > first && cuts_.segments.back().path == segment.path) {
      cuts_.segments.back().end = segment.end;
    } else {
      cuts_.segments.push_back(segment);
    }
  }

  const Run& run_;
  FlatMap row_of_;
  Cuts cuts_;
};

/// Returns the path's time by location and call path, each once.
std::vector<CriticalPlace> join_places(const std::vector<Cuts>& cuts) {
  std::vector<CriticalPlace> all, joined;
  for (const Cuts& some : cuts) all.insert(all.end(), some.places.begin(), some.places.end());
  std::sort(all.begin(), all.end(), [](const CriticalPlace& a, const CriticalPlace& b) {
    return std::tie(a.location, a.path) < std::tie(b.location, b.path);
  });
  for (const CriticalPlace& place : all) {
    if (joined.empty() || joined.back().location != place.location ||
        joined.back().path != place.path) {
      joined.push_back(place);
    } else {
      joined.back().on_path += place.on_path;
    }
  }
  return joined;
}

/// Returns the segments in the order of the intervals.
std::vector<Cuts> cut_out(const Run& run, const Column<Stretch>& stretches, unsigned threads) {
  constexpr size_t kMostBlocks = 128;
  std::vector<Cuts> blocks(std::min(kMostBlocks, stretches.size()));
  parallel_for(blocks.size(), threads, [&](size_t b) {
    Cutter cutter(run);
    const size_t end = stretches.size() * (b + 1) / blocks.size();
    for (size_t s = stretches.size() * b / blocks.size(); s < end; ++s) cutter.cut(stretches[s]);
    blocks[b] = cutter.take();
  });
  return blocks;
}

/// Reads the segments that one rank has cut, one interval after the other.
class Reader {
 public:
  explicit Reader(const std::vector<Cuts>& blocks) : blocks_(blocks) {}

  std::span<const PathSegment> next() {
    while (size_ == blocks_[block_].sizes.size()) ++block_, size_ = segment_ = 0;
    const Cuts& block = blocks_[block_];
    const size_t first = segment_, count = block.sizes[size_++];
    segment_ += count;
    return {block.segments.data() + first, count};
  }

 private:
  const std::vector<Cuts>& blocks_;
  size_t block_ = 0, size_ = 0, segment_ = 0;
};

/// What all ranks have cut, on rank 0.
struct Gathered {
  std::vector<std::vector<Cuts>> cuts;  ///< by rank
  Column<Stretch> stretches;            ///< of all, in order of time
};

Gathered gather_cuts(Transport& ranks, std::vector<Cuts> own, Column<Stretch> stretches) {
  Gathered all;
  if (ranks.alone()) {
    all.cuts.push_back(std::move(own));
    all.stretches = std::move(stretches);
    return all;
  }
  Packer packer;
  packer.put_list<Stretch>(stretches);
  for (Cuts& block : own) {
    packer.put_list<PathSegment>(block.segments);
    packer.put_list<uint32_t>(block.sizes);
    block = {};
  }
  for (const Parcel& parcel : gather(ranks, packer.take())) {
    all.cuts.emplace_back();
    Unpacker from(parcel);
    if (from.done()) continue;  // not on rank 0
    from.get_list<Stretch>([&](const Stretch& s) { all.stretches.push_back(s); });
    while (!from.done()) {
      Cuts& block = all.cuts.back().emplace_back();
      from.get_list<PathSegment>([&](const PathSegment& s) { block.segments.push_back(s); });
      from.get_list<uint32_t>([&](uint32_t size) { block.sizes.push_back(size); });
    }
  }
  merge_runs(all.stretches.begin(), all.stretches.end(),
             [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return all;
}

/// Joins the segments of all intervals. Neighbours from two intervals may become one.
Column<PathSegment> join(const std::vector<std::span<const PathSegment>>& cuts, unsigned threads) {
  const auto joins = [&](size_t s) {
    return s > 0 && cuts[s].front().location == cuts[s - 1].back().location &&
           cuts[s].front().path == cuts[s - 1].back().path;
  };
  std::vector<size_t> place(cuts.size() + 1);  // of the first segment of each
  for (size_t s = 0; s < cuts.size(); ++s) {
    place[s] -= joins(s);
    place[s + 1] = place[s] + cuts[s].size();
  }
  Column<PathSegment> path;
  path.resize_uninitialized(place.back());
  constexpr size_t kBlock = 1024;
  parallel_for((cuts.size() + kBlock - 1) / kBlock, threads, [&](size_t b) {
    for (size_t s = b * kBlock; s < std::min((b + 1) * kBlock, cuts.size()); ++s) {
      const bool joined = joins(s);
      std::copy(cuts[s].begin() + joined, cuts[s].end(), path.begin() + place[s] + joined);
    }
  });
  for (size_t s = 0; s < cuts.size(); ++s) {
    if (joins(s)) path[place[s]].end = cuts[s].front().end;
  }
  return path;
}

}  // namespace

CriticalPath find_critical_path(const Run& run, const WaitGraph& graph, unsigned threads) {
  Transport& ranks = *run.ranks;
  const size_t locations = sum(ranks, run.locations.size());
  Column<Stretch> stretches;
  {
    const Pieces pieces = list_pieces(run, graph, threads);
    stretches = Walk(run, pieces, locations).back_from(run.last_to_end());
  }
  std::vector<Cuts> own = cut_out(run, stretches, threads);
  CriticalPath path;
  path.places = join_places(own);
  const Gathered all = gather_cuts(ranks, std::move(own), std::move(stretches));
  if (ranks.rank() != 0) return path;
  std::vector<Reader> readers(all.cuts.begin(), all.cuts.end());
  std::vector<std::span<const PathSegment>> cuts;
  cuts.reserve(all.stretches.size());
  for (const Stretch& s : all.stretches) {
    const std::span<const PathSegment> cut =
        readers[ranks.alone() ? 0 : run.owner(s.location)].next();
    if (!cut.empty()) cuts.push_back(cut);  // a run that ended as it began has no time in it
  }
  path.segments = join(cuts, threads);
  return path;
}

}  // namespace culprit::blame
