// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The usual shapes of parallel programs: a hybrid stencil code on a ring, a master with workers, a
// spectral code that transposes, a wavefront, where work varies by rank, thread and iteration, so
// that waits, and chains of waits, occur everywhere; and a token ring, where nothing varies.
#include <algorithm>
#include <queue>
#include <tuple>

#include "tests/bench/generate/pattern.h"

namespace culprit::bench {

namespace {

using trace::CollectiveOp;

/// Each iteration a rank runs a parallel region, exchanges halos with both neighbours (Irecv,
/// Isend, Waitall), and every tenth iteration all meet in an Allreduce.
class Stencil final : public Pattern {
 public:
  explicit Stencil(const Shape& shape) : shape_(shape), ready_(shape.iterations, shape.ranks) {
    std::vector<int64_t> now(shape.ranks);
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      for (uint32_t r = 0; r < shape.ranks; ++r) ready_[i][r] = now[r] + region_length(r, i);
      for (uint32_t r = 0; r < shape.ranks; ++r) now[r] = exchanged(i, r);
      if (!meets(i)) continue;
      met_.push_back(*std::max_element(now.begin(), now.end()) + 30);
      std::fill(now.begin(), now.end(), met_.back());
    }
  }

  void play(uint32_t rank, uint32_t thread, Pen& pen) const override {
    int64_t now = 0;
    if (thread == 0) pen.enter(now, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      if (thread == 0) pen.enter(now, kStep);
      region(rank, thread, i, now, pen);
      if (thread == 0) exchange(rank, i, pen);
      now = exchanged(i, rank);
      if (meets(i)) {
        const int64_t met = met_[i / kRounds];
        if (thread == 0) pen.collective(now, met, kAllreduce, CollectiveOp::allreduce);
        now = met;
      }
      if (thread == 0) pen.leave(now, kStep);
    }
    if (thread == 0) pen.leave(now, kMain);
  }

 private:
  static constexpr uint32_t kRounds = 10;
  static bool meets(uint32_t iteration) { return iteration % kRounds == kRounds - 1; }

  int64_t work(uint32_t rank, uint32_t thread, uint32_t iteration) const {
    return 1000 + static_cast<int64_t>(scatter(rank + shape_.seed, thread, iteration) & 1023);
  }
  int64_t region_length(uint32_t rank, uint32_t iteration) const {
    int64_t longest = 0;
    for (uint32_t t = 0; t < shape_.threads; ++t) {
      longest = std::max(longest, work(rank, t, iteration));
    }
    return longest + 20;
  }
  int64_t posted(uint32_t iteration, uint32_t rank) const { return ready_[iteration][rank] + 40; }
  int64_t exchanged(uint32_t iteration, uint32_t rank) const {
    const uint32_t n = shape_.ranks, left = (rank + n - 1) % n, right = (rank + 1) % n;
    return std::max({posted(iteration, rank) + 40, posted(iteration, left),
                     posted(iteration, right) + 20}) +
           50;
  }

  void region(uint32_t rank, uint32_t thread, uint32_t iteration, int64_t fork, Pen& pen) const {
    const trace::RegionInstance instance{iteration + 1};
    const int64_t end = ready_[iteration][rank];
    const int64_t arrival = fork + 10 + work(rank, thread, iteration);
    if (thread == 0) pen.sink().thread_fork(Pen::at(fork), shape_.threads, instance);
    pen.sink().thread_team_begin(Pen::at(fork + 10), instance);
    pen.enter(fork + 10, kParallel);
    pen.visit(fork + 10, arrival, kCompute);
    pen.visit(arrival, end, kImplicit);
    pen.leave(end, kParallel);
    pen.sink().thread_team_end(Pen::at(end));
    if (thread == 0) pen.sink().thread_join(Pen::at(end));
  }

  void exchange(uint32_t rank, uint32_t iteration, Pen& pen) const {
    const uint32_t n = shape_.ranks, left = (rank + n - 1) % n, right = (rank + 1) % n;
    const int64_t now = ready_[iteration][rank], end = exchanged(iteration, rank);
    pen.irecv(now, now + 20, 1);
    pen.irecv(now + 20, now + 40, 2);
    pen.isend(now + 40, now + 60, right, 1, 3);
    pen.isend(now + 60, now + 80, left, 2, 4);
    pen.enter(now + 80, kWaitall);
    pen.received(end, left, 1, 1);
    pen.received(end, right, 2, 2);
    pen.sent(end, 3);
    pen.sent(end, 4);
    pen.leave(end, kWaitall);
  }

  Shape shape_;
  Schedule ready_;            ///< when each rank's region is over
  std::vector<int64_t> met_;  ///< when each Allreduce is
};

/// Workers ask rank 0 for work, each `iterations` times; it serves them one after the other. With
/// thousands of workers each meets the master rarely: every synchronisation interval contains a
/// round of all others, and the sum of the intervals' lengths is quadratic in the workers.
class MasterWorker final : public Pattern {
 public:
  explicit MasterWorker(const Shape& shape) : shape_(shape), rounds_(shape.ranks) {
    using Asked = std::pair<int64_t, uint32_t>;
    std::priority_queue<Asked, std::vector<Asked>, std::greater<>> waiting;
    for (uint32_t w = 1; w < shape.ranks; ++w) waiting.emplace(work(w, 0), w);
    int64_t now = 0;
    while (!waiting.empty()) {
      const auto [asked, worker] = waiting.top();
      waiting.pop();
      now = std::max(now, asked + 5) + kServe;
      served_.push_back({worker, asked, now});
      rounds_[worker].push_back(static_cast<uint32_t>(served_.size() - 1));
      const auto round = static_cast<uint32_t>(rounds_[worker].size());
      if (round < shape.iterations) waiting.emplace(now + kReply + work(worker, round), worker);
    }
  }

  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    const int64_t end = rank == 0 ? serve(pen) : ask(rank, pen);
    pen.leave(end, kMain);
  }

 private:
  static constexpr int64_t kServe = 200, kReply = 30;
  struct Round {
    uint32_t worker;
    int64_t asked, served;
  };

  int64_t work(uint32_t worker, uint32_t round) const {
    return 1000 + static_cast<int64_t>(scatter(worker, round, shape_.seed) & 4095);
  }

  int64_t serve(Pen& pen) const {
    int64_t now = 0;
    for (const Round& round : served_) {
      const int64_t begin = round.served - kServe;
      pen.recv(now, begin, round.worker, 1);
      pen.visit(begin, round.served, kCompute);
      pen.send(round.served, round.served, round.worker, 2);
      now = round.served;
    }
    return now;
  }

  int64_t ask(uint32_t rank, Pen& pen) const {
    int64_t now = 0;
    for (const uint32_t index : rounds_[rank]) {
      const Round& round = served_[index];
      pen.visit(now, round.asked, kCompute);
      pen.send(round.asked, round.asked + 5, 0, 1);
      now = round.served + kReply;
      pen.recv(round.asked + 5, now, 0, 2);
    }
    return now;
  }

  Shape shape_;
  std::vector<Round> served_;
  std::vector<std::vector<uint32_t>> rounds_;  ///< by rank
};

/// Work, then all exchange with all.
class AllToAll final : public Pattern {
 public:
  explicit AllToAll(const Shape& shape) : shape_(shape) {
    int64_t now = 0;
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      int64_t last = 0;
      for (uint32_t r = 0; r < shape.ranks; ++r) last = std::max(last, now + work(r, i));
      met_.push_back(now = last + 100);
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    int64_t now = 0;
    pen.enter(now, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      pen.visit(now, now + work(rank, i), kCompute);
      pen.collective(now + work(rank, i), met_[i], kAlltoall, CollectiveOp::alltoall);
      now = met_[i];
    }
    pen.leave(now, kMain);
  }

 private:
  int64_t work(uint32_t rank, uint32_t iteration) const {
    return 1000 + static_cast<int64_t>(scatter(rank, iteration, shape_.seed) & 1023);
  }
  Shape shape_;
  std::vector<int64_t> met_;
};

/// A sweep over a grid of ranks from one corner, again and again: each waits for its western and
/// northern neighbour and sends to the other two. Chains of waits as long as the grid's diagonal.
class Wavefront final : public Pattern {
 public:
  explicit Wavefront(const Shape& shape)
      : shape_(shape), width_(width_of(shape.ranks)), done_(shape.iterations, shape.ranks) {
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      for (uint32_t r = 0; r < shape.ranks; ++r) done_[i][r] = begun(i, r) + work(r, i);
    }
  }
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    int64_t now = 0;
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      now = before(i, rank);
      pen.enter(now, kStep);
      for (const uint32_t from : {west(rank), north(rank)}) {
        if (from == rank) continue;
        const int64_t come = std::max(now, done_[i][from] + 10) + 10;
        pen.recv(now, come, from);
        now = come;
      }
      pen.visit(now, done_[i][rank], kCompute);
      now = done_[i][rank];
      for (const uint32_t to : {east(rank), south(rank)}) {
        if (to != rank) pen.send(now, now, to);
      }
      pen.leave(now, kStep);
    }
    pen.leave(now, kMain);
  }

 private:
  static uint32_t width_of(uint32_t ranks) {
    uint32_t width = 1;
    while (width * width < ranks) width *= 2;
    return std::min(width, ranks);
  }
  uint32_t west(uint32_t r) const { return r % width_ == 0 ? r : r - 1; }
  uint32_t north(uint32_t r) const { return r < width_ ? r : r - width_; }
  uint32_t east(uint32_t r) const {
    return (r + 1) % width_ == 0 || r + 1 >= shape_.ranks ? r : r + 1;
  }
  uint32_t south(uint32_t r) const { return r + width_ >= shape_.ranks ? r : r + width_; }

  int64_t work(uint32_t rank, uint32_t iteration) const {
    return 1000 + static_cast<int64_t>(scatter(rank, iteration, shape_.seed) & 511);
  }
  int64_t before(uint32_t iteration, uint32_t rank) const {
    return iteration == 0 ? 0 : done_[iteration - 1][rank];
  }
  int64_t begun(uint32_t iteration, uint32_t rank) const {
    int64_t now = before(iteration, rank);
    for (const uint32_t from : {west(rank), north(rank)}) {
      if (from != rank) now = std::max(now, done_[iteration][from] + 10) + 10;
    }
    return now;
  }

  Shape shape_;
  uint32_t width_;
  Schedule done_;
};

/// A token that goes around: a rank gets it, works, and passes it on, so that one rank works at a
/// time. The perturbed ring of M. Sottile et al., Performance analysis of parallel programs via
/// message-passing graph traversal (2006), section 6.1: of 128 ranks, 10 traversals.
class TokenRing final : public Pattern {
 public:
  explicit TokenRing(const Shape& shape) : shape_(shape) {}

  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    const uint32_t n = shape_.ranks;
    int64_t now = 0;
    pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const int64_t begun = kTurn * (int64_t{i} * n + rank);
      if (i > 0 || rank > 0) pen.recv(now, begun, (rank + n - 1) % n);
      pen.visit(begun, begun + kWork, kCompute);
      now = begun + kWork + kSending;
      pen.send(begun + kWork, now, (rank + 1) % n);
    }
    if (rank == 0) {
      const int64_t end = kTurn * int64_t{shape_.iterations} * n;
      pen.recv(now, end, n - 1);
      now = end;
    }
    pen.leave(now, kMain);
  }

 private:
  /// From one rank's receipt to the next one's: 1 us of work, and 300 ns for the message.
  static constexpr int64_t kWork = 1000, kSending = 100, kTurn = 1300;
  Shape shape_;
};

}  // namespace

std::span<const PatternKind> mpi_patterns() {
  static constexpr PatternKind kAll[] = {
      kind_of<Stencil>("stencil", "parallel regions, halos with both neighbours, Allreduces", false,
                       true),
      kind_of<MasterWorker>("master_worker", "rank 0 serves the others one after the other", false),
      kind_of<AllToAll>("alltoall", "work and MPI_Alltoall", false),
      kind_of<Wavefront>("wavefront", "sweeps over a grid of ranks", false),
      kind_of<TokenRing>("token_ring", "a token goes around, one rank works at a time", false),
  };
  return kAll;
}

}  // namespace culprit::bench
