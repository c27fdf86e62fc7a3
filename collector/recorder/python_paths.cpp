// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths of threads that execute Python: the interpreter's frames are placed below its native
// call that executes them. The stack of native frames alone is the same for many of these paths, so
// it is remembered as everywhere else, and the whole path by the native path and the Python frames.
#include <atomic>

#include "collector/callpath/python_names.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "collector/recorder/thread_log.h"

namespace culprit::collector {

namespace {

constexpr unsigned kPaths = 1u << 12;
constexpr size_t kLongestName = 400, kLongestFile = 1000;

uint64_t mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
  return sum ^ sum >> 29;
}

uint64_t key_of(uint32_t native, const python::Stack& stack) {
  uint64_t key = mix(1, native);
  for (unsigned i = 0; i < stack.count; ++i) {
    const python::Frame& frame = stack.at[i];
    key = mix(mix(key, frame.code ^ frame.name << 24), uint64_t{frame.line} << 32 | frame.offset);
  }
  return key;
}

std::atomic<bool> g_said_unknown{false};

}  // namespace

/// The additional memory of a thread that runs Python.
struct PythonPaths {
  python::Stack stack;
  struct {
    uint64_t key;
    uint32_t path;  ///< 0: the place is free
  } known[kPaths];
};

python::Stack* ThreadLog::Impl::python_stack() {
  if (!python::is_there()) return nullptr;
  if (python == nullptr) python = static_cast<PythonPaths*>(map_memory(sizeof(PythonPaths)));
  return python != nullptr ? &python->stack : nullptr;
}

void ThreadLog::Impl::release_python() {
  if (python != nullptr) unmap_memory(python, sizeof(PythonPaths));
  python = nullptr;
}

PathId ThreadLog::Impl::with_python(uint32_t native, uintptr_t cfa) {
  python::Stack* const stack = python_stack();
  if (stack == nullptr) return PathId{native};
  python::read_at_call(*stack);
  if (stack->count == 0) return PathId{native};
  const uint64_t key = key_of(native, *stack);
  auto& known = python->known[key % kPaths];
  if (known.path != 0 && known.key == key) return PathId{known.path};
  const uint64_t begin = now();
  unwind_above(cfa, frames);
  const PathId path = define_path(frames, 0, false, stack);
  known = {key, static_cast<uint32_t>(path)};
  tally(&trace::RawProcess::unwind_ticks, now() - begin);
  return path;
}

uint32_t ThreadLog::Impl::add_python_frame(uint32_t path, const python::Frame& frame) {
  const uint32_t number = python::number_of(frame);
  if (number == 0) return path;
  if (!python::is_described(number) && describe(frame, number)) python::set_described(number);
  const uint32_t child =
      add_frame(path, trace::kRawPythonFrame | uint64_t{number} << trace::kRawPythonNumberShift |
                          frame.offset);
  return child != 0 ? child : path;
}

bool ThreadLog::Impl::describe(const python::Frame& frame, uint32_t number) {
  uint64_t words[(kLongestName + kLongestFile) / sizeof(uint64_t)] = {};
  char* const text = reinterpret_cast<char*>(words);
  const size_t name = python::text(frame.name, text, kLongestName);
  const size_t file = python::text(frame.file, text + name, sizeof words - name);
  return append(last_time,
                raw::python_code{.number = number,
                                 .name = static_cast<uint16_t>(name),
                                 .line = frame.line,
                                 .file = static_cast<uint32_t>(file)},
                words, static_cast<unsigned>((name + file + 7) / sizeof(uint64_t)));
}

uint32_t ThreadLog::Impl::add_python(uint32_t path, const Frame& below, const python::Stack& stack,
                                     unsigned& left) {
  while (left > 0) {
    const python::Frame& frame = stack.at[left - 1];
    const bool one_each = frame.call == 0;
    if (one_each ? !python::interprets(below.address - 1) : frame.call < below.cfa) break;
    --left;
    path = add_python_frame(path, frame);
    if (one_each) break;
  }
  return path;
}

uint32_t ThreadLog::Impl::add_python_around(uint32_t path, const Frames& frames,
                                            const python::Stack& stack, unsigned& left) {
  if (frames.count == 0) return path;
  const Frame& outermost = frames.at[frames.count - 1];
  if (python::interprets(outermost.address - 1)) return path;
  // Where calls are not told, all are around code from which unwinding did not reach any.
  bool reaches_any = false;
  for (unsigned i = 0; i < frames.count && !reaches_any; ++i) {
    reaches_any = python::interprets(frames.at[i].address - 1);
  }
  const auto is_around = [&](const python::Frame& frame) {
    return frame.call == 0 ? !reaches_any : frame.call >= outermost.cfa;
  };
  while (left > 0 && is_around(stack.at[left - 1])) {
    path = add_python_frame(path, stack.at[--left]);
  }
  return path;
}

void ThreadLog::Impl::say_unknown_python() {
  const uint32_t version = python::unknown_version();
  if (version == 0 || g_said_unknown.exchange(true)) return;
  append(last_time, raw::python_unknown{.version = version});
}

}  // namespace culprit::collector
