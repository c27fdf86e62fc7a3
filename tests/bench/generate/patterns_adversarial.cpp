// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs made to be hard for an analysis of waits: long synchronisation intervals, very many
// partners, communicators, call paths or requests, and many things at the same moment. Each says
// what would make it quadratic. (A master that meets each of thousands of workers rarely is
// `master_worker` with many ranks.)
#include <algorithm>
#include <string>

#include "tests/bench/generate/pattern.h"

namespace culprit::bench {

namespace {

using trace::CollectiveOp;

/// All exchange messages with all, each iteration: as many pairs, and requests at once, as there
/// can be. Quadratic where pairs are searched.
class AllPairs final : public Pattern {
 public:
  explicit AllPairs(const Shape& shape) : shape_(shape) {
    int64_t now = 0;
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      int64_t last = 0;
      for (uint32_t r = 0; r < shape.ranks; ++r) last = std::max(last, now + work(r, i));
      done_.push_back(now = last + 100);
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    int64_t now = 0;
    pen.enter(now, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      pen.visit(now, now + work(rank, i), kCompute);
      exchange(rank, now + work(rank, i), done_[i], pen);
      now = done_[i];
    }
    pen.leave(now, kMain);
  }

 private:
  void exchange(uint32_t rank, int64_t begin, int64_t end, Pen& pen) const {
    for (uint32_t k = 1; k < shape_.ranks; ++k) pen.irecv(begin, begin, k);
    for (uint32_t k = 1; k < shape_.ranks; ++k) {
      pen.isend(begin, begin, (rank + k) % shape_.ranks, 0, shape_.ranks + k);
    }
    pen.enter(begin, kWaitall);
    for (uint32_t k = 1; k < shape_.ranks; ++k) {
      pen.received(end, (rank + shape_.ranks - k) % shape_.ranks, 0, k);
      pen.sent(end, shape_.ranks + k);
    }
    pen.leave(end, kWaitall);
  }
  int64_t work(uint32_t rank, uint32_t iteration) const {
    return 1000 + static_cast<int64_t>(scatter(rank, iteration, shape_.seed) & 1023);
  }
  Shape shape_;
  std::vector<int64_t> done_;
};

/// Rank 1 waits for rank 0 again and again; at the end it sends to all others, which have waited
/// for it since the beginning. All of rank 1's waits lie in the interval of each of those.
/// Quadratic where an interval's waits are walked through for each wait that it explains.
class OneInterval final : public Pattern {
 public:
  explicit OneInterval(const Shape& shape) : shape_(shape) {}
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    const int64_t end = kPeriod * shape_.iterations;
    pen.enter(0, kMain);
    for (uint32_t i = 0; rank < 2 && i < shape_.iterations; ++i) {
      const int64_t now = kPeriod * i;
      const int64_t sent = now + 30 + static_cast<int64_t>(scatter(i, shape_.seed) & 31);
      if (rank == 0) {
        pen.visit(now, sent, kCompute);
        pen.send(sent, sent + 10, 1);
      } else {
        pen.visit(now, now + 20, kCompute);
        pen.recv(now + 20, sent + 10, 0);
      }
    }
    for (uint32_t r = 2; rank == 1 && r < shape_.ranks; ++r) pen.send(end + r, end + r + 1, r);
    if (rank > 1) pen.recv(0, end + rank + 1, 1);
    pen.leave(end + shape_.ranks + 1, kMain);
  }

 private:
  static constexpr int64_t kPeriod = 100;
  Shape shape_;
};

/// Each iteration uses a communicator of its own for a barrier: pairs of ranks, shifted by one.
/// Quadratic where communicators are searched, or a table of communicators by ranks is kept.
class ManyComms final : public Pattern {
 public:
  explicit ManyComms(const Shape& shape) : shape_(shape) {}
  void define(trace::Definitions& definitions) const override {
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      for (uint32_t pair = 0; pair < pairs(); ++pair) {
        trace::Comm comm{"pair", trace::CommKind::mpi, {}, {}};
        comm.members = {ProcessId(member(i, 2 * pair)), ProcessId(member(i, 2 * pair + 1))};
        std::sort(comm.members.begin(), comm.members.end());
        definitions.comms.push_back(std::move(comm));
      }
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const uint32_t place = (rank + i) % shape_.ranks;
      const int64_t now = kPeriod * i;
      const int64_t work = 10 + static_cast<int64_t>(scatter(rank, i, shape_.seed) & 63);
      if (place >= 2 * pairs()) continue;
      pen.visit(now, now + work, kCompute);
      pen.collective(now + work, now + kPeriod, kBarrier, CollectiveOp::barrier,
                     CommId(1 + i * pairs() + place / 2));
    }
    pen.leave(kPeriod * shape_.iterations, kMain);
  }

 private:
  static constexpr int64_t kPeriod = 100;
  uint32_t pairs() const { return shape_.ranks / 2; }
  /// The rank that has this place in the iteration.
  uint32_t member(uint32_t iteration, uint32_t place) const {
    return (place + shape_.ranks - iteration % shape_.ranks) % shape_.ranks;
  }
  Shape shape_;
};

/// Recursion to a thousand functions, a message at the bottom, and up again. Quadratic where a call
/// path is copied or walked at each event.
class DeepPaths final : public Pattern {
 public:
  explicit DeepPaths(const Shape& shape) : shape_(shape) {}
  void define(trace::Definitions& definitions) const override {
    for (size_t d = 0; d < kDepth; ++d) {
      definitions.regions.push_back({"level" + std::to_string(d), trace::RegionRole::function,
                                     trace::Paradigm::user, "synthetic.c", 100});
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    int64_t now = 0;
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const int64_t met = kPeriod * (i + 1) - static_cast<int64_t>(kDepth);
      now += static_cast<int64_t>(scatter(rank, i, shape_.seed) & 255);
      for (size_t d = 0; d < kDepth; ++d) pen.enter(now++, kRegionCount + d);
      pen.collective(now, met, kAllreduce, CollectiveOp::allreduce);
      now = met;
      for (size_t d = kDepth; d > 0; --d) pen.leave(++now, kRegionCount + d - 1);
    }
    pen.leave(now, kMain);
  }

 private:
  static constexpr size_t kDepth = 1000;
  static constexpr int64_t kPeriod = 2 * kDepth + 500;
  Shape shape_;
};

/// A ring of ranks, each with as many requests open at once as there are iterations, completed in
/// the opposite order by one Waitall. Quadratic where open requests are searched.
class OpenRequests final : public Pattern {
 public:
  explicit OpenRequests(const Shape& shape) : shape_(shape) {}
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    const uint32_t n = shape_.iterations;
    const uint32_t next = (rank + 1) % shape_.ranks,
                   prior = (rank + shape_.ranks - 1) % shape_.ranks;
    pen.enter(0, kMain);
    int64_t now = static_cast<int64_t>(scatter(rank, shape_.seed) & 1023);
    for (uint32_t k = 1; k <= n; ++k, ++now) pen.irecv(now, now + 1, k);
    for (uint32_t k = 1; k <= n; ++k, ++now) pen.isend(now, now + 1, next, tag(k), n + k);
    pen.enter(now, kWaitall);
    const int64_t end = 2 * int64_t{n} + 2000;
    for (uint32_t k = n; k > 0; --k) {
      pen.received(end, prior, tag(k), k);
      pen.sent(end, n + k);
    }
    pen.leave(end, kWaitall);
    pen.leave(end, kMain);
  }

 private:
  static int32_t tag(uint32_t k) { return static_cast<int32_t>(k % 1024); }
  Shape shape_;
};

/// A clock so coarse that hundreds of events share each of its ticks: volleys of messages of no
/// duration, then a barrier that all leave at the same moment. Quadratic where events of the same
/// time are compared with each other.
class SameMoment final : public Pattern {
 public:
  explicit SameMoment(const Shape& shape) : shape_(shape) {}
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    const uint32_t next = (rank + 1) % shape_.ranks,
                   prior = (rank + shape_.ranks - 1) % shape_.ranks;
    pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const int64_t now = kTick * i;
      for (int32_t k = 0; k < kVolley; ++k) pen.send(now, now, next, k);
      for (int32_t k = 0; k < kVolley; ++k) pen.recv(now, now, prior, k);
      const int64_t arrival = now + (scatter(rank, i, shape_.seed) & 1 ? kTick : 0);
      pen.collective(arrival, now + kTick, kBarrier, CollectiveOp::barrier);
    }
    pen.leave(kTick * shape_.iterations, kMain);
  }

 private:
  static constexpr int64_t kTick = 1'000'000;
  static constexpr int32_t kVolley = 64;
  Shape shape_;
};

/// Rank 0 is late for everybody, always: once for a message to each other rank, once for a barrier.
/// Quadratic where all waits with one cause are walked through for each.
class OneLate final : public Pattern {
 public:
  explicit OneLate(const Shape& shape) : shape_(shape) {}
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    const int64_t work = 1000, period = 2 * (work + shape_.ranks) + 100;
    pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      int64_t now = period * i;
      const int64_t received = now + work + rank + 1;
      if (rank == 0) {
        pen.visit(now, now + work, kCompute);
        now += work;
        for (uint32_t r = 1; r < shape_.ranks; ++r, ++now) pen.send(now, now + 1, r);
        pen.visit(now, period * i + 2 * work, kCompute);
        now = std::max(now, period * i + 2 * work);
      } else {
        const int64_t spent = static_cast<int64_t>(scatter(rank, i, shape_.seed) & 255);
        pen.visit(now, now + spent, kCompute);
        pen.recv(now + spent, received, 0);
        now = received;
      }
      pen.collective(now, period * (i + 1), kBarrier, CollectiveOp::barrier);
    }
    pen.leave(period * shape_.iterations, kMain);
  }

 private:
  Shape shape_;
};

/// Like `master_worker`, but the master works in functions of its own between any two workers, as
/// many functions as there are ranks: each worker's interval contains them all. Quadratic where an
/// interval's call paths are walked through for each wait.
class ManyPaths final : public Pattern {
 public:
  explicit ManyPaths(const Shape& shape) : shape_(shape) {}
  void define(trace::Definitions& definitions) const override {
    for (uint32_t r = 0; r < shape_.ranks; ++r) {
      definitions.regions.push_back({"serve" + std::to_string(r), trace::RegionRole::function,
                                     trace::Paradigm::user, "synthetic.c", 200});
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    int64_t now = 0;
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      for (uint32_t r = rank == 0 ? 1 : rank; r < shape_.ranks; ++r) {
        const int64_t served = kPeriod * (int64_t{i} * shape_.ranks + r);
        if (rank == 0) {
          pen.visit(now, served, kRegionCount + r);
          pen.send(served, served + 1, r);
          now = served + 1;
        } else if (r == rank) {
          const int64_t spent = static_cast<int64_t>(scatter(rank, i, shape_.seed) & 63);
          pen.visit(now, now + spent, kCompute);
          pen.recv(now + spent, served + 10, 0);
          now = served + 10;
        }
      }
    }
    pen.leave(now, kMain);
  }

 private:
  static constexpr int64_t kPeriod = 100;
  Shape shape_;
};

/// Barriers of eight ranks, in groups that are mixed anew each iteration: two ranks meet again only
/// after many others, so that both sides of an interval are long. Quadratic where an interval's
/// activities are walked through for each wait, or a table of all pairs is kept.
class MixedGroups final : public Pattern {
 public:
  explicit MixedGroups(const Shape& shape) : shape_(shape) {
    groups_ = (shape.ranks + kMembers - 1) / kMembers;
    int64_t now = 0;
    std::vector<int64_t> free(shape.ranks, now), left(size_t{groups_});
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      std::fill(left.begin(), left.end(), 0);
      for (uint32_t r = 0; r < shape.ranks; ++r) {
        int64_t& last = left[group(i, r)];
        last = std::max(last, free[r] + work(r, i));
      }
      for (uint32_t r = 0; r < shape.ranks; ++r) free[r] = left[group(i, r)] + 10;
      left_.insert(left_.end(), left.begin(), left.end());
    }
  }
  void define(trace::Definitions& definitions) const override {
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const size_t first = definitions.comms.size();
      definitions.comms.resize(first + groups_, {"mixed", trace::CommKind::mpi, {}, {}});
      for (uint32_t r = 0; r < shape_.ranks; ++r) {
        definitions.comms[first + group(i, r)].members.emplace_back(r);
      }
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    int64_t now = 0;
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const size_t instance = size_t{i} * groups_ + group(i, rank);
      pen.visit(now, now + work(rank, i), kCompute);
      pen.collective(now + work(rank, i), left_[instance] + 10, kBarrier, CollectiveOp::barrier,
                     CommId(1 + instance));
      now = left_[instance] + 10;
    }
    pen.leave(now, kMain);
  }

 private:
  static constexpr uint32_t kMembers = 8;
  /// Ranks are dealt out with a stride of their own each iteration.
  uint32_t group(uint32_t iteration, uint32_t rank) const {
    const uint64_t stride = 2 * (scatter(iteration, shape_.seed) % shape_.ranks) + 1;
    return static_cast<uint32_t>(rank * stride % shape_.ranks % groups_);
  }
  int64_t work(uint32_t rank, uint32_t iteration) const {
    return 1000 + static_cast<int64_t>(scatter(rank, iteration, shape_.seed) & 1023);
  }
  Shape shape_;
  uint32_t groups_ = 0;
  std::vector<int64_t> left_;  ///< by iteration and group: when its last member arrives
};

}  // namespace

std::span<const PatternKind> adversarial_patterns() {
  static constexpr PatternKind kAll[] = {
      kind_of<AllPairs>("all_pairs", "all send to all, with Waitall", true),
      kind_of<OneInterval>("one_interval", "a rank's waits all lie in one interval of all others",
                           true),
      kind_of<ManyComms>("many_comms", "every barrier on a communicator of its own", true),
      kind_of<DeepPaths>("deep_paths", "call paths of a thousand functions", true),
      kind_of<OpenRequests>("open_requests", "all requests open at once, one Waitall", true),
      kind_of<SameMoment>("same_moment", "volleys of events at the same moment", true),
      kind_of<OneLate>("one_late", "rank 0 is late for everybody", true),
      kind_of<ManyPaths>("many_paths", "a master with as many functions as workers", true),
      kind_of<MixedGroups>("mixed_groups", "barriers of groups that are mixed each time", true),
  };
  return kAll;
}

}  // namespace culprit::bench
