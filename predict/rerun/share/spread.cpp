// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A phase's level is found without sorting: all members are done after the mean amount of work,
// unless a member's other work, or indivisible work, takes longer.
#include "predict/rerun/share/spread.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/result.h"
#include "predict/rerun/share/phases.h"
#include "replay/read/openmp_facts_builder.h"

namespace culprit::predict {

namespace {

using replay::OpenmpRegion;
using replay::Run;
using trace::RegionRole;

/// None: the construct around it decides.
std::optional<Indivisible> unit_of(const trace::Region& region) {
  if (region.paradigm != trace::Paradigm::openmp) return std::nullopt;
  if (region.role == RegionRole::critical || region.name.find("ordered") != std::string::npos) {
    return Indivisible::exclusive;
  }
  switch (replay::openmp_region_of(region)) {
    case OpenmpRegion::task:
      return Indivisible::task;
    case OpenmpRegion::single:
    case OpenmpRegion::masked:
      return Indivisible::construct;
    case OpenmpRegion::sections:
      return Indivisible::visit;
    default:
      break;
  }
  if (region.role == RegionRole::worksharing || region.role == RegionRole::parallel) {
    return Indivisible::nothing;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Indivisible> units_of(const Run& run, const std::vector<CallPathId>& loops) {
  std::vector<Indivisible> units(run.callpaths.size(), Indivisible::nothing);
  for (size_t i = 0; i < units.size(); ++i) {
    const auto& node = run.callpaths[CallPathId(i)];
    const auto own = node.region.valid() ? unit_of(run.regions[node.region.index()]) : std::nullopt;
    if (std::find(loops.begin(), loops.end(), CallPathId(i)) != loops.end()) {
      units[i] = Indivisible::iterations;
    } else if (own) {
      units[i] = *own;
    } else if (node.parent.valid()) {
      units[i] = units[node.parent.index()];  // parents come first
    }
  }
  return units;
}

// --- the first walk -----------------------------------------------------------------------------

BusyStretches::BusyStretches(const Column<Hub>& hubs, const Column<Meeting>& meetings, Over over,
                             Time begin, std::span<const PassedAt> of_process)
    : hubs_(&hubs),
      meetings_(&meetings),
      over_(over),
      time_(static_cast<double>(begin.nanos())),
      of_process_(of_process),
      begin_(time_) {}

bool BusyStretches::counts(const Meeting& meeting) const {
  return (meeting.of == Meeting::Of::ranks) == (over_ == Over::ranks);
}

/// `next`: the first step behind it.
void BusyStretches::close(uint32_t meeting, uint32_t place, uint32_t next) {
  list_.push_back({meeting, first_, place, begin_, busy_, longest_, waits_});
  first_ = next;
  begin_ = time_;
  busy_ = 0;
  longest_ = {};
  waits_ = Passage::kNone;
}

void BusyStretches::pass(const Step& step, double nanos, const Passage& before) {
  if (step.takes_time()) {
    const Span recorded{time_, time_ + static_cast<double>(step.amount)};
    if (step.kind() != StepKind::idle) {
      busy_ += nanos;
    } else if (recorded.length() > longest_.length() && arrived_ == kNoHub) {
      longest_ = recorded;
      waits_ = before.timed;
    }
    time_ = recorded.end;
    while (!of_process_.empty() && static_cast<double>(of_process_.front().time.nanos()) <= time_) {
      close(of_process_.front().meeting, before.timed, before.timed + 1);
      of_process_ = of_process_.subspan(1);
    }
    return;
  }
  if (!step.is_meeting() || over_ == Over::all) return;
  const Hub& hub = (*hubs_)[step.what];
  if (hub.meeting == Hub::kNone) return;
  const Meeting& meeting = (*meetings_)[hub.meeting];
  if (!counts(meeting)) return;
  if (meeting.of == Meeting::Of::team) return pass_barrier(step, before);
  if (step.kind() == StepKind::signal || (meeting.at_gate && last_hub_ != step.what)) {
    close(hub.meeting, before.last(), before.timed);
    last_hub_ = step.what;
  } else if (last_hub_ == step.what) {
    begin_ = time_ - busy_;  // what it waited for the others is no part of what follows
    first_ = before.timed;
    longest_ = {}, waits_ = Passage::kNone;
  } else if (meeting.of == Meeting::Of::fork) {
    begin_ = time_, busy_ = 0;  // called to a team: until then it had nothing to do
    first_ = before.timed;
  }
}

/// The tasks that a thread executes in a barrier are part of what this barrier waits for.
void BusyStretches::pass_barrier(const Step& step, const Passage& before) {
  if (arrived_ != kNoHub && (arrived_ != step.what || step.kind() == StepKind::gate)) {
    close((*hubs_)[arrived_].meeting, place_, before.timed);
    arrived_ = kNoHub;
  }
  if (step.kind() != StepKind::signal) return;
  arrived_ = step.what;
  place_ = before.last();
}

void BusyStretches::finish(const Passage& end) {
  if (arrived_ != kNoHub) close((*hubs_)[arrived_].meeting, place_, end.timed);
  close(BusyStretch::kEnd, end.before_signal != Passage::kNone ? end.before_signal : end.last(),
        end.timed);
}

/// A visit belongs to the stretch in which it begins.
void Portion::add(double nanos, const Passage& before, const BusyStretches& at, Indivisible unit) {
  const uint32_t stretch = at.now();
  const bool fresh = before.meetings != meetings_;
  if (fresh && (parts_.empty() || parts_.back().stretch != stretch)) {
    parts_.push_back({.stretch = stretch,
                      .first = static_cast<uint32_t>(visits_.size()),
                      .nanos = 0,
                      .recorded = {at.time(), at.time()},
                      .unit = 0,
                      .construct = 0,
                      .exclusive = 0,
                      .iterations = false,
                      .task = false});
  }
  if (fresh) visits_.push_back(0);
  Part& part = parts_.back();
  piece_ = !fresh && timed_ == before.timed ? piece_ + nanos : nanos;
  meetings_ = before.meetings;
  timed_ = before.timed + 1;
  visits_.back() += nanos;
  part.nanos += nanos;
  part.recorded.end = at.time() + nanos;
  if (unit == Indivisible::exclusive) part.exclusive += static_cast<float>(nanos);
  if (unit == Indivisible::visit) part.unit = std::max(part.unit, static_cast<float>(piece_));
  if (unit == Indivisible::construct) part.construct += static_cast<float>(nanos);
  part.iterations |= unit == Indivisible::iterations;
  part.task |= unit == Indivisible::task;
}

double Portion::sum() const {
  return std::accumulate(visits_.begin(), visits_.end(), 0.0);
}

// --- between the walks --------------------------------------------------------------------------

namespace {

/// When all are to be done.
struct Level {
  double time = 0;    ///< since the phase's begin
  double part = 1;    ///< of what each could take until then
  double before = 0;  ///< when the last was done
  bool by_unit = false;
};

/// Who has none of the work and waits while others do it, has that wait for its part: behind it, it
/// would wait as long as before.
uint32_t place_for(const BusyStretch& stretch, const Span& worked) {
  const double both =
      std::min(stretch.longest.end, worked.end) - std::max(stretch.longest.begin, worked.begin);
  const bool waits_for_it = stretch.waits != Passage::kNone && both >= stretch.longest.length() / 2;
  return waits_for_it ? stretch.waits : stretch.place;
}

/// Who has none of the work gets its part in as many pieces as those have visits who do: they may
/// wait for each other between any two.
void give_in_pieces(const BusyStretch& stretch, const Span& worked, double nanos, uint32_t visits,
                    Share& share) {
  if (stretch.place == Passage::kNone) return;
  const uint32_t first = std::min(stretch.first, stretch.place);
  const uint64_t steps = uint64_t{stretch.place} - first + 1;
  const uint64_t pieces = std::clamp<uint64_t>(visits, 1, steps);
  if (pieces == 1) return share.given.push_back({place_for(stretch, worked), nanos});
  // What follows a wait is for the next piece: the last is not to lie behind all waits.
  for (uint64_t i = 0; i < pieces; ++i) {
    const auto place = static_cast<uint32_t>(first + i * steps / pieces);
    share.given.push_back({place, nanos / static_cast<double>(pieces)});
  }
}

class Spreader {
 public:
  Spreader(std::span<const Member> members, const Column<Meeting>& meetings,
           std::span<const EndPhase> ends, Over over)
      : members_(members), meetings_(meetings), ends_(ends), over_(over) {
    phases_.resize(meetings.size() + ends.size());
  }

  Spread spread(const PhasesElsewhere* elsewhere) {
    for (size_t m = 0; m < members_.size(); ++m) measure(m);
    std::vector<bool> owned(phases_.size(), true);
    if (elsewhere != nullptr) owned = join_phases(*elsewhere, meetings_.size(), phases_, sums_);
    Spread spread;
    for (size_t place = 0; place < phases_.size(); ++place) {
      if (owned[place]) judge(place, spread);
    }
    spread.shares.resize(members_.size());
    for (size_t m = 0; m < members_.size(); ++m) share(m, spread.shares[m]);
    return spread;
  }

 private:
  size_t place_of(const BusyStretch& stretch, size_t member) const {
    if (stretch.meeting != BusyStretch::kEnd) return stretch.meeting;
    return meetings_.size() + members_[member].end;
  }
  bool is_end(size_t place) const { return place >= meetings_.size(); }
  uint32_t pool_at_end(size_t place) const { return ends_[place - meetings_.size()].pool; }

  /// What lies between operations of all processes is compared between threads of which many are
  /// called only for regions, and what lies behind the last operation between locations that only
  /// exchange messages: there only the work itself is.
  bool alone(size_t place) const {
    return over_ == Over::all || (is_end(place) && pool_at_end(place) == 0);
  }

  /// Calls visit(stretch, place, part) for each of a member's stretches; `part`: of its portion,
  /// which that works on, or the number of its parts.
  template <class Visit>
  void for_each_stretch(size_t m, const Visit& visit) const {
    const auto& parts = members_[m].portion->parts();
    size_t part = 0;
    for (uint32_t s = 0; s < members_[m].stretches->size(); ++s) {
      const BusyStretch& stretch = (*members_[m].stretches)[s];
      const bool works = part < parts.size() && parts[part].stretch == s;
      visit(stretch, place_of(stretch, m), works ? part++ : parts.size());
    }
  }

  void measure(size_t m) {
    const Portion& portion = *members_[m].portion;
    for_each_stretch(m, [&](const BusyStretch& stretch, size_t place, size_t part) {
      const bool works = part < portion.parts().size();
      if (!works && is_end(place)) return;
      Phase& phase = phases_[place];
      add(stretch, works ? portion.parts()[part].nanos : 0, alone(place), phase);
      if (works) {
        add_work(portion, part, phase);
      } else {
        phase.all_have_visits = false;
      }
    });
  }

  static void add(const BusyStretch& stretch, double nanos, bool alone, Phase& phase) {
    const double begin = alone ? 0 : stretch.begin;
    const double ready = alone ? 0 : begin + std::max(0.0, stretch.busy - nanos);
    ++phase.members;
    phase.begin = std::min(phase.begin, begin);
    phase.ready += ready;
    phase.earliest = std::min(phase.earliest, ready);
    phase.latest = std::max(phase.latest, ready);
    phase.recorded = std::max(phase.recorded, ready + nanos);
    phase.work += nanos;
    phase.most_work = std::max(phase.most_work, static_cast<float>(nanos));
  }

  void add_work(const Portion& portion, size_t number, Phase& phase) {
    const Portion::Part& part = portion.parts()[number];
    const std::span<const double> visits = portion.visits(number);
    phase.worked_from = std::min(phase.worked_from, part.recorded.begin);
    phase.worked_to = std::max(phase.worked_to, part.recorded.end);
    phase.unit = std::max(phase.unit, part.unit);
    phase.construct = std::max(phase.construct, part.construct);
    phase.exclusive += double{part.exclusive};
    phase.iterations |= part.iterations;
    phase.task |= part.task;
    const auto count = static_cast<uint32_t>(visits.size());
    phase.most_visits = std::max(phase.most_visits, count);
    phase.see_visits(count, sums_);
    for (size_t v = 0; phase.visits == count && v < count; ++v) sums_[phase.first + v] += visits[v];
  }

  Level level_of(size_t place) const {
    const Phase& phase = phases_[place];
    const uint32_t free = over_ != Over::threads   ? 0
                          : !is_end(place)         ? meetings_[place].free
                          : pool_at_end(place) > 0 ? pool_at_end(place) - 1
                                                   : 0;
    const double members = static_cast<double>(phase.members) + free;
    const double ready = phase.ready - phase.members * phase.begin;
    Level level;
    level.before = phase.recorded - phase.begin;
    const double mean = (ready + phase.work) / members;
    const double least = std::max(phase.latest - phase.begin, mean);
    const double before = free > 0 ? 0 : phase.earliest - phase.begin;
    const double construct = phase.construct > 0 ? double{phase.construct} + before : 0;
    const double bound =
        std::min(std::max({unit_of(place), construct, serial_of(place)}), level.before);
    level.by_unit = bound > least;
    level.time = std::min(std::max(least, bound), level.before);
    const double room = members * level.time - ready;
    if (!level.by_unit && room > phase.work) level.part = phase.work / room;
    return level;
  }

  double unit_of(size_t place) const {
    const Phase& phase = phases_[place];
    double unit = phase.unit;
    if (is_end(place) || over_ != Over::threads) return unit;
    if (phase.iterations) unit = std::max(unit, double{meetings_[place].iterations});
    if (phase.task) unit = std::max(unit, double{meetings_[place].longest});
    return std::min(unit, double{phase.most_work});
  }
  double serial_of(size_t place) const {
    const Phase& phase = phases_[place];
    const double chain = phase.task && !is_end(place) ? double{meetings_[place].chain} : 0.0;
    return std::max(phase.exclusive, std::min(chain, phase.work));
  }

  void judge(size_t place, Spread& spread) const {
    const Phase& phase = phases_[place];
    if (phase.members == 0 || phase.work == 0) return;
    if (phase.by_visit()) {
      // What visits of others take longer is not kept: the largest part of the work bounds it.
      spread.saves_s += 1e-9 * double{phase.most_work};
      return;
    }
    const Level level = level_of(place);
    const double saves_s = 1e-9 * std::max(0.0, level.before - level.time);
    spread.saves_s += saves_s;
    if (level.by_unit) spread.earlier_s += saves_s;
  }

  void share(size_t m, Share& share) const {
    const Portion& portion = *members_[m].portion;
    for_each_stretch(m, [&](const BusyStretch& stretch, size_t place, size_t part) {
      const bool works = part < portion.parts().size();
      const Phase& phase = phases_[place];
      if (phase.work > 0 && phase.members > 0 && (works || !is_end(place))) {
        give(stretch, works ? &portion.parts()[part] : nullptr,
             works ? portion.visits(part) : std::span<const double>(), place, share);
      } else if (works) {
        share.factors.insert(share.factors.end(), portion.visits(part).size(), 1);
      }
    });
  }

  void give(const BusyStretch& stretch, const Portion::Part* part, std::span<const double> visits,
            size_t place, Share& share) const {
    const Phase& phase = phases_[place];
    if (phase.by_visit()) return give_means(stretch, visits, phase, share);
    const Level level = level_of(place);
    const double had = part != nullptr ? part->nanos : 0;
    const double busy = alone(place) ? 0 : std::max(0.0, stretch.busy - had);
    const double since = alone(place) ? 0 : stretch.begin - phase.begin;
    const double gets = std::max(0.0, level.time - since - busy) * level.part;
    share.factors.insert(share.factors.end(), visits.size(), had > 0 ? gets / had : 1);
    if (had == 0 && gets > 0) {
      give_in_pieces(stretch, {phase.worked_from, phase.worked_to}, gets, phase.most_visits, share);
    }
  }

  void give_means(const BusyStretch& stretch, std::span<const double> visits, const Phase& phase,
                  Share& share) const {
    for (size_t v = 0; v < visits.size(); ++v) {
      const double mean = sums_[phase.first + v] / phase.members;
      share.factors.push_back(visits[v] > 0 ? mean / visits[v] : 1);
      if (visits[v] == 0 && stretch.place != Passage::kNone) {
        share.given.push_back({stretch.place, mean});
      }
    }
  }

  const std::span<const Member> members_;
  const Column<Meeting>& meetings_;
  const std::span<const EndPhase> ends_;
  const Over over_;
  std::vector<Phase> phases_;  ///< by meeting, and behind the last
  std::vector<double> sums_;   ///< over members, by visit
};

}  // namespace

Spread spread_evenly(std::span<const Member> members, const Column<Meeting>& meetings,
                     std::span<const EndPhase> ends, Over over, const PhasesElsewhere* elsewhere) {
  return Spreader(members, meetings, ends, over).spread(elsewhere);
}

}  // namespace culprit::predict
