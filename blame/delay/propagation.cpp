// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A wait hands its cost on to the waits of its cause that lie in its interval, which end no later.
// So only what happens at one location must be in order: each walks back over two lists merged by
// end, its own waits and those that it caused. Of one that it caused it needs one number, the cost
// that this has inherited; where that is not there yet, the location stops until it is. When an own
// wait has its turn, it has inherited all that it will, and the number goes to its cause.
//
// Between ranks these numbers are all that travels. Each knows how many will come, so nobody has to
// find out when all are done; parcels of numbers leave when a rank can do nothing else, or are
// full.
#include "blame/delay/propagation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/ranks/exchange.h"
#include "base/ranks/stream.h"
#include "blame/delay/range_sums.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// The turn of a wait that a location caused; a tie's is that of the wait it belongs to.
struct Turn {
  Time end;
  Standing standing;
  uint32_t place;  ///< in DelayAnalysis::caused
};

/// What a wait has inherited, on its way to its cause.
class Inherited {
 public:
  Inherited(uint32_t number, double seconds) : number_(number) {
    std::memcpy(seconds_, &seconds, sizeof seconds);
  }
  uint32_t number() const { return number_; }
  double seconds() const {
    double seconds = 0;
    std::memcpy(&seconds, seconds_, sizeof seconds);
    return seconds;
  }

 private:
  uint32_t number_;
  uint32_t seconds_[2];  // of a double, so that it takes twelve bytes in all
};

/// Where the number of each caused wait arrives. One that is not there yet may have its location
/// waiting for it.
class Mailbox {
 public:
  explicit Mailbox(size_t count) { slots_.resize(count, kEmpty); }

  /// Returns whether it is there; if not, `waiting` is noted.
  bool take(uint32_t number, uint32_t waiting, double& seconds) {
    uint64_t& slot = slots_[number];
    if (slot == kEmpty) {
      slot = kWaiting | waiting;
      return false;
    }
    seconds = std::bit_cast<double>(slot);
    return true;
  }
  /// Calls wake(location) if one waits for it.
  template <class Wake>
  void put(uint32_t number, double seconds, const Wake& wake) {
    const uint64_t before = std::exchange(slots_[number], std::bit_cast<uint64_t>(seconds));
    if (before != kEmpty) wake(static_cast<uint32_t>(before));
  }

 private:
  // Not numbers that arithmetic can come to.
  static constexpr uint64_t kEmpty = UINT64_MAX, kWaiting = uint64_t{0xFFFE} << 48;
  Column<uint64_t> slots_;
};

/// The cost that a wait inherits after its turn.
struct Late {
  uint32_t wait;
  double factor;
};

/// The walk at one location.
struct Walker {
  LocationId id;
  Column<Turn> turns;                    ///< of what it caused, the first to come first
  Column<RangeSums::Value> next_ones{};  ///< the lowest level of `inherited`
  std::vector<Late> late{};
  size_t turn = 0;   ///< the next of `turns`
  uint32_t own = 0;  ///< of its own waits: those that had no turn yet
  size_t ties = 0;   ///< likewise
  RangeSums inherited{0};
};

class Propagation {
 public:
  Propagation(const Run& run, const WaitGraph& graph, DelayAnalysis& delays, const Moments& moments,
              Followed followed)
      : run_(run),
        graph_(graph),
        delays_(delays),
        moments_(moments),
        followed_(followed),
        parcels_(run.ranks->size()) {
    for (LocationId id : run.locations) {
      walkers_.push_back({.id = id, .turns = turns_of(id)});
      if (followed == Followed::polling) {
        delays.polling_s[id.index()].resize(delays.caused[id.index()].size());
      }
    }
  }

  /// Each wait passes on the cost that it cannot explain itself. Cost that circulates endlessly is
  /// returned.
  PatternSums propagate();

 private:
  static constexpr size_t kMostSweeps = 16;
  static constexpr size_t kParcel = (size_t{64} << 10) / sizeof(Inherited);

  Column<Turn> turns_of(LocationId id) const;
  bool any_late() const;
  void sweep();
  void start(Walker& walker);
  bool walk(Walker& walker);
  bool comes_first(const Turn& turn, const Walker& walker) const;
  void finish_own(Walker& walker);
  void tell(LocationId cause, uint32_t number, double seconds);
  void send(size_t to);
  void hand_on(Walker& walker, uint32_t place, double inherited);
  void hand_to_inner(Walker& walker, uint32_t place, RangeSums::Value what);
  void give(Walker& walker, uint32_t inner, Duration part, RangeSums::Value factor);
  void propagates(WaitCause& cause, Duration amount, double factor) const;
  void share_with_ties();

  double& sum_of(size_t id, uint32_t place) {
    return followed_ == Followed::waiting ? delays_.caused[id][place].long_s
                                          : delays_.polling_s[id][place];
  }
  /// Returns a wait's own time, which it passes on.
  double own_s(replay::Pattern pattern, Duration amount) const {
    const bool waiting = replay::counts_as_waiting(pattern);
    const bool is_followed = waiting == (followed_ == Followed::waiting);
    return first_sweep_ && is_followed ? amount.seconds() : 0;
  }

  const Run& run_;
  const WaitGraph& graph_;
  DelayAnalysis& delays_;
  const Moments& moments_;
  const Followed followed_;
  std::vector<Walker> walkers_;  // in the order of Run::locations
  std::vector<uint32_t> ready_;  // walkers that can go on
  Mailbox mailbox_{0};
  std::vector<Column<Inherited>> parcels_;  // by rank
  bool first_sweep_ = true;
};

// --- who comes when ---------------------------------------------------------------------------

/// From the latest to the earliest. At one moment, waits come by their standing, which is mostly
/// that of their locations.
Column<Turn> Propagation::turns_of(LocationId id) const {
  const Column<CausedWait>& caused = delays_.caused[id.index()];
  const Column<TiedTo>& tied_to = delays_.tied_to[id.index()];
  const uint32_t number = delays_.number[id.index()];
  Column<Turn> turns;
  turns.reserve(caused.size());
  for (size_t end = caused.size(), first = end; end > 0; end = first) {
    while (first > 0 && caused[first - 1].end == caused[end - 1].end) --first;
    for (size_t place = first; place < end; ++place) {
      const auto at = static_cast<uint32_t>(place);
      turns.push_back(
          {caused[place].end, moments_.of_caused(number + at, caused[place].ref.location), at});
    }
  }
  if (tied_to.empty() && moments_.empty()) return turns;
  for (Turn& turn : turns) {
    if (caused[turn.place].is_tie) turn.end = find_tied_to(tied_to, turn.place).end;
  }
  std::stable_sort(turns.begin(), turns.end(), [&](const Turn& a, const Turn& b) {
    if (a.end != b.end) return a.end > b.end;
    if (a.standing != b.standing) return a.standing < b.standing;
    return caused[a.place].ref.wait < caused[b.place].ref.wait;  // a wait, then its ties
  });
  return turns;
}

/// Whether a wait that the location caused comes before the location's next own one.
bool Propagation::comes_first(const Turn& turn, const Walker& walker) const {
  if (walker.own == 0) return true;
  const WaitRef own{walker.id, walker.own - 1};
  const Time end = graph_.waits[own.location.index()][own.wait].end;
  if (turn.end != end) return turn.end > end;
  return turn.standing < moments_.of(own);
}

// --- sweeps -----------------------------------------------------------------------------------

/// The waits that inherit from a wait mostly come later, because waits inside its interval end
/// before it does. Where one does not (it reaches beyond the interval's end, because tasks ran
/// within it or clocks are wrong), its inheritance is left for another sweep.
PatternSums Propagation::propagate() {
  sweep();
  first_sweep_ = false;
  for (size_t n = 0; n < kMostSweeps && any_late(); ++n) sweep();
  PatternSums lost{};
  for (const Walker& walker : walkers_) {
    for (const Late& late : walker.late) {
      const Wait& wait = graph_.waits[walker.id.index()][late.wait];
      lost[static_cast<size_t>(wait.pattern)] += late.factor * wait.amount.seconds();
    }
  }
  share_with_ties();
  return lost;
}

bool Propagation::any_late() const {
  uint64_t late = 0;
  for (const Walker& walker : walkers_) late += walker.late.size();
  return sum(*run_.ranks, late) > 0;
}

void Propagation::sweep() {
  size_t caused = 0, left = walkers_.size();
  ready_.clear();
  for (Walker& walker : walkers_) {
    caused += walker.turns.size();
    start(walker);
    ready_.push_back(static_cast<uint32_t>(ready_.size()));
  }
  std::reverse(ready_.begin(), ready_.end());
  mailbox_ = Mailbox(caused);
  for (;;) {
    while (!ready_.empty()) {
      const uint32_t next = ready_.back();
      ready_.pop_back();
      left -= walk(walkers_[next]);
    }
    for (size_t rank = 0; rank < parcels_.size(); ++rank) send(rank);
    if (left == 0) return;
    CULPRIT_CHECK(!run_.ranks->alone());
    const Parcel parcel = stream_of(*run_.ranks).receive();
    for (size_t at = 0; at < parcel.size(); at += sizeof(Inherited)) {
      Inherited one(0, 0);
      std::memcpy(static_cast<void*>(&one), parcel.data() + at, sizeof one);
      mailbox_.put(one.number(), one.seconds(), [&](uint32_t walker) { ready_.push_back(walker); });
    }
  }
}

void Propagation::start(Walker& walker) {
  const size_t own = graph_.waits[walker.id.index()].size();
  walker.turn = 0;
  walker.own = static_cast<uint32_t>(own);
  walker.ties = delays_.tied[walker.id.index()].size();
  walker.inherited = RangeSums(own);
  walker.next_ones.clear();
  walker.next_ones.resize(own);
  for (const Late& late : std::exchange(walker.late, {})) {
    walker.next_ones[late.wait].sum += late.factor;
  }
}

/// Goes on until a number is missing. Returns whether the location is done.
bool Propagation::walk(Walker& walker) {
  const uint32_t number = delays_.number[walker.id.index()];
  for (;;) {
    if (walker.turn < walker.turns.size() && comes_first(walker.turns[walker.turn], walker)) {
      const uint32_t place = walker.turns[walker.turn].place;
      double inherited = 0;
      const auto me = static_cast<uint32_t>(&walker - walkers_.data());
      if (!mailbox_.take(number + place, me, inherited)) return false;
      ++walker.turn;
      hand_on(walker, place, inherited);
    } else if (walker.own > 0) {
      finish_own(walker);
    } else {
      return true;
    }
  }
}

// --- an own wait ------------------------------------------------------------------------------

void Propagation::finish_own(Walker& walker) {
  const size_t id = walker.id.index();
  const uint32_t own = --walker.own;
  const Wait& wait = graph_.waits[id][own];
  Column<WaitCause>& causes = delays_.causes[id];
  const RangeSums::Value factor = walker.inherited.at(own, walker.next_ones[own]);
  const double inherited = wait.amount.seconds() * factor.sum;
  propagates(causes[own], wait.amount, factor.largest);
  tell(wait.cause, causes[own].number, inherited);
  const Column<uint32_t>& tied = delays_.tied[id];
  for (; walker.ties > 0 && tied[walker.ties - 1] == own; --walker.ties) {
    const size_t tie = walker.ties - 1;
    tell(graph_.ties[id][tie].cause, causes[graph_.waits[id].size() + tie].number, inherited);
  }
}

void Propagation::tell(LocationId cause, uint32_t number, double seconds) {
  const size_t owner = run_.ranks->alone() ? 0 : run_.owner(cause);
  if (owner == run_.ranks->rank()) {
    return mailbox_.put(number, seconds, [&](uint32_t walker) { ready_.push_back(walker); });
  }
  parcels_[owner].push_back({number, seconds});
  if (parcels_[owner].size() == kParcel) send(owner);
}

void Propagation::send(size_t to) {
  Column<Inherited>& numbers = parcels_[to];
  if (numbers.empty()) return;
  Parcel parcel;
  parcel.resize_uninitialized(numbers.size() * sizeof(Inherited));
  std::memcpy(parcel.data(), static_cast<const void*>(numbers.data()), parcel.size());
  numbers.clear();
  stream_of(*run_.ranks).send(to, std::move(parcel));
}

// --- a wait that the location caused ----------------------------------------------------------

/// A wait's cost is divided among its cause and the locations that were nearly as late.
void Propagation::hand_on(Walker& walker, uint32_t place, double inherited) {
  const size_t id = walker.id.index();
  const CausedWait& caused = delays_.caused[id][place];
  sum_of(id, place) += inherited;
  const Duration whole =
      caused.is_tie ? find_tied_to(delays_.tied_to[id], place).amount : caused.amount;
  const double own = own_s(caused.pattern, whole);
  if (own + inherited == 0) return;
  const double part =
      caused.is_tie ? caused.share * caused.amount.seconds() / whole.seconds() : caused.share;
  hand_to_inner(walker, place, {part * (own + inherited), part * own});
}

/// The factors for all waits that lie wholly in an interval are added to a range at once.
void Propagation::hand_to_inner(Walker& walker, uint32_t place, RangeSums::Value what) {
  const size_t id = walker.id.index();
  const CausedWait& c = delays_.caused[id][place];
  if (c.first_wait == c.end_wait) return;
  const double share = c.more / c.denominator_s();
  const RangeSums::Value by{what.sum * share, what.largest * share};
  const Column<Wait>& waits = graph_.waits[id];
  CutWaits parts{place, waits[c.first_wait].amount, waits[c.end_wait - 1].amount};
  if (c.is_cut) {
    const Column<CutWaits>& cuts = delays_.cuts[id];
    parts = *std::lower_bound(cuts.begin(), cuts.end(), place,
                              [](const CutWaits& cut, uint32_t at) { return cut.place < at; });
  }
  give(walker, c.first_wait, parts.first, by);
  if (c.end_wait - c.first_wait == 1) return;
  walker.inherited.add(c.first_wait + 1, c.end_wait - 1, by, [&](size_t i, RangeSums::Value value) {
    RangeSums::raise(walker.next_ones[i], value);
  });
  give(walker, c.end_wait - 1, parts.last, by);
}

/// Passes cost on to a wait of which only a part may lie in the interval.
void Propagation::give(Walker& walker, uint32_t inner, Duration part, RangeSums::Value factor) {
  const Duration amount = graph_.waits[walker.id.index()][inner].amount;
  if (part != amount) {
    const double fraction = part.seconds() / amount.seconds();
    factor.sum *= fraction;
    factor.largest *= fraction;
  }
  if (inner < walker.own) return RangeSums::raise(walker.next_ones[inner], factor);
  propagates(delays_.causes[walker.id.index()][inner], amount, factor.largest);
  if (factor.sum > 0) walker.late.push_back({inner, factor.sum});
}

void Propagation::propagates(WaitCause& cause, Duration amount, double factor) const {
  if (followed_ != Followed::waiting) return;
  const double part = std::max(cause.propagating_s, amount.seconds() * factor);
  cause.propagating_s = std::min(amount.seconds(), part);
}

/// Ties inherit the long-term cost of their wait, each in proportion to its lateness.
void Propagation::share_with_ties() {
  for (const Walker& walker : walkers_) {
    const size_t id = walker.id.index();
    for (const TiedTo& tie : delays_.tied_to[id]) {
      sum_of(id, tie.place) *=
          delays_.caused[id][tie.place].amount.seconds() / tie.amount.seconds();
    }
  }
}

}  // namespace

PatternSums propagate_waits(const Run& run, const WaitGraph& graph, DelayAnalysis& delays,
                            const Moments& moments, Followed followed) {
  return Propagation(run, graph, delays, moments, followed).propagate();
}

}  // namespace culprit::blame
