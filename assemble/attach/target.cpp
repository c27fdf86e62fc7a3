// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which right is missing is found by trying: rules differ between systems and containers.
#include "assemble/attach/target.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

#include "assemble/look/proc.h"

namespace culprit::assemble::attach {
namespace {

using look::link_target;
using look::read_proc;

std::string file_of(pid_t process, std::string_view name) {
  return fmt::format("/proc/{}/{}", process, name);
}

/// Name, state and start of a process.
struct Stat {
  std::string name;
  char state = '?';
  uint64_t began = 0;
};
std::optional<Stat> stat_of(pid_t process) {
  constexpr int kBeganAfterState = 19;
  const std::string text = read_proc(file_of(process, "stat"));
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == text.npos || close == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(close + 1));
  Stat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  rest >> stat.state;
  std::string word;
  for (int i = 0; i < kBeganAfterState; ++i) rest >> word;
  std::from_chars(word.data(), word.data() + word.size(), stat.began);
  return stat;
}

/// Its first thread may have ended before the others.
bool has_ended(pid_t process, const Stat& stat) {
  return (stat.state == 'Z' || stat.state == 'X') && look::threads_of(process).size() < 2;
}

/// The last of the words behind "name:" in a status.
uint32_t last_number(const std::string& status, std::string_view name) {
  const size_t at = status.find(std::string("\n") + std::string(name));
  if (at == status.npos) return 0;
  std::istringstream words(
      status.substr(at + 1 + name.size(), status.find('\n', at + 1) - at - 1 - name.size()));
  uint32_t number = 0;
  for (uint32_t each = 0; words >> each;) number = each;
  return number;
}

std::string name_of_user(uid_t user) {
  const passwd* known = getpwuid(user);
  return known != nullptr ? known->pw_name : fmt::format("{}", user);
}

/// Why its stacks cannot be read; empty if they can.
std::string refusal_of(pid_t process, const std::string& other_user) {
  if (look::may_read_memory(process)) return {};
  if (!other_user.empty()) return fmt::format("it belongs to {}", other_user);
  const std::string scope = read_proc("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty() && scope[0] != '0') {
    return "this system lets nobody but parents and root look into processes "
           "(kernel.yama.ptrace_scope)";
  }
  return "the system refuses it (a container, or a program with rights of its own)";
}

bool is_same_space(pid_t process, std::string_view space) {
  const std::string other = link_target(file_of(process, fmt::format("ns/{}", space)));
  return other.empty() || other == link_target(fmt::format("/proc/self/ns/{}", space));
}

}  // namespace

Result<Target> find_target(pid_t process) {
  if (process == getpid()) return Error{"culprit cannot look at itself"};
  const auto stat = stat_of(process);
  if (!stat) return Error{fmt::format("there is no process {}", process)};
  if (has_ended(process, *stat)) {
    return Error{fmt::format("process {} ({}) has ended", process, stat->name)};
  }
  const std::string status = read_proc(file_of(process, "status"));
  if (status.find("\nVmSize:") == status.npos) {
    return Error{
        fmt::format("process {} ({}) is a part of the system's kernel, and executes no "
                    "program",
                    process, stat->name)};
  }
  Target target;
  target.pid = process;
  target.began = stat->began;
  target.name = stat->name;
  struct stat owner = {};
  const std::string folder = fmt::format("/proc/{}", process);
  if (::stat(folder.c_str(), &owner) == 0 && owner.st_uid != geteuid()) {
    target.user = name_of_user(owner.st_uid);
  }
  target.refusal = refusal_of(process, target.user);
  if (const uint32_t tracer = last_number(status, "TracerPid:"); tracer != 0) {
    target.debugger = fmt::format("process {} ({})", tracer, look::describe_process(tracer));
  }
  target.other_processes = !is_same_space(process, "pid");
  if (!is_same_space(process, "mnt")) {
    target.root_folder = Descriptor(look::open_root(process));
    if (target.root_folder)
      target.root = fmt::format("/proc/self/fd/{}", target.root_folder.number());
  }
  return target;
}

std::vector<pid_t> with_descendants(std::span<const pid_t> processes) {
  std::vector<pid_t> all;
  const auto add = [&](pid_t process) {
    if (std::find(all.begin(), all.end(), process) == all.end()) all.push_back(process);
  };
  for (const pid_t process : processes) add(process);
  for (size_t i = 0; i < all.size(); ++i) {
    for (const uint32_t child : look::children_of(all[i])) {
      if (static_cast<pid_t>(child) != getpid()) add(static_cast<pid_t>(child));
    }
  }
  return all;
}

bool is_there(const Target& target) {
  const auto stat = stat_of(target.pid);
  return stat && stat->began == target.began && !has_ended(target.pid, *stat);
}

uint32_t number_inside(const Target& target, uint32_t tid) {
  if (!target.other_processes) return tid;
  const uint32_t inside =
      last_number(read_proc(fmt::format("/proc/{}/task/{}/status", target.pid, tid)), "NSpid:");
  return inside != 0 ? inside : tid;
}

}  // namespace culprit::assemble::attach
