// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writing one call's enter and leave (region.h).

#include "collector/mpi/region.h"

#include "collector/process/selection.h"

namespace culprit::collector::mpi {

constinit thread_local const DepthGuard* DepthGuard::outer_ = nullptr;

void DepthGuard::forget_abandoned_call() {
  outermost_ = nullptr;
  ThreadLog* const log = thread_log();
  if (log == nullptr) return;
  log->waiting = 0;
  log->close(RawSlot::call);
}

namespace {

/// The frame below which the program's stack begins.
[[gnu::always_inline]] inline uintptr_t program_frame() {
  const uintptr_t frame = DepthGuard::frame();
  return frame != 0 ? frame : reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
}

/// Raised around a real call: it ends also when an error handler of the program throws through it.
class Waiting {
 public:
  Waiting(ThreadLog* log, uint64_t& end) : log_(log), end_(end) {
    if (log_) ++log_->waiting;
  }
  ~Waiting() {
    if (!log_) return;
    --log_->waiting;
    end_ = now();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  ThreadLog* log_;
  uint64_t& end_;
};

}  // namespace

CallRegion::CallRegion(const Function& function) : log_(thread_log()) {
  if (!log_) return;
  begin_ = end_ = now();
  enter(function);
}

CallRegion::CallRegion(const Function& function, ThreadLog* log, uint64_t begin, uint64_t end)
    : log_(log), begin_(begin), end_(end) {
  if (log_) enter(function);
}

void CallRegion::enter(const Function& function) {
  name_ =
      static_cast<uint16_t>(log_->enter<raw::mpi_enter>(begin_, function.name, program_frame()));
}

CallRegion::~CallRegion() {
  if (!log_) return;
  if (awaiting_) log_->close(RawSlot::call);  // an error handler of the program has thrown
  if (log_->counting) log_->count(end_);
  log_->put(end_, raw::mpi_leave{.name = name_});
}

void CallRegion::awaits(trace::RawAwaits what, uint32_t object,
                        std::initializer_list<uint64_t> rest) {
  awaits(what, object, rest.begin(), static_cast<unsigned>(rest.size()));
}

void CallRegion::awaits(trace::RawAwaits what, uint32_t object, const uint64_t* rest,
                        unsigned count) {
  if (!log_) return;
  log_->open(RawSlot::call, begin_, raw::mpi_awaits{.object = object, .what = what}, rest, count);
  awaiting_ = true;
}

int CallRegion::run(RealCall call) {
  int rc;
  {
    const Waiting waiting(log_, end_);
    rc = call();
  }
  if (awaiting_) log_->close(RawSlot::call);
  awaiting_ = false;
  return rc;
}

int Poll::run(RealCall call) {
  log_ = thread_log();
  if (log_) begin_ = now();
  const Waiting waiting(log_, end_);
  return call();
}

void Poll::fruitless() {
  if (!log_ || !recording() || !tests_wanted()) return;
  const auto name = static_cast<uint16_t>(log_->name(function_.name));
  if (log_->put_test(end_, name, end_ - begin_)) return;
  const PathId path = log_->path_above(program_frame());
  if (log_->put_test_of(path, end_, name, end_ - begin_)) return;
  log_->put(begin_, raw::mpi_tests{.path = static_cast<uint32_t>(path),
                                   .name = name,
                                   .until = end_,
                                   .count = 1,
                                   .inside = end_ - begin_});
}

}  // namespace culprit::collector::mpi
