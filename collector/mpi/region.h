// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One MPI call in the record: enter, facts, leave. Also the parts that all wrappers share: the
// table of functions, the guard against counting a call twice, the opaque "do the call".
//
// Two clock readings a call: facts that hold when the call is posted carry the time of its enter,
// facts of its completion that of its leave. Facts of the posting are written before the real call,
// so that the record of a program that hangs or dies inside it shows what it was about to do.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// The ways in which a program can call one MPI function: each MPI has a separate symbol for each.
enum class Form : uint8_t { c, fortran, f08, f08ts };
inline constexpr unsigned kForms = 4;

struct Function {
  const char* name;    ///< as the standard writes it, whatever the language of the caller
  void* next[kForms];  ///< the next definition of each form's symbol; set before its first call
};

/// Raised inside a wrapper: calls that MPI makes in there (MPICH's Fortran layer calls MPI_Send,
/// ROMIO and attribute callbacks call anything) belong to the outer call and are not recorded.
///
/// An error handler of the program may leave the call by longjmp, which ends no C++ object. Stacks
/// grow downwards, so an outer wrapper's frame that does not lie above the new one's, or whose
/// memory holds something else by now, is a remnant of such a call.
class DepthGuard {
 public:
  [[gnu::always_inline]] DepthGuard()
      : outermost_(outer_), frame_(reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa())) {
    if (outermost_ != nullptr && !outermost_->is_around(frame_)) forget_abandoned_call();
    if (outermost_ == nullptr) outer_ = this;
  }
  ~DepthGuard() {
    outer_ = outermost_;
    seal_ = 0;
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  bool nested() const { return outermost_ != nullptr; }
  /// The frame of the stand-in that the program called on this thread; 0 if there is none.
  static uintptr_t frame() { return outer_ != nullptr ? outer_->frame_ : 0; }

 private:
  static constexpr uintptr_t kSeal = 0x5ea1'dea1'5ea1'dea1;
  [[gnu::no_sanitize("address")]] bool is_around(uintptr_t frame) const {
    return frame < frame_ && seal_ == (frame_ ^ kSeal);
  }
  void forget_abandoned_call();
  /// In the static storage of threads: dynamic thread storage is allocated, which ends the program
  /// if there is no memory.
  [[gnu::tls_model("initial-exec")]] static thread_local const DepthGuard* outer_;
  const DepthGuard* outermost_;  ///< the guard around this one; nullptr: there is none
  uintptr_t frame_;              ///< the wrapper's frame
  volatile uintptr_t seal_ = frame_ ^ kSeal;
};

/// The real call with all its arguments bound; returns MPI's error code.
class RealCall {
 public:
  template <class Callable>
  RealCall(Callable& callable)  // NOLINT: implicit, so that wrappers pass their lambda
      : object_(&callable),
        invoke_([](void* o) -> int { return (*static_cast<Callable*>(o))(); }) {}
  int operator()() const { return invoke_(object_); }

 private:
  void* object_;
  int (*invoke_)(void*);
};

/// The record of one call; writes the enter when made and the leave when destroyed. Without a log
/// (collector inert, thread ending) it only lets the real call happen.
class CallRegion {
 public:
  explicit CallRegion(const Function& function);
  ~CallRegion();
  CallRegion(const CallRegion&) = delete;
  CallRegion& operator=(const CallRegion&) = delete;

  int run(RealCall call);

  /// Records, before run(), what the call needs in order to return (mpi_awaits, which stays until
  /// it does).
  void awaits(trace::RawAwaits what, uint32_t object, std::initializer_list<uint64_t> rest = {});
  void awaits(trace::RawAwaits what, uint32_t object, const uint64_t* rest, unsigned count);

  explicit operator bool() const { return log_ != nullptr; }
  ThreadLog& log() const { return *log_; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }  ///< valid after run()

 private:
  friend class Poll;
  CallRegion(const Function& function, ThreadLog* log, uint64_t begin, uint64_t end);
  void enter(const Function& function);
  ThreadLog* log_;
  uint64_t begin_;
  uint64_t end_;
  uint16_t name_ = 0;
  bool awaiting_ = false;
};

/// The record of a call that may well be fruitless (a test, a probe). Nothing is written until that
/// is known: fruitless calls in a row, of whatever functions, become one mpi_tests record.
class Poll {
 public:
  explicit Poll(const Function& function) : function_(function) {}
  int run(RealCall call);
  explicit operator bool() const { return log_ != nullptr; }

  /// To be called after run(), one of the two:
  void fruitless();
  CallRegion region() { return CallRegion(function_, log_, begin_, end_); }

 private:
  const Function& function_;
  ThreadLog* log_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace culprit::collector::mpi
