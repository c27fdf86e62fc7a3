// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Inside of a ThreadLog (recorder.h): the window into which records go and the files behind it,
// this thread's names and call paths. For the recorder's own files only; probes see recorder.h. MT:
// one thread, and the signal handlers that interrupt it, which stay out while `busy` is set.
#pragma once

#include <atomic>

#include "collector/bursts/digest.h"
#include "collector/callpath/path_memo.h"
#include "collector/callpath/path_tree.h"
#include "collector/callpath/python_stack.h"
#include "collector/callpath/unwind.h"
#include "collector/process/recorder.h"
#include "collector/recorder/log_file.h"

namespace culprit::collector {

struct PythonPaths;

/// Words that a record can have at most, and bytes of one with this number of them.
inline constexpr unsigned kMaxWords = 255;
constexpr uint32_t record_bytes(unsigned words) {
  return static_cast<uint32_t>(sizeof(trace::RawHeader)) + words * 8;
}

/// Names a thread has used: address of the literal -> number. Fixed size: there are about as many
/// names as MPI functions.
class NameTable {
 public:
  /// The slot of `name`: its number, or 0 if it is yet to be entered. nullptr when full.
  uint16_t* find(const char* name);
  uint16_t enter(uint16_t* slot, const char* name);

 private:
  static constexpr unsigned kSlots = 4096;
  static constexpr unsigned kMaxNames = kSlots / 4 * 3;
  const char* names_[kSlots] = {};
  uint16_t ids_[kSlots] = {};
  uint16_t count_ = 0;
};

/// What follows a record's header: the words of its fields, then its rest.
struct Words {
  const uint64_t* fields = nullptr;
  unsigned count = 0;
  const uint64_t* rest = nullptr;
  unsigned rest_count = 0;
  unsigned all() const { return count + rest_count; }
};

struct __attribute__((visibility("hidden"))) ThreadLog::Impl {
  std::atomic<bool> busy{false};
  uint32_t used = 0;  ///< bytes of the window in use; all of it when there is no window (broken)
  uint32_t capacity = trace::kRawWindow;             ///< bytes of the window
  uint32_t limit = capacity - trace::kRawSealBytes;  ///< where the window's checksum belongs, in
                                                     ///< the part that has room on disk
  uint32_t stop = limit;    ///< a record that would cross this takes the slow path: the limit, the
                            ///< end of a slice that is to be folded, or the point at which a window
                            ///< in memory is to be written
  uint32_t newest = 0;      ///< offset in the window of the newest record
  bool grows = false;       ///< the newest record may still grow, so it is not in `sum`
  uint64_t sum = 0;         ///< raw_sum of the window's records
  uint64_t last_time = 0;   ///< others read it
  bool scratch = false;     ///< without files: its drops do not count
  uint32_t retry_wait = 0;  ///< seconds; 0 unless the last window could not be written
  uint64_t retry_at = 0;    ///< earliest time of the next try, by the coarse clock
  uint32_t until_held_ms = 0;  ///< until then, if another thread held the window
  LogFile file;
  Digest digest;
  PathMemo memo;
  PathTree paths;
  NameTable names;
  Frames frames;  ///< the stack that is being taken, kept here because threads may have next to no
                  ///< stack
  LastStack last;
  uint32_t until_timing = 0;  ///< searches for call paths until one is timed
  PythonPaths* python = nullptr;

  /// A log whose file cannot be made is broken: it drops and counts.
  void open(const char* folder, uint32_t number);
  void open_scratch();
  /// Gives a scratch log its files, which begin with its records.
  void settle(const char* folder, uint32_t number);
  /// Forgets state of the thread that has ended, so that another thread may continue the log. False
  /// if the log is of no use.
  bool rest();
  /// Recorder::end_window.
  void end_window();
  /// Releases everything. False, and nothing happens, if another thread reads the window and does
  /// not go on.
  bool close();

  bool append(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, Words words);
  /// The same, of its fields; `rest`: the words that follow them.
  template <class Record>
  bool append(uint64_t time, const Record& record, const uint64_t* rest = nullptr,
              unsigned count = 0) {
    const raw::Packed<Record> packed(record);
    return append(Record::kKind, time, packed.flag_bits, packed.argument,
                  {packed.words, packed.count, rest, count});
  }
  bool note(RawKind kind, raw::Place moment, uint64_t time, uint16_t flags, uint64_t w0);
  /// The newest record's payload, if it is of this kind and may still grow; else nullptr.
  uint64_t* growing(RawKind kind);
  uint64_t* growing(RawKind kind, uint16_t flags);
  /// Makes the newest record, which may grow, longer by this number of words. False if there is no
  /// room.
  bool lengthen(unsigned words);
  /// The number of a name, which is defined at its first use.
  StringId name(const char* name);
  /// The path of the stack at `cfa`, remembered or taken.
  PathId path_at(uintptr_t cfa, uintptr_t return_address);
  /// The path of the stack at `cfa`, as this thread remembers it; 0 if it does not.
  uint32_t remembered_path(uintptr_t cfa, uintptr_t return_address);
  /// The same, taken from the stack.
  PathId take_path(uintptr_t cfa);
  /// Appends a sample of the thread at `frames`, and at `python` if it executes Python.
  void append_sample(uint64_t time, uint16_t missed, const Frames& frames,
                     const python::Stack* python = nullptr);
  /// The path of `frames`, which were taken from another thread's stack.
  PathId path_of_frames() { return define_path(frames, 0, false); }
  /// The buffer for the thread's Python frames; nullptr if the process has none.
  python::Stack* python_stack();
  /// False for a broken log: a sample that it dropped would not be a loss of the program's.
  bool may_append_from_signal() const;

 private:
  /// The path of frames taken from the stack, with definitions of new ones; ends early when memory
  /// does. `known`: number of frames of the last stack that lie further out; then, and if `keep`,
  /// this stack becomes the last one.
  PathId define_path(const Frames& frames, unsigned known, bool keep,
                     const python::Stack* python = nullptr);
  /// The call path of a frame below another, defining it if it is new; 0: there is no memory.
  uint32_t add_frame(uint32_t path, uint64_t address);
  // python_paths.cpp:
  /// The path of the stack at `cfa`, of which the native frames are known, with what they execute.
  PathId with_python(uint32_t native, uintptr_t cfa);
  /// Adds below a native frame the Python frames that it executes, out of the outermost `left`.
  uint32_t add_python(uint32_t path, const Frame& below, const python::Stack& stack,
                      unsigned& left);
  /// Adds around the native frames the Python frames that call them, where code without unwind
  /// tables (as in libraries of linear algebra) hides the interpreter.
  uint32_t add_python_around(uint32_t path, const Frames& frames, const python::Stack& stack,
                             unsigned& left);
  uint32_t add_python_frame(uint32_t path, const python::Frame& frame);
  bool describe(const python::Frame& frame, uint32_t number);
  void say_unknown_python();
  void release_python();
  /// Where its checksum belongs at last.
  uint32_t most_of_window() const { return capacity - trace::kRawSealBytes; }
  void set_last_time(uint64_t time) {
    std::atomic_ref<uint64_t>(last_time).store(time, std::memory_order_relaxed);
  }
  bool append_at_end(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, Words words);
  void store(RawKind kind, uint64_t time, uint16_t flags, uint32_t arg, Words words);
  void finish_newest();
  void pad();
  void put_seal(uint16_t flags);
  void begin_step();
  bool widen();
  void take_first_window();
  bool ends_step(uint32_t bytes);
  void digest_window(uint32_t end, bool is_kept);
  bool turn_over();
  bool next_window();
  void begin_window(bool has_files);
  void put_off_retry();
  void put_off_window();
  bool drop();
};

/// Keeps signal handlers out of a log while it changes.
class Busy {
 public:
  explicit Busy(std::atomic<bool>& flag) : flag_(flag) {
    flag_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Busy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    flag_.store(false, std::memory_order_relaxed);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace culprit::collector
