// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The recorder: where probes put what they see. One ThreadLog per thread, a file mapped in windows
// (trace/raw/raw.h says why), no locks and no allocation on the path of a record. It knows no
// probe. This is what the parts of the collector have in common; what binds them together for the
// life of a process is process_life.cpp.
//
// Rules of the house, for everything under collector/: it runs inside somebody else's program, so
// it never prints, never aborts, never throws, holds no lock across a foreign call, keeps errno,
// and counts what it cannot do in RawProcess. Until a probe activates it, the collector is inert:
// it makes no file and no thread (the preload reaches shells and launchers too).
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/raw/records.h"

#define CULPRIT_EXPORT __attribute__((visibility("default")))

namespace culprit::collector {

using trace::RawKind;
using trace::RawSlot;
namespace raw = trace::raw;

/// Ticks of the process's clock (RawProcess::clock). Async-signal-safe.
CULPRIT_EXPORT uint64_t now();

/// Call paths by number, local to a thread; 0 is "unknown".
enum class PathId : uint32_t { unknown = 0 };
/// Names by number, local to a thread.
enum class StringId : uint16_t { none = 0 };

class CULPRIT_EXPORT ThreadLog {
 public:
  /// Appends a record. Drops (and counts) when the log is broken; kinds that are not kept are also
  /// left out while recording is off (selection.h).
  template <class Record>
  void put(uint64_t time, const Record& record) {
    const raw::Packed<Record> packed(record);
    const uint64_t* const w = packed.words;
    const auto flags = packed.flag_bits;
    const auto arg = packed.argument;
    switch (packed.count) {
      case 0:
        return put(Record::kKind, time, flags, arg);
      case 1:
        return put(Record::kKind, time, flags, arg, w[0]);
      case 2:
        return put(Record::kKind, time, flags, arg, w[0], w[1]);
      case 3:
        return put(Record::kKind, time, flags, arg, w[0], w[1], w[2]);
      case 4:
        return put(Record::kKind, time, flags, arg, w[0], w[1], w[2], w[3]);
      default:
        put_words(Record::kKind, time, flags, arg, w, packed.count);
    }
  }
  /// The same for a record with a rest. At most 255 words in all; false if dropped.
  template <class Record>
  bool put(uint64_t time, const Record& record, const uint64_t* rest, unsigned count) {
    const raw::Packed<Record> packed(record);
    return put_words(Record::kKind, time, packed.flag_bits, packed.argument, packed.words,
                     packed.count, rest, count);
  }

  /// Adds one more test by the function `name` to the newest record, which ended at `end` and took
  /// `ticks`. False if that record is no mpi_tests, or has no entry for this function.
  bool put_test(uint64_t end, uint16_t name, uint64_t ticks);
  /// The same for a function that the newest record does not list yet. False if that record is no
  /// mpi_tests, or has no room.
  bool put_test_of(PathId caller, uint64_t end, uint16_t name, uint64_t ticks);

  /// Adds one more call to the newest record, which asked for the same by the same function. False
  /// if that record is no such.
  bool put_poll(const raw::device_polls& one);

  /// The thread was blocked from `begin` to `end`, in a call of `caller` (RawKind::blocked). It may
  /// have been sampled since.
  void put_blocked(uint64_t begin, uint64_t end, StringId name, PathId caller, uint64_t object = 0);
  /// The same with all fields in `blocked`, except for the begin.
  void put_blocked(uint64_t begin, raw::blocked blocked);
  /// The state in the newest record, which lasted until `was`, went on until `end`. False if the
  /// newest record is another one.
  bool prolong_blocked(uint64_t was, uint64_t end);
  /// The same, and all of it was for what `blocked` says. The record must contain its begin
  /// (raw::blocked::begun); otherwise false.
  bool explain_blocked(uint64_t was, const raw::blocked& blocked);

  /// Sets a word of the newest record, if it is of this kind.
  template <class Record>
  void set(uint64_t Record::* field, uint64_t value) {
    set_word(Record::kKind, raw::place_of(field).word, value);
  }

  /// From `time` on the thread is in the state that the record describes, in place of the slot's
  /// previous state: a few stores, none of which makes the log longer. At most kRawOpenWords words
  /// in all; the rest is left out.
  template <class Record>
  void open(RawSlot slot, uint64_t time, const Record& record, const uint64_t* rest = nullptr,
            unsigned count = 0);
  /// Ends that state.
  void close(RawSlot slot) {
    if (open_ != nullptr) publish(open_[static_cast<unsigned>(slot)], 0);
  }

  /// Notes the time of a follow-up event in the newest record, as ticks since that record's time.
  /// False if that record is not of this kind with `flags` and first word `w0`, or the ticks do not
  /// fit: then the event needs a record of its own.
  template <class Record>
  bool note(uint32_t Record::* moment, uint64_t time, uint16_t flags, uint64_t w0) {
    return note(Record::kKind, raw::place_of(moment), time, flags, w0);
  }

  /// The caller's call path, taken from the stack; frames of the collector itself are left out.
  /// Remembered paths cost a load and a compare a frame. Writes path_def records for new ones.
  PathId current_path();
  /// The same for the frames that called the function whose canonical frame address is `cfa`:
  /// stand-ins that the program calls leave themselves out in this way.
  PathId path_above(uintptr_t cfa);

  /// A call by the frames above `cfa` begins: records counters, if they are read, and the enter,
  /// with its path and its name, whose number is returned.
  template <class Enter>
  StringId enter(uint64_t time, const char* name, uintptr_t cfa) {
    return enter(Enter::kKind, time, name, cfa);
  }

  /// The number of a name in this thread's file; writes a string_def the first time. `name` must
  /// live for ever (a literal): it is compared by address.
  StringId name(const char* name);

  /// Reads the thread's counters, at the time of the record that follows. Only while `counting`.
  void count(uint64_t time);
  bool counting = false;

  /// While > 0 the sampling handler takes no sample (inside MPI, in a barrier's wait).
  int waiting = 0;

  /// That of the log's files; of a log without files: 0.
  uint32_t number = 0;

  /// The function behind all put()s; not for probes. `words` follow the header, and the rest
  /// follows them.
  void put(RawKind kind, uint64_t time, uint16_t flags = 0, uint32_t arg = 0);
  void put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0);
  void put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0, uint64_t w1);
  void put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0, uint64_t w1,
           uint64_t w2);
  void put(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, uint64_t w0, uint64_t w1,
           uint64_t w2, uint64_t w3);
  bool put_words(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, const uint64_t* words,
                 unsigned count, const uint64_t* rest = nullptr, unsigned rest_count = 0);

 private:
  static void publish(trace::RawOpen& open, uint64_t second_half) {
    auto* const to = reinterpret_cast<uint64_t*>(&open.header) + 1;
    std::atomic_ref<uint64_t>(*to).store(second_half, std::memory_order_release);
  }
  StringId enter(RawKind kind, uint64_t time, const char* name, uintptr_t cfa);
  void set_word(RawKind kind, unsigned word, uint64_t value);
  bool note(RawKind kind, raw::Place moment, uint64_t time, uint16_t flags, uint64_t w0);

  friend class Recorder;
  struct Impl;
  Impl* impl_ = nullptr;
  trace::RawOpen* open_ = nullptr;  ///< the slots of open states; none while the log is broken
};

template <class Record>
void ThreadLog::open(RawSlot slot, uint64_t time, const Record& record, const uint64_t* rest,
                     unsigned count) {
  if (open_ == nullptr) return;
  trace::RawOpen& at = open_[static_cast<unsigned>(slot)];
  const raw::Packed<Record> packed(record);
  static_assert(raw::Packed<Record>::kMostWords <= trace::kRawOpenWords);
  const unsigned room = trace::kRawOpenWords - packed.count;
  if (count > room) count = room;
  publish(at, 0);
  std::atomic_thread_fence(std::memory_order_release);
  at.header.time = time;
  for (unsigned i = 0; i < packed.count; ++i) at.words[i] = packed.words[i];
  for (unsigned i = 0; i < count; ++i) at.words[packed.count + i] = rest[i];
  publish(at, trace::raw_second_half(Record::kKind, packed.flag_bits, packed.argument,
                                     packed.count + count));
}

/// This thread's log, made at first use. nullptr while the collector is inert, after it has ended,
/// in a child forked since, or inside the collector itself. MT: each thread sees its own.
CULPRIT_EXPORT ThreadLog* thread_log();

/// A log of no thread, for events elsewhere (on devices). It never ends; its owner makes sure that
/// one thread at a time uses it, and none once is_active() is false. nullptr when thread_log()
/// would be.
CULPRIT_EXPORT ThreadLog* make_extra_log();

/// Probes in shared objects of their own call this before anything else: it returns whether records
/// of the version that they were built for are accepted. It is C, so that it can be called across
/// versions; if the answer is no, the probe stays inactive, and the report says so.
extern "C" CULPRIT_EXPORT bool culprit_takes_probe(uint32_t raw_version);

/// Whether this process is being recorded: activated, not ended, not a child forked since.
CULPRIT_EXPORT bool is_active();

/// A probe has seen that this process is worth recording (MPI_Init, start of
/// OMPT, a queue of a device): from now on
/// logs are made. Idempotent. False when switched off by the environment or impossible.
CULPRIT_EXPORT bool activate();

/// The process's record, or nullptr while inert. Fields may be updated in place.
CULPRIT_EXPORT trace::RawProcess* process();

/// Refreshes RawProcess::last and copies /proc/self/maps if code was loaded since.
CULPRIT_EXPORT void checkpoint();

}  // namespace culprit::collector
