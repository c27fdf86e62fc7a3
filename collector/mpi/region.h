// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One MPI call in the record: enter, facts, leave. And what all wrappers share: the table of
// functions, the guard against counting a call twice, the opaque "do the call".
//
// Two clock readings a call: facts that hold when the call is posted carry the time of its enter,
// facts of its completion that of its leave. What is posted is written before the real call, so
// that a program that hangs or dies inside it has told what it was about to do.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "collector/process/recorder.h"

namespace culprit::collector::mpi {

/// The ways in which a program can call one MPI function: each MPI has an own symbol for each.
enum class Form : uint8_t { c, fortran, f08, f08ts };
inline constexpr unsigned kForms = 4;

struct Function {
  const char* name;    ///< as the standard writes it, whatever the language of the caller
  void* next[kForms];  ///< the next definition of each form's symbol; set before its first call
};

/// Raised inside a wrapper: what MPI calls in there (MPICH's Fortran layer calls MPI_Send, ROMIO
/// and attribute callbacks call anything) belongs to the outer call and is not recorded.
///
/// An error handler of the program may leave the call by longjmp, which ends no C++ object. Stacks
/// grow downwards, so an outer wrapper's frame that does not lie above the new one's, or in which
/// something else lies by now, is such a remnant.
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
  /// The frame of the stand-in that the thread is in, which the program called; 0: it is in none.
  static uintptr_t frame() { return outer_ != nullptr ? outer_->frame_ : 0; }

 private:
  static constexpr uintptr_t kSeal = 0x5ea1'dea1'5ea1'dea1;
  [[gnu::no_sanitize("address")]] bool is_around(uintptr_t frame) const {
    return frame < frame_ && seal_ == (frame_ ^ kSeal);
  }
  void forget_abandoned_call();
  /// In static storage of threads: the dynamic one is allocated, and ends the program where memory
  /// does.
  [[gnu::tls_model("initial-exec")]] static thread_local const DepthGuard* outer_;
  const DepthGuard* outermost_;  ///< around this one; nullptr: none
  uintptr_t frame_;              ///< of the wrapper
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

  /// Before run(): what the call needs in order to return (mpi_awaits, which is there until it
  /// does).
  void awaits(trace::RawAwaits what, uint32_t object, std::initializer_list<uint64_t> rest = {});
  void awaits(trace::RawAwaits what, uint32_t object, const uint64_t* rest, unsigned count);

  explicit operator bool() const { return log_ != nullptr; }
  ThreadLog& log() const { return *log_; }
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }  ///< after run()

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

/// The record of a call that may well have nothing to tell (a test, a probe), so that nothing is
/// written until that is known: fruitless ones in a row, of whatever functions, become one
/// mpi_tests record.
class Poll {
 public:
  explicit Poll(const Function& function) : function_(function) {}
  int run(RealCall call);
  explicit operator bool() const { return log_ != nullptr; }

  /// After run(), one of the two:
  void fruitless();
  CallRegion region() { return CallRegion(function_, log_, begin_, end_); }

 private:
  const Function& function_;
  ThreadLog* log_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace culprit::collector::mpi
