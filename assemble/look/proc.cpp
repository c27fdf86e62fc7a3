// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Texts of /proc are parsed as proc(5) describes them; a text that does not match counts as
// missing.
#include "assemble/look/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <memory>
#include <sstream>
#include <string_view>

#include "trace/raw/own_threads.h"

namespace culprit::assemble::look {
namespace {

std::string of(uint32_t process, std::string_view file) {
  return fmt::format("/proc/{}/{}", process, file);
}

/// The names in a folder that are numbers.
std::vector<uint32_t> numbers_in(const std::string& folder) {
  std::vector<uint32_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  if (!open) return numbers;
  while (const dirent* entry = readdir(open.get())) {
    const std::string_view name = entry->d_name;
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

/// The number in front of `text`, in base 16 if it begins with 0x; moves on behind it.
std::optional<uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

/// The rest of the line that starts with `beginning`; empty if there is none.
std::string_view line_of(std::string_view text, std::string_view beginning) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(beginning)) return line.substr(beginning.size());
    at = end + 1;
  }
  return {};
}

/// State and name from a `stat`.
struct NameAndState {
  std::string name;
  char state = '?';
};
std::optional<NameAndState> name_and_state(const std::string& stat) {
  const size_t open = stat.find('('), close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 2 >= stat.size())
    return std::nullopt;
  return NameAndState{stat.substr(open + 1, close - open - 1), stat[close + 2]};
}

}  // namespace

// Reading fails where a thread has just ended, for which a stream's buffer would throw.
std::string read_proc(const std::string& file) {
  std::string text;
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = read(opened, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<size_t>(got));
  }
  close(opened);
  return text;
}

std::string link_target(const std::string& file) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlink(file.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<size_t>(length)) : std::string();
}

bool may_read_memory(pid_t process) {
  const int file = open(of(static_cast<uint32_t>(process), "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) close(file);
  return file >= 0;
}

int open_root(pid_t process) {
  const std::string root = of(static_cast<uint32_t>(process), "root");
  return open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

std::vector<uint32_t> all_processes() {
  return numbers_in("/proc");
}

std::vector<uint32_t> threads_of(pid_t process) {
  return numbers_in(of(static_cast<uint32_t>(process), "task"));
}

std::vector<uint32_t> children_of(pid_t process) {
  std::vector<uint32_t> children;
  for (const uint32_t thread : threads_of(process)) {
    std::istringstream in(read_proc(fmt::format("/proc/{}/task/{}/children", process, thread)));
    for (uint32_t child = 0; in >> child;) children.push_back(child);
  }
  return children;
}

std::string describe_process(uint32_t process) {
  const auto known = name_and_state(read_proc(of(process, "stat")));
  if (!known) return {};
  switch (known->state) {
    case 'R':
      return known->name + ", which runs";
    case 'S':
      return known->name + ", which sleeps";
    case 'D':
      return known->name + ", which waits for a device or a file system";
    case 'T':
    case 't':
      return known->name + ", which is stopped";
    default:
      return known->name;
  }
}

bool handles_signals(pid_t process) {
  const std::string status = read_proc(of(static_cast<uint32_t>(process), "status"));
  std::string_view caught = line_of(status, "SigCgt:");
  caught.remove_prefix(std::min(caught.find_first_not_of(" \t"), caught.size()));
  uint64_t set = 0;
  std::from_chars(caught.data(), caught.data() + caught.size(), set, 16);
  for (const int usual : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE,
                          SIGCHLD, SIGURG, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    set &= ~(uint64_t{1} << (usual - 1));
  }
  // Those of real time are ours, or of the system's library.
  return (set & 0x7fffffff) != 0;
}

// "55d0-55d1 r-xp 00000000 fd:01 42   /usr/lib/libm.so.6": no other word begins with a slash.
std::string mapped_below(const std::string& maps, const std::string& root) {
  std::string result;
  for (size_t at = 0; at < maps.size();) {
    const size_t end = std::min(maps.find('\n', at), maps.size());
    std::string line = maps.substr(at, end - at);
    if (const size_t path = line.find('/'); path != std::string::npos) line.insert(path, root);
    result += line + "\n";
    at = end + 1;
  }
  return result;
}

// "55d0-55d1 rw-s 00000000 ...": the last of the four letters.
bool is_shared(pid_t process, uint64_t address) {
  std::istringstream maps(read_proc(of(static_cast<uint32_t>(process), "maps")));
  uint64_t begin = 0, end = 0;
  char dash = 0;
  std::string access, rest;
  while (maps >> std::hex >> begin >> dash >> end >> access && std::getline(maps, rest)) {
    if (address >= begin && address < end) return access.size() == 4 && access[3] == 's';
  }
  return false;
}

std::optional<ThreadLook> look_at_thread(pid_t process, uint32_t tid) {
  const std::string folder = fmt::format("/proc/{}/task/{}/", process, tid);
  const auto known = name_and_state(read_proc(folder + "stat"));
  if (!known || known->name == trace::kRawWatcherThread) return std::nullopt;
  ThreadLook thread;
  thread.tid = tid;
  thread.state = known->state;
  std::istringstream in(read_proc(folder + "schedstat"));
  uint64_t without_core = 0;
  in >> thread.cpu_ns >> without_core >> thread.turns;
  return thread;
}

uint64_t without_core_ns(pid_t process, uint32_t tid) {
  std::istringstream in(read_proc(fmt::format("/proc/{}/task/{}/schedstat", process, tid)));
  uint64_t on_core = 0, without = 0;
  in >> on_core >> without;
  return without;
}

std::optional<Registers> look_at_call(pid_t process, ThreadLook& thread) {
  const std::string text = read_proc(fmt::format("/proc/{}/task/{}/syscall", process, thread.tid));
  std::string_view rest = text;
  const auto number = take_number(rest);  // "running", or -1 outside of calls: no number
  if (!number) return std::nullopt;
  for (uint64_t& argument : thread.args) argument = take_number(rest).value_or(0);
  const auto sp = take_number(rest), pc = take_number(rest);
  if (!sp || !pc) return std::nullopt;
  thread.call = static_cast<int64_t>(*number);
  return Registers{*sp, *pc};
}

Opened opened_by(uint32_t process, const std::string& target) {
  constexpr size_t kMost = 4096;
  Opened opened;
  const std::vector<uint32_t> descriptors = numbers_in(of(process, "fd"));
  for (size_t i = 0; i < std::min(descriptors.size(), kMost); ++i) {
    if (link_target(of(process, fmt::format("fd/{}", descriptors[i]))) != target) continue;
    const std::string info = read_proc(of(process, fmt::format("fdinfo/{}", descriptors[i])));
    std::string_view flags = line_of(info, "flags:");
    flags.remove_prefix(std::min(flags.find_first_not_of(" \t"), flags.size()));
    int mode = 0;
    std::from_chars(flags.data(), flags.data() + flags.size(), mode, 8);
    opened.reads = opened.reads || (mode & O_ACCMODE) != O_WRONLY;
    opened.writes = opened.writes || (mode & O_ACCMODE) != O_RDONLY;
  }
  return opened;
}

// Example: "7: FLOCK  ADVISORY  WRITE 4242 08:01:99 0 EOF"; lines below it with "->" are its
// waiters.
std::vector<uint32_t> lock_holders(pid_t waiter) {
  std::istringstream in(read_proc("/proc/locks"));
  std::vector<uint32_t> holders;
  std::string holder_of, number;
  uint32_t holder = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string id, sort, advisory, mode;
    words >> id >> sort;
    const bool waits = sort == "->";
    if (waits) words >> sort;
    int64_t process = 0;
    if (!(words >> advisory >> mode >> process)) continue;
    if (!waits) holder = process > 0 ? static_cast<uint32_t>(process) : 0;
    if (waits && process == waiter && holder != 0) holders.push_back(holder);
  }
  return holders;
}

}  // namespace culprit::assemble::look
