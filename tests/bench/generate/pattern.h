// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a synthetic program is made of: its regions, and a pen that draws one location's events.
// Times are nanoseconds from 0.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tests/bench/generate/generate.h"
#include "trace/events.h"

namespace culprit::bench {

/// The regions that every synthetic trace has; a pattern's own follow.
enum Regions : size_t {
  kMain,
  kStep,
  kCompute,
  kSend,
  kRecv,
  kIsend,
  kIrecv,
  kWaitall,
  kBarrier,
  kAllreduce,
  kAlltoall,
  kFinalize,
  kParallel,
  kImplicit,
  kCreateTask,
  kTask,
  kCritical,
  kCriticalBody,
  kRegionCount,
};

/// A number that depends on its arguments alone, evenly spread.
uint64_t scatter(uint64_t a, uint64_t b, uint64_t c = 0);

/// Draws one location, forward in time.
class Pen {
 public:
  explicit Pen(trace::EventSink& sink) : sink_(sink) {}

  static Time at(int64_t nanos) { return Time::from_nanos(nanos); }
  trace::EventSink& sink() { return sink_; }

  void enter(int64_t time, size_t region) { sink_.enter(at(time), RegionId(region)); }
  void leave(int64_t time, size_t region) { sink_.leave(at(time), RegionId(region)); }
  void visit(int64_t begin, int64_t end, size_t region) {
    enter(begin, region);
    leave(end, region);
  }

  void send(int64_t begin, int64_t end, uint32_t to, int32_t tag = 0);
  void recv(int64_t begin, int64_t end, uint32_t from, int32_t tag = 0);
  void isend(int64_t begin, int64_t end, uint32_t to, int32_t tag, uint64_t request);
  void irecv(int64_t begin, int64_t end, uint64_t request);
  /// Inside a Waitall, at its end.
  void received(int64_t time, uint32_t from, int32_t tag, uint64_t request);
  void sent(int64_t time, uint64_t request);
  void collective(int64_t begin, int64_t end, size_t region, trace::CollectiveOp op,
                  CommId comm = CommId(0));

 private:
  trace::EventSink& sink_;
};

class Pattern {
 public:
  virtual ~Pattern() = default;
  /// Regions and communicators beyond the common ones.
  virtual void define(trace::Definitions&) const {}
  virtual void play(uint32_t rank, uint32_t thread, Pen& pen) const = 0;
};

/// One time for each rank in each iteration.
class Schedule {
 public:
  Schedule(uint32_t iterations, uint32_t ranks)
      : ranks_(ranks), times_(size_t{iterations} * ranks) {}
  std::span<int64_t> operator[](uint32_t iteration) {
    return std::span(times_).subspan(size_t{iteration} * ranks_, ranks_);
  }
  std::span<const int64_t> operator[](uint32_t iteration) const {
    return std::span(times_).subspan(size_t{iteration} * ranks_, ranks_);
  }

 private:
  uint32_t ranks_;
  std::vector<int64_t> times_;
};

/// A kind whose pattern class is made from a Shape.
template <class P>
constexpr PatternKind kind_of(std::string_view name, std::string_view what, bool adversarial,
                              bool hybrid = false) {
  return {name, what, adversarial, hybrid, [](const Shape& shape) -> std::unique_ptr<Pattern> {
            return std::make_unique<P>(shape);
          }};
}

/// By file.
std::span<const PatternKind> mpi_patterns();
std::span<const PatternKind> openmp_patterns();
std::span<const PatternKind> adversarial_patterns();
std::span<const PatternKind> uneven_patterns();

}  // namespace culprit::bench
