// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The rank of a successor's location knows its predecessors, and finds its standing once it knows
// theirs. What is found is told to the rank of the successor's own cause; ranks exchange until
// nothing is new. Successors that have no standing then are the circles'.
#include "blame/delay/moments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ranks/exchange.h"

namespace culprit::blame {

namespace {

/// A wait that ends together with some of those that its location caused.
struct Successor {
  WaitRef ref;
  uint32_t first, end;   ///< the numbers of those, with ties in between
  uint32_t missing = 0;  ///< predecessors of which the standing is not known yet
  Standing standing{};
};

/// The standing of a wait, told to one of those that caused it.
struct Told {
  uint32_t number;  ///< of the wait there
  Standing standing;
};

class Chains {
 public:
  Chains(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays)
      : run_(run), graph_(graph), delays_(delays), told_(run.ranks->size()) {
    for (LocationId id : run.locations) find_successors(id);
  }

  Moments follow() {
    if (sum(*run_.ranks, uint64_t{successors_.size()}) == 0) return {};
    count_missing();
    follow_chains();
    follow_circles();
    for (const Successor& successor : successors_) found_.set(successor.ref, successor.standing);
    return std::move(found_);
  }

 private:
  static constexpr uint32_t kCircle = uint32_t{1} << 31;

  void find_successors(LocationId id);
  void count_missing();
  void follow_chains();
  void follow_circles();
  void settle(Successor& successor);
  void tell(const Successor& successor);
  template <class Take>
  bool exchange(const Take& take);
  /// Returns the successor that a wait which its location caused hands its cost to, if there is
  /// one.
  Successor* successor_of(uint32_t number) {
    const auto found = successor_of_.find(number);
    return found != successor_of_.end() ? &successors_[found->second] : nullptr;
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  std::vector<Successor> successors_;
  std::unordered_map<uint32_t, size_t> successor_of_;  // by number, of waits that are no ties
  std::vector<Column<Told>> told_;                     // by rank
  std::vector<Successor*> ready_;
  Moments found_;
};

void Chains::find_successors(LocationId id) {
  const Column<replay::Wait>& waits = graph_.waits[id.index()];
  uint32_t number = delays_.number[id.index()];
  for (const CausedWait& caused : delays_.caused[id.index()]) {
    const uint32_t own = number++;
    if (caused.is_tie || caused.first_wait == caused.end_wait) continue;
    const WaitRef last{id, caused.end_wait - 1};
    if (waits[last.wait].end != caused.end) continue;
    const bool known = !successors_.empty() && successors_.back().ref.location == id &&
                       successors_.back().ref.wait == last.wait;
    if (!known) successors_.push_back({last, own, own});
    successors_.back().end = number;
    successor_of_[own] = successors_.size() - 1;
  }
}

void Chains::tell(const Successor& successor) {
  const size_t id = successor.ref.location.index();
  const Column<uint32_t>& tied = delays_.tied[id];
  const auto to = [&](uint32_t wait) {
    told_[run_.owner(graph_.wait(successor.ref.location, wait).cause)].push_back(
        {delays_.causes[id][wait].number, successor.standing});
  };
  to(successor.ref.wait);
  const auto [first, end] = std::equal_range(tied.begin(), tied.end(), successor.ref.wait);
  for (const uint32_t* tie = first; tie != end; ++tie) {
    to(static_cast<uint32_t>(graph_.waits[id].size() + static_cast<size_t>(tie - tied.begin())));
  }
}

/// Sends what is to be told. Returns whether any rank had anything to tell.
template <class Take>
bool Chains::exchange(const Take& take) {
  uint64_t count = 0;
  for (const Column<Told>& to : told_) count += to.size();
  if (sum(*run_.ranks, count) == 0) return false;
  std::vector<Column<Told>> received = culprit::exchange(*run_.ranks, std::move(told_));
  told_ = std::vector<Column<Told>>(received.size());
  for (const Column<Told>& from : received) {
    for (const Told& told : from) take(told);
  }
  return true;
}

/// All successors say that they are, so that each knows for how many of its predecessors to wait.
void Chains::count_missing() {
  for (const Successor& successor : successors_) tell(successor);
  exchange([&](const Told& told) {
    if (Successor* next = successor_of(told.number)) ++next->missing;
  });
  for (Successor& successor : successors_) {
    if (successor.missing == 0) ready_.push_back(&successor);
  }
}

void Chains::follow_chains() {
  do {
    for (Successor* successor : std::exchange(ready_, {})) settle(*successor);
  } while (exchange([&](const Told& told) {
    found_.set_caused(told.number, told.standing);
    Successor* next = successor_of(told.number);
    if (next != nullptr && --next->missing == 0) ready_.push_back(next);
  }));
}

void Chains::settle(Successor& successor) {
  const size_t id = successor.ref.location.index();
  for (uint32_t number = successor.first; number < successor.end; ++number) {
    if (!successor_of_.contains(number)) continue;
    const CausedWait& caused = delays_.caused[id][number - delays_.number[id]];
    const Standing before = found_.of_caused(number, caused.ref.location);
    successor.standing = std::max(successor.standing, {before.head, before.step + 1});
  }
  tell(successor);
}

/// The lowest location is sent around until all of its circle know it, and how far behind it they
/// are.
void Chains::follow_circles() {
  std::vector<Successor*> circular;
  for (Successor& successor : successors_) {
    if (successor.missing == 0) continue;
    successor.standing = {kCircle | static_cast<uint32_t>(successor.ref.location.index()), 0};
    circular.push_back(&successor);
    tell(successor);
  }
  while (exchange([&](const Told& told) {
    Successor* next = successor_of(told.number);
    if (next == nullptr || next->missing == 0 || next->standing.head <= told.standing.head) return;
    next->standing = {told.standing.head, told.standing.step + 1};
    tell(*next);
  })) {
  }
  for (Successor* successor : circular) tell(*successor);
  exchange([&](const Told& told) { found_.set_caused(told.number, told.standing); });
}

}  // namespace

Moments find_moments(const replay::Run& run, const replay::WaitGraph& graph,
                     const DelayAnalysis& delays) {
  return Chains(run, graph, delays).follow();
}

}  // namespace culprit::blame
