// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits in MPI's collective operations, blocking and non-blocking (thesis, section 2.4.1, figure
// 2.5): each member waits for the last of the members that it depends on (collective_shapes.h). In
// non-blocking forms the completing call waits for the posting calls of the others; where the
// completing call is a test, the tests before it have polled.
#include <algorithm>
#include <memory>
#include <span>

#include "base/flat_map.h"
#include "replay/detect/arrivals.h"
#include "replay/detect/detection.h"
#include "replay/detect/near_ties.h"
#include "replay/detect/progress/collective_helpers.h"
#include "replay/match/collective_shapes.h"

namespace culprit::replay {

namespace {

Pattern everybody_waits(const CollectiveKind& kind) {
  return kind.starts_world              ? pattern("run.start_skew")
         : kind.shape == Shape::barrier ? pattern("mpi.wait_at_barrier")
         : kind.shape == Shape::fence   ? pattern("mpi.rma.fence")
                                        : pattern("mpi.wait_at_nxn");
}

/// The parts of one operation, by rank.
struct Operation {
  std::span<const Part> parts;
  CollectiveKind kind;
  size_t last;  ///< position of the last to enter; of several, the lowest rank
};

/// Finds the waits in operations, one after the other.
class WaitFinder final : public OperationVisitor {
 public:
  WaitFinder(const Run& run, const CollectiveShapes& shapes, Detection& out, Outbox& box)
      : run_(run), shapes_(shapes), out_(out), box_(box), helpers_(run, shapes, out, box) {}
  ~WaitFinder() override {
    out_.add(helpers_.evidence());
    out_.add(arrivals_.take());
  }
  WaitFinder(const WaitFinder&) = delete;
  WaitFinder& operator=(const WaitFinder&) = delete;

  void visit(std::span<const Part> parts) override;

 private:
  static bool waits(const Operation& operation, const Part& part, Time until) {
    const bool asks = part.op->may_wait || part.op->polled;
    if (!asks || part.completed.enter >= until) return false;
    return !operation.kind.may_leave_early || until <= part.completed.leave;
  }

  void visit_all(const Operation& operation);
  void visit_sparse(const Operation& operation, Pattern found);
  const Part* latest_giver(const Operation& operation, const Part& taker) const;
  void visit_one_to_all(const Operation& operation);
  void visit_all_to_one(const Operation& operation);
  void visit_prefix(const Operation& operation);
  void add_wait(Pattern pattern, const Part& waiter, const Part& cause);
  void add_ties(const Operation& operation, Pattern pattern, const Part& waiter, const Part& cause);
  void add_pair(const Part& waiter, const Part& cause);
  void add_pairs(const Operation& operation, Pattern found, const Part& waiter, const Part& cause);
  void join_all(const Operation& operation);

  static constexpr size_t kFewGivers = 32;

  const Run& run_;
  const CollectiveShapes& shapes_;
  Detection& out_;
  Outbox& box_;
  std::vector<const Part*> late_, latest_;  ///< of those whom all wait for
  CollectiveHelpers helpers_;
  Arrivals arrivals_;
  std::vector<const Part*> latest_first_[3];  ///< by side, where data flows sparsely
  FlatMap place_of_;                          ///< of a process among the parts
  std::vector<LocationId> last_members_;      ///< by rank, of the operation visited last, ...
  SyncGroupId last_group_;                    ///< ... and their group
};

void WaitFinder::visit(std::span<const Part> parts) {
  const CollectiveKind kind = shapes_.of(parts);
  Operation operation{parts, kind, 0};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].posted.enter > parts[operation.last].posted.enter) operation.last = i;
  }
  helpers_.visit(parts, kind);
  switch (kind.shape) {
    case Shape::fence:
      return visit_all(operation);
    case Shape::barrier:
    case Shape::all_to_all:
      if (parts[0].op->op == trace::CollectiveOp::create_handle) return visit_all(operation);
      if (!CollectiveShapes::sparse(parts)) return visit_all(operation);
      if (CollectiveShapes::left_together(parts)) return visit_all(operation);
      return visit_sparse(operation, everybody_waits(kind));
    case Shape::neighbors:
      return visit_sparse(operation, pattern("mpi.wait_at_neighbors"));
    case Shape::one_to_all:
      return visit_one_to_all(operation);
    case Shape::all_to_one:
      return visit_all_to_one(operation);
    case Shape::prefix:
      return visit_prefix(operation);
    case Shape::none:
      return;
  }
}

void WaitFinder::add_wait(Pattern pattern, const Part& waiter, const Part& cause) {
  const Pattern found = waiter.op->polled ? replay::pattern("mpi.polling") : pattern;
  box_.wait(waiter.location, found, waiter.completed, cause.posted.enter, cause.posted_by);
}

/// Adds the other members of latest_ that were nearly as late as ties.
void WaitFinder::add_ties(const Operation& operation, Pattern pattern, const Part& waiter,
                          const Part& cause) {
  for (const Part* part : latest_) {
    const Time enter = part->posted.enter;
    if (part == &waiter || !waits(operation, waiter, enter)) continue;
    if (!nearly_as_late(waiter.completed.enter, enter, cause.posted.enter)) break;
    box_.tie(waiter.location, pattern, waiter.completed, enter, part->posted_by);
  }
}

/// Records that waiter and cause synchronised when the cause entered.
void WaitFinder::add_pair(const Part& waiter, const Part& cause) {
  box_.meet(waiter.location, cause.posted_by, std::min(cause.posted.enter, waiter.completed.leave));
}

/// Every member waits for the last one; if any of them waited, every two members are synchronised.
void WaitFinder::visit_all(const Operation& operation) {
  const Part& last = operation.parts[operation.last];
  const Pattern found = everybody_waits(operation.kind);
  bool waited = false;
  if (!operation.kind.starts_world) arrivals_.add(run_, operation.parts, operation.last);
  late_.clear();
  for (const Part& part : operation.parts) late_.push_back(&part);
  find_latest(late_, &last, [](const Part& part) { return part.posted.enter; }, latest_);
  for (const Part& part : operation.parts) {
    if (!waits(operation, part, last.posted.enter)) continue;
    waited = true;
    add_wait(found, part, last);
    add_ties(operation, found, part, last);
  }
  if (waited) join_all(operation);
}

void WaitFinder::join_all(const Operation& operation) {
  const Time moment = operation.parts[operation.last].posted.enter;
  if (operation.parts.size() == 2) {  // a pair needs no search for its group
    return box_.meet(operation.parts[0].location, operation.parts[1].location, moment);
  }
  const auto same = [](LocationId id, const Part& part) { return id == part.location; };
  if (!std::equal(last_members_.begin(), last_members_.end(), operation.parts.begin(),
                  operation.parts.end(), same)) {
    last_members_.clear();
    for (const Part& part : operation.parts) last_members_.push_back(part.location);
    std::vector<LocationId> sorted = last_members_;
    std::sort(sorted.begin(), sorted.end());
    last_group_ = out_.group_of(sorted);
  }
  for (const Part& part : operation.parts) {
    box_.sync(part.location, Sync::of(last_group_, moment));
  }
}

/// Returns the last to enter of the members that `taker` gets data from and waits for; nullptr if
/// there is none.
const Part* WaitFinder::latest_giver(const Operation& operation, const Part& taker) const {
  const auto awaited = [&](const Part& part) {
    return &part != &taker && waits(operation, taker, part.posted.enter) &&
           shapes_.gives(part, taker);
  };
  const std::vector<ProcessId>* few = shapes_.givers(taker);
  // Either searches its list of m of the n parts, or tries all parts from the latest on, which
  // takes about n / m tries.
  if (few != nullptr && few->size() * few->size() <= operation.parts.size()) {
    const Part* latest = nullptr;
    for (ProcessId process : *few) {
      const uint32_t place = place_of_.find(process.index());
      if (place == FlatMap::kNone || !awaited(operation.parts[place])) continue;
      const Part& part = operation.parts[place];
      if (latest == nullptr || part.posted.enter > latest->posted.enter) latest = &part;
    }
    return latest;
  }
  const Side from = taker.side == Side::whole   ? Side::whole
                    : taker.side == Side::first ? Side::second
                                                : Side::first;
  for (const Part* part : latest_first_[static_cast<size_t>(from)]) {
    if (part->posted.enter <= taker.completed.enter) break;
    if (awaited(*part)) return part;
  }
  return nullptr;
}

/// Each member waits for the last of those that it gets data from.
void WaitFinder::visit_sparse(const Operation& operation, Pattern found) {
  for (auto& list : latest_first_) list.clear();
  place_of_.clear();
  for (size_t i = 0; i < operation.parts.size(); ++i) {
    const Part& part = operation.parts[i];
    latest_first_[static_cast<size_t>(part.side)].push_back(&part);
    place_of_.set(run_.location(part.location).process.index(), static_cast<uint32_t>(i));
  }
  for (auto& list : latest_first_) {
    std::stable_sort(list.begin(), list.end(), [](const Part* a, const Part* b) {
      return a->posted.enter > b->posted.enter;
    });
  }
  for (const Part& part : operation.parts) {
    const Part* cause = latest_giver(operation, part);
    if (cause == nullptr) continue;
    add_wait(found, part, *cause);
    add_pairs(operation, found, part, *cause);
  }
}

/// Where a member gets data from few others, all of these that it waited for are synchronisation
/// points. With many, one pair per message would be too much: the last of them is enough.
void WaitFinder::add_pairs(const Operation& operation, Pattern found, const Part& waiter,
                           const Part& cause) {
  const std::vector<ProcessId>* givers = shapes_.givers(waiter);
  if (givers == nullptr || givers->size() > kFewGivers) return add_pair(waiter, cause);
  for (ProcessId process : *givers) {
    const uint32_t place = place_of_.find(process.index());
    if (place == FlatMap::kNone) continue;
    const Part& part = operation.parts[place];
    if (&part != &waiter && waits(operation, waiter, part.posted.enter) &&
        shapes_.gives(part, waiter)) {
      add_pair(waiter, part);
      if (&part != &cause &&
          nearly_as_late(waiter.completed.enter, part.posted.enter, cause.posted.enter)) {
        box_.tie(waiter.location, found, waiter.completed, part.posted.enter, part.posted_by);
      }
    }
  }
}

void WaitFinder::visit_one_to_all(const Operation& operation) {
  const Part* root = CollectiveShapes::root_of(operation.parts);
  if (root == nullptr) return;
  for (const Part& part : operation.parts) {
    if (&part == root || !waits(operation, part, root->posted.enter) || !shapes_.gives(*root, part))
      continue;
    add_wait(pattern("mpi.late_broadcast"), part, *root);
    add_pair(part, *root);
  }
}

void WaitFinder::visit_all_to_one(const Operation& operation) {
  const Part* root = CollectiveShapes::root_of(operation.parts);
  if (root == nullptr) return;
  const Part* last = root;
  for (const Part& part : operation.parts) {
    if (part.posted.enter > last->posted.enter && shapes_.gives(part, *root)) last = &part;
  }
  if (!waits(operation, *root, last->posted.enter)) return;
  add_wait(pattern("mpi.early_reduce"), *root, *last);
  late_.clear();
  for (const Part& part : operation.parts) {
    if (!waits(operation, *root, part.posted.enter) || !shapes_.gives(part, *root)) continue;
    add_pair(*root, part);
    late_.push_back(&part);
  }
  find_latest(late_, last, [](const Part& part) { return part.posted.enter; }, latest_);
  add_ties(operation, pattern("mpi.early_reduce"), *root, *last);
}

void WaitFinder::visit_prefix(const Operation& operation) {
  const Part* latest = &operation.parts[0];
  for (const Part& part : operation.parts.subspan(1)) {
    if (waits(operation, part, latest->posted.enter)) {
      add_wait(pattern("mpi.early_scan"), part, *latest);
      add_pair(part, *latest);
    }
    if (part.posted.enter > latest->posted.enter) latest = &part;
  }
}

}  // namespace

void detect_collectives(Run& run, unsigned threads, Detection& out) {
  const CollectiveShapes shapes(run);
  std::vector<Outbox> boxes;
  match_collectives(
      run, threads,
      {[&](size_t shares) { boxes.resize(shares); },
       [&](size_t share) { return std::make_unique<WaitFinder>(run, shapes, out, boxes[share]); }},
      out.losses);
  out.deliver(boxes, threads);
}

}  // namespace culprit::replay
