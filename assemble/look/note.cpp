// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Numbers and, at a line's end, one text. What comes from a folder that others could write is read
// within bounds: counts are small, and a line that does not fit ends the reading.
#include "assemble/look/note.h"

#include <fmt/format.h>

#include <sstream>

namespace culprit::assemble::look {
namespace {

constexpr const char* kName = "whereabouts";
constexpr const char* kHead = "culprit-whereabouts-1";
constexpr size_t kMostThreads = size_t{1} << 16;
constexpr size_t kMostNumbers = 1024;
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::string text = fmt::format(" {}", numbers.size());
  for (const auto number : numbers) text += fmt::format(" {}", number);
  return text;
}

template <class Number>
bool read_list(std::istream& in, std::vector<Number>& numbers) {
  size_t count = 0;
  if (!(in >> count) || count > kMostNumbers) return false;
  numbers.resize(count);
  for (Number& number : numbers) in >> number;
  return static_cast<bool>(in);
}

std::string line_of(const ThreadLook& thread) {
  std::string line =
      fmt::format("thread {} {} {} {} {:.3f} {} {}", thread.tid, thread.state, thread.cpu_ns,
                  thread.turns, thread.core, thread.since_ns, thread.call);
  line += list_of(thread.args) + list_of(thread.words) + list_of(thread.stack) +
          list_of(thread.holders) + " " + thread.object;
  // A path may contain anything.
  for (char& one : line) {
    if (one == '\n') one = '?';
  }
  return line + "\n";
}

template <size_t size>
bool read_array(std::istream& in, std::array<uint64_t, size>& numbers) {
  std::vector<uint64_t> read;
  if (!read_list(in, read) || read.size() != size) return false;
  std::copy(read.begin(), read.end(), numbers.begin());
  return true;
}

std::optional<ThreadLook> thread_in(const std::string& line) {
  std::istringstream in(line);
  std::string what;
  ThreadLook thread;
  in >> what >> thread.tid >> thread.state >> thread.cpu_ns >> thread.turns >> thread.core >>
      thread.since_ns >> thread.call;
  if (!in || what != "thread") return std::nullopt;
  if (!read_array(in, thread.args) || !read_array(in, thread.words)) return std::nullopt;
  if (!read_list(in, thread.stack) || !read_list(in, thread.holders)) return std::nullopt;
  in.get();
  std::getline(in, thread.object);
  return thread;
}

}  // namespace

bool write_note(const GuardedPath& process_folder, const ProcessLook& look) {
  std::string text =
      fmt::format("{}\nprocess {} {}\n", kHead, look.at_ns, look.handles_signals ? 1 : 0);
  for (const ThreadLook& thread : look.threads) text += line_of(thread);
  return (process_folder / kName).replace(text).ok();
}

std::optional<ProcessLook> read_note(const GuardedPath& process_folder) {
  const auto text = (process_folder / kName).read(kMostBytes);
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::string line, what;
  ProcessLook look;
  look.folder = process_folder.name();
  if (!std::getline(lines, line) || line != kHead || !std::getline(lines, line))
    return std::nullopt;
  std::istringstream process(line);
  if (!(process >> what >> look.at_ns >> look.handles_signals) || what != "process")
    return std::nullopt;
  while (look.threads.size() < kMostThreads && std::getline(lines, line)) {
    auto thread = thread_in(line);
    if (!thread) return std::nullopt;
    look.threads.push_back(std::move(*thread));
  }
  return look;
}

Look read_notes(const GuardedPath& raw) {
  Look all;
  for (const std::string& name : raw.list()) {
    if (auto look = read_note(raw / name)) all.processes.push_back(std::move(*look));
  }
  return all;
}

}  // namespace culprit::assemble::look
