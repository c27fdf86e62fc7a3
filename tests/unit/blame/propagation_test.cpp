// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Propagation by location, on any number of ranks, says to the last bit what one walk over all
// waits says, from the latest to the earliest: also where waits end together, reach beyond the
// interval that they are in, or wait for each other in circles. The waits are random numbers, small
// ones, so that all of that happens all the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "blame/delay/moments.h"
#include "blame/delay/propagation.h"
#include "blame/delay/range_sums.h"
#include "tests/support/rank_threads.h"

namespace culprit::blame {
namespace {

using replay::Wait;
using testing_support::RankThreads;

/// The waits and ties of all locations, and what is known of each before propagation.
struct World {
  std::vector<std::vector<Wait>> waits, ties;  // by location
  std::vector<std::vector<uint32_t>> tied;     // of each tie, the wait
  std::vector<std::vector<CausedWait>> known;  // by waiter, by wait, then by tie
  std::vector<std::vector<CutWaits>> parts;    // likewise
  size_t locations() const { return waits.size(); }
  const Wait& wait(size_t id, size_t number) const {
    return number < waits[id].size() ? waits[id][number] : ties[id][number - waits[id].size()];
  }
};

Time at(int64_t nanos) {
  return Time::from_nanos(nanos);
}

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  World make(size_t locations, size_t waits) {
    World world;
    world.waits.resize(locations), world.ties.resize(locations), world.tied.resize(locations);
    for (size_t id = 0; id < locations; ++id) {
      int64_t now = below(4);
      for (size_t n = 0; n < waits; ++n) {
        now += below(3);
        add_wait(world, id, now, now + 1 + below(4));
        now = (world.waits[id].back().end - Time()).nanos();
      }
    }
    know(world);
    return world;
  }
  /// Fills in what is known of each wait, once all are there.
  void know(World& world) {
    world.known.assign(world.locations(), {}), world.parts.assign(world.locations(), {});
    for (size_t id = 0; id < world.locations(); ++id) {
      const size_t waits = world.waits[id].size();
      for (size_t n = 0; n < waits + world.ties[id].size(); ++n) know_one(world, id, n);
      share(world, id);
    }
  }
  int64_t below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(end));
  }

 private:
  void add_wait(World& world, size_t id, int64_t begin, int64_t end) {
    const auto other = [&] {
      const size_t step =
          1 + static_cast<size_t>(below(static_cast<int64_t>(world.locations()) - 1));
      return LocationId((id + step) % world.locations());
    };
    const replay::Pattern pattern =
        below(5) == 0 ? replay::pattern("mpi.polling") : replay::pattern("mpi.late_sender");
    const Wait wait{at(begin), at(end), Duration::from_nanos(end - begin), CallPathId(0), other(),
                    0,         pattern};
    if (below(4) == 0) {
      Wait tie = wait;
      tie.cause = other();
      if (tie.cause != wait.cause) {
        tie.end = at(end - below(2));
        if (tie.end > tie.begin) {
          tie.amount = tie.end - tie.begin;
          world.ties[id].push_back(tie);
          world.tied[id].push_back(static_cast<uint32_t>(world.waits[id].size()));
        }
      }
    }
    world.waits[id].push_back(wait);
  }

  void know_one(World& world, size_t id, size_t n) {
    const Wait& wait = world.wait(id, n);
    const std::vector<Wait>& inner = world.waits[wait.cause.index()];
    const Time since = wait.begin - Duration::from_nanos(below(9));
    CausedWait c{.ref = {LocationId(id), static_cast<uint32_t>(n)},
                 .end = wait.end,
                 .amount = wait.amount,
                 .pattern = wait.pattern};
    c.late = {Duration::from_nanos(below(5)), Duration::from_nanos(below(5))};
    c.more = 1.0 / static_cast<double>(1 + below(7));
    c.is_tie = n >= world.waits[id].size();
    while (c.first_wait < inner.size() && inner[c.first_wait].end <= since) ++c.first_wait;
    c.end_wait = c.first_wait;
    while (c.end_wait < inner.size() && inner[c.end_wait].begin < wait.end) ++c.end_wait;
    CutWaits parts{};
    if (c.first_wait < c.end_wait) {
      const auto part = [&](const Wait& w) {
        return std::min(w.end, wait.end) - std::max(w.begin, since);
      };
      parts = {0, part(inner[c.first_wait]), part(inner[c.end_wait - 1])};
      c.is_cut =
          parts.first != inner[c.first_wait].amount || parts.last != inner[c.end_wait - 1].amount;
    }
    world.known[id].push_back(c);
    world.parts[id].push_back(parts);
  }

  static void share(World& world, size_t id) {
    for (size_t t = 0; t < world.tied[id].size(); ++t) {
      world.known[id][world.waits[id].size() + t].share = 0.5;
      world.known[id][world.tied[id][t]].share = 0.5;
    }
  }

  std::mt19937 random_;
};

/// By waiter and wait.
struct Answer {
  std::vector<std::vector<double>> inherited, propagating;
  size_t together = 0, circles = 0, late = 0;  ///< how often these happened
};

/// One walk over all waits, as plainly as it can be written.
class Central {
 public:
  Central(const World& world, Followed followed) : world_(world), followed_(followed) {
    for (size_t id = 0; id < world.locations(); ++id) {
      answer_.inherited.emplace_back(world.waits[id].size());
      answer_.propagating.emplace_back(world.waits[id].size());
    }
  }

  Answer walk() {
    std::vector<std::vector<RangeSums::Value>> later;
    for (const auto& waits : world_.waits) later.emplace_back(waits.size());
    for (int n = 0; n <= 16; ++n) {
      ones_ = later;
      sums_.clear();
      for (auto& waits : world_.waits) sums_.emplace_back(waits.size());
      done_from_.clear();
      for (auto& waits : world_.waits) done_from_.push_back(waits.size());
      late_.clear();
      for (const WaitRef ref : order()) take_turn(ref, n == 0);
      if (late_.empty()) break;
      for (auto& list : later) std::fill(list.begin(), list.end(), RangeSums::Value());
      for (const auto& [ref, factor] : late_) later[ref.location.index()][ref.wait].sum += factor;
      answer_.late += late_.size();
    }
    return std::move(answer_);
  }

 private:
  /// From the latest to the earliest; of those at one moment, along chains from their heads.
  std::vector<WaitRef> order() {
    std::map<Time, std::vector<WaitRef>, std::greater<>> moments;
    for (size_t id = 0; id < world_.locations(); ++id) {
      for (size_t n = 0; n < world_.waits[id].size(); ++n) {
        moments[world_.waits[id][n].end].push_back({LocationId(id), static_cast<uint32_t>(n)});
      }
    }
    std::vector<WaitRef> all;
    for (auto& [time, waits] : moments) add_chains(waits, all);
    return all;
  }
  void add_chains(const std::vector<WaitRef>& waits, std::vector<WaitRef>& all) {
    std::map<LocationId, WaitRef> here;
    for (const WaitRef ref : waits) here[ref.location] = ref;
    const auto next = [&](WaitRef ref) {
      const CausedWait& c = world_.known[ref.location.index()][ref.wait];
      const auto found = here.find(world_.wait(ref.location.index(), ref.wait).cause);
      const bool is_next =
          c.first_wait != c.end_wait && found != here.end() && found->second.wait == c.end_wait - 1;
      return is_next ? std::optional(found->second) : std::nullopt;
    };
    std::map<LocationId, int> before;
    for (const WaitRef ref : waits) {
      if (const auto to = next(ref)) ++before[to->location], ++answer_.together;
    }
    std::set<LocationId> done;
    for (const bool circles : {false, true}) {
      for (const WaitRef head : waits) {
        std::optional<WaitRef> ref = head;
        while (ref && !done.contains(ref->location) && (circles || before[ref->location] == 0)) {
          done.insert(ref->location);
          all.push_back(*ref);
          answer_.circles += circles;
          ref = next(*ref);
          if (ref) --before[ref->location];
        }
      }
    }
  }

  void take_turn(WaitRef ref, bool first) {
    const size_t id = ref.location.index();
    const Wait& wait = world_.waits[id][ref.wait];
    const RangeSums::Value factor = sums_[id].at(ref.wait, ones_[id][ref.wait]);
    done_from_[id] = ref.wait;
    const double inherited = wait.amount.seconds() * factor.sum;
    answer_.inherited[id][ref.wait] += inherited;
    propagates(id, ref.wait, factor.largest);
    const bool followed =
        replay::counts_as_waiting(wait.pattern) == (followed_ == Followed::waiting);
    const double own = first && followed ? wait.amount.seconds() : 0;
    if (own + inherited == 0) return;
    hand_to(id, ref.wait, world_.known[id][ref.wait].share, own, inherited);
    for (size_t t = 0; t < world_.ties[id].size(); ++t) {
      if (world_.tied[id][t] != ref.wait) continue;
      const Wait& tie = world_.ties[id][t];
      const size_t number = world_.waits[id].size() + t;
      const double share =
          world_.known[id][number].share * tie.amount.seconds() / wait.amount.seconds();
      hand_to(id, number, share, own, inherited);
    }
  }
  void hand_to(size_t id, size_t number, double share, double own, double inherited) {
    const CausedWait& c = world_.known[id][number];
    if (c.first_wait == c.end_wait) return;
    const size_t late = world_.wait(id, number).cause.index();
    const double part = c.more / c.denominator_s();
    const RangeSums::Value by{share * (own + inherited) * part, share * own * part};
    const CutWaits& parts = world_.parts[id][number];
    give(late, c.first_wait, parts.first, by);
    if (c.end_wait - c.first_wait == 1) return;
    sums_[late].add(c.first_wait + 1, c.end_wait - 1, by, [&](size_t i, RangeSums::Value value) {
      RangeSums::raise(ones_[late][i], value);
    });
    give(late, c.end_wait - 1, parts.last, by);
  }
  void give(size_t id, uint32_t inner, Duration part, RangeSums::Value by) {
    const Duration amount = world_.waits[id][inner].amount;
    if (part != amount) {
      by.sum *= part.seconds() / amount.seconds();
      by.largest *= part.seconds() / amount.seconds();
    }
    if (inner < done_from_[id]) return RangeSums::raise(ones_[id][inner], by);
    propagates(id, inner, by.largest);
    if (by.sum > 0) late_.emplace_back(WaitRef{LocationId(id), inner}, by.sum);
  }
  void propagates(size_t id, uint32_t wait, double factor) {
    if (followed_ != Followed::waiting) return;
    const double amount = world_.waits[id][wait].amount.seconds();
    double& part = answer_.propagating[id][wait];
    part = std::min(amount, std::max(part, amount * factor));
  }

  const World& world_;
  const Followed followed_;
  std::vector<std::vector<RangeSums::Value>> ones_;
  std::vector<RangeSums> sums_;
  std::vector<size_t> done_from_;
  std::vector<std::pair<WaitRef, double>> late_;
  Answer answer_;
};

/// What a rank knows of the world.
struct Share {
  replay::Run run;
  replay::WaitGraph graph;
  DelayAnalysis delays;
};

trace::Definitions definitions_of(const World& world) {
  trace::Definitions definitions;
  for (size_t id = 0; id < world.locations(); ++id) {
    definitions.locations.emplace_back().process = ProcessId(id);
    definitions.processes.emplace_back().locations = {LocationId(id)};
  }
  return definitions;
}

/// Numbers all waits and ties as the ranks of their causes do. By cause: what it caused.
std::vector<std::vector<WaitRef>> list_caused(const World& world) {
  std::vector<std::vector<WaitRef>> caused(world.locations());
  for (size_t id = 0; id < world.locations(); ++id) {
    for (uint32_t n = 0; n < world.known[id].size(); ++n) {
      caused[world.wait(id, n).cause.index()].push_back({LocationId(id), n});
    }
  }
  for (auto& list : caused) {
    std::stable_sort(list.begin(), list.end(), [&](WaitRef a, WaitRef b) {
      return world.wait(a.location.index(), a.wait).end <
             world.wait(b.location.index(), b.wait).end;
    });
  }
  return caused;
}

void fill(const World& world, Share& share) {
  const size_t count = world.locations();
  DelayAnalysis& delays = share.delays;
  share.graph.waits.resize(count), share.graph.ties.resize(count);
  delays.causes.resize(count), delays.tied.resize(count), delays.caused.resize(count);
  delays.number.resize(count), delays.cuts.resize(count), delays.tied_to.resize(count);
  delays.polling_s.resize(count);
  const replay::Run& run = share.run;
  for (LocationId id : run.locations) {
    for (const Wait& wait : world.waits[id.index()]) share.graph.waits[id.index()].push_back(wait);
    for (const Wait& tie : world.ties[id.index()]) share.graph.ties[id.index()].push_back(tie);
    for (uint32_t wait : world.tied[id.index()]) delays.tied[id.index()].push_back(wait);
    delays.causes[id.index()].resize(world.known[id.index()].size());
  }
  std::map<size_t, uint32_t> next;  // by rank
  const std::vector<std::vector<WaitRef>> caused = list_caused(world);
  for (size_t late = 0; late < count; ++late) {
    uint32_t& number = next[run.owner(LocationId(late))];
    delays.number[late] = number;
    for (const WaitRef ref : caused[late]) {
      const size_t id = ref.location.index();
      if (run.owns(ref.location)) delays.causes[id][ref.wait].number = number;
      ++number;
      if (!run.owns(LocationId(late))) continue;
      const CausedWait& c = world.known[id][ref.wait];
      const auto place = static_cast<uint32_t>(delays.caused[late].size());
      if (c.is_cut) {
        const CutWaits& parts = world.parts[id][ref.wait];
        delays.cuts[late].push_back({place, parts.first, parts.last});
      }
      if (c.is_tie) {
        const Wait& whole = world.waits[id][world.tied[id][ref.wait - world.waits[id].size()]];
        delays.tied_to[late].push_back({place, whole.end, whole.amount});
      }
      delays.caused[late].push_back(c);
    }
  }
}

void expect_answer(const World& world, const Answer& answer, Followed followed,
                   const Share& share) {
  for (LocationId late : share.run.locations) {
    const Column<CausedWait>& caused = share.delays.caused[late.index()];
    for (size_t place = 0; place < caused.size(); ++place) {
      const CausedWait& c = caused[place];
      const size_t id = c.ref.location.index();
      const double found =
          followed == Followed::waiting ? c.long_s : share.delays.polling_s[late.index()][place];
      if (!c.is_tie) {
        EXPECT_EQ(found, answer.inherited[id][c.ref.wait]);
        continue;
      }
      const uint32_t whole = world.tied[id][c.ref.wait - world.waits[id].size()];
      EXPECT_EQ(found, c.amount.seconds() / world.waits[id][whole].amount.seconds() *
                           answer.inherited[id][whole]);
    }
    for (size_t n = 0; n < world.waits[late.index()].size(); ++n) {
      EXPECT_EQ(share.delays.causes[late.index()][n].propagating_s,
                answer.propagating[late.index()][n]);
    }
  }
}

void expect_same(const World& world, const Answer& answer, Followed followed, size_t ranks) {
  const trace::Definitions definitions = definitions_of(world);
  RankThreads(ranks).run([&](Transport& transport) {
    Share share;
    share.run.definitions = &definitions;
    share.run.ranks = &transport;
    share.run.shares = replay::Shares(definitions, ranks);
    for (size_t id = 0; id < world.locations(); ++id) {
      if (share.run.owns(LocationId(id))) share.run.locations.push_back(LocationId(id));
    }
    fill(world, share);
    const Moments moments = find_moments(share.run, share.graph, share.delays);
    propagate_waits(share.run, share.graph, share.delays, moments, followed);
    expect_answer(world, answer, followed, share);
  });
}

TEST(Propagation, IsThatOfOneWalkOverAllWaits) {
  size_t together = 0, circles = 0, late = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    Maker maker(seed);
    const auto locations = static_cast<size_t>(2 + maker.below(9));
    const World world = maker.make(locations, static_cast<size_t>(1 + maker.below(60)));
    for (const Followed followed : {Followed::waiting, Followed::polling}) {
      const Answer answer = Central(world, followed).walk();
      for (const size_t ranks : {1u, 3u}) {
        expect_same(world, answer, followed, ranks);
        ASSERT_FALSE(HasFailure()) << "seed " << seed << " on " << ranks << " ranks";
      }
      together += answer.together, circles += answer.circles, late += answer.late;
    }
  }
  EXPECT_GT(together, 1000u);
  EXPECT_GT(circles, 100u);
  EXPECT_GT(late, 1000u);
}

/// Each wait is due to the one before it, on the other rank.
TEST(Propagation, FollowsALongChainBetweenRanks) {
  World world;
  world.waits.resize(2), world.ties.resize(2), world.tied.resize(2);
  constexpr int64_t kHops = 100'000;
  for (int64_t hop = 0; hop < kHops; ++hop) {
    const auto here = static_cast<size_t>(hop % 2);
    world.waits[here].push_back({at(20 * hop), at(20 * hop + 15), Duration::from_nanos(15),
                                 CallPathId(0), LocationId(1 - here), 0,
                                 replay::pattern("mpi.late_sender")});
  }
  world.known.resize(2), world.parts.resize(2);
  for (size_t id = 0; id < 2; ++id) {
    for (uint32_t n = 0; n < world.waits[id].size(); ++n) {
      const Wait& wait = world.waits[id][n];
      CausedWait c{.ref = {LocationId(id), n},
                   .end = wait.end,
                   .amount = wait.amount,
                   .pattern = wait.pattern};
      c.late.waiting = Duration::from_nanos(15);
      // The other's wait before this one; the first has none before it.
      const uint32_t before = id == 0 ? n - 1 : n;
      if (id != 0 || n != 0) c.first_wait = before, c.end_wait = before + 1;
      world.known[id].push_back(c);
      world.parts[id].push_back({0, wait.amount, wait.amount});
    }
  }
  const Answer answer = Central(world, Followed::waiting).walk();
  EXPECT_NEAR(answer.inherited[0][0], 15e-9 * (kHops - 1), 1e-12);
  for (const size_t ranks : {1u, 2u}) expect_same(world, answer, Followed::waiting, ranks);
}

}  // namespace
}  // namespace culprit::blame
