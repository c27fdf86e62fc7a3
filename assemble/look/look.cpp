// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's turns on a core are read before its stack and after: if they are the same, it has
// slept, and the data read in between is consistent.
#include "assemble/look/look.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "assemble/look/live_stacks.h"
#include "assemble/look/proc.h"
#include "assemble/look/system_calls.h"
#include "assemble/raw/process.h"

namespace culprit::assemble::look {
namespace {

namespace fs = std::filesystem;

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Alive {
  std::string folder;
  pid_t pid = 0;
};

/// Numbers of processes are used again: the same one runs the same program.
bool is_alive(const trace::RawProcess& process) {
  const std::string program = link_target(fmt::format("/proc/{}/exe", process.pid));
  return process.ended == 0 && !program.empty() && program == process.executable;
}

/// The folder below `raw` into which the process records, by its mappings; empty: none. A child
/// inherits its parent's.
std::string folder_of(uint32_t process, const std::string& raw) {
  const std::string maps = read_proc(fmt::format("/proc/{}/maps", process));
  const std::string number = fmt::format(".{}.", process);
  for (size_t at = maps.find(raw); at != std::string::npos; at = maps.find(raw, at + 1)) {
    const size_t begin = at + raw.size(), end = maps.find_first_of("/\n", begin);
    if (end == std::string::npos || maps[end] != '/') continue;
    const std::string folder = maps.substr(begin, end - begin);
    if (folder.find(number) != std::string::npos) return folder;
  }
  return {};
}

/// Alive processes by the folders alone: others, on other nodes, may look at the same time.
std::vector<Alive> alive_below(const GuardedPath& raw) {
  std::error_code error;
  const std::string folders = fs::canonical(raw.path(), error).string() + "/";
  if (error) return {};
  std::vector<Alive> alive;
  std::vector<uint32_t> below = children_of(getpid());
  for (size_t i = 0; i < below.size(); ++i) {
    std::string folder = folder_of(below[i], folders);
    if (!folder.empty()) alive.push_back({std::move(folder), static_cast<pid_t>(below[i])});
    const std::vector<uint32_t> children = children_of(static_cast<pid_t>(below[i]));
    below.insert(below.end(), children.begin(), children.end());
  }
  return alive;
}

std::vector<Alive> alive_under(const GuardedPath& raw) {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, HOST_NAME_MAX);
  const std::string boot = read_proc("/proc/sys/kernel/random/boot_id");
  std::vector<Alive> alive;
  for (const std::string& name : raw.list()) {
    const auto record = read_process(raw / name / "process");
    if (!record) continue;
    const trace::RawProcess& process = record->process;
    if (process.host != std::string_view(host) || process.boot_id[0] == '\0' ||
        !boot.starts_with(process.boot_id)) {
      continue;
    }
    if (!is_alive(process)) continue;
    alive.push_back({name, static_cast<pid_t>(process.pid)});
  }
  std::sort(alive.begin(), alive.end(),
            [](const Alive& a, const Alive& b) { return a.folder < b.folder; });
  return alive;
}

/// The processes that have the other side of a pipe open, among all that we may inspect.
std::vector<uint32_t> other_side(const std::string& object, bool wants_writer) {
  std::vector<uint32_t> holders;
  for (const uint32_t process : all_processes()) {
    const Opened opened = opened_by(process, object);
    if (wants_writer ? opened.writes : opened.reads) holders.push_back(process);
  }
  return holders;
}

class ProcessWatch {
 public:
  ProcessWatch(const Alive& process, const ProcessLook* before)
      : process_(process), before_(before) {}

  ProcessLook take() {
    ProcessLook look;
    look.folder = process_.folder;
    look.at_ns = now_ns();
    look.handles_signals = handles_signals(process_.pid);
    for (const uint32_t tid : threads_of(process_.pid)) {
      auto thread = look_at_thread(process_.pid, tid);
      if (!thread) continue;
      thread->since_ns = look.at_ns;
      const ThreadLook* known = earlier(tid);
      if (known != nullptr && look.at_ns > before_->at_ns && thread->cpu_ns >= known->cpu_ns) {
        thread->core = static_cast<double>(thread->cpu_ns - known->cpu_ns) /
                       static_cast<double>(look.at_ns - before_->at_ns);
      }
      if (thread->state != 'R') see_blocked(*thread);
      look.threads.push_back(std::move(*thread));
    }
    return look;
  }

 private:
  const ThreadLook* earlier(uint32_t tid) const {
    if (before_ == nullptr) return nullptr;
    const auto at = std::find_if(before_->threads.begin(), before_->threads.end(),
                                 [tid](const ThreadLook& one) { return one.tid == tid; });
    return at == before_->threads.end() ? nullptr : &*at;
  }

  void see_blocked(ThreadLook& thread) {
    const ThreadLook* known = earlier(thread.tid);
    const bool stayed = known != nullptr && known->turns == thread.turns && !known->stack.empty();
    const auto registers = look_at_call(process_.pid, thread);
    if (stayed) {
      const ThreadLook now = thread;
      thread = *known;
      thread.state = now.state;
      thread.cpu_ns = now.cpu_ns;
      thread.core = now.core;
      // The holder of a lock or a pipe may have changed, and a child may have ended.
      if (registers && system_call(thread.call).sort != CallSort::futex) see_object(thread);
      return;
    }
    if (!registers) return;
    if (!stacks_) stacks_ = std::make_unique<LiveStacks>(process_.pid);
    thread.stack = stacks_->of(registers->sp, registers->pc);
    see_object(thread);
    const auto again = look_at_thread(process_.pid, thread.tid);
    if (again && again->turns == thread.turns) return;
    thread.call = kNotInACall;
    thread.stack.clear();
    thread.object.clear();
    thread.holders.clear();
  }

  void see_object(ThreadLook& thread) const {
    switch (system_call(thread.call).sort) {
      case CallSort::futex: {
        const uint64_t from = (thread.args[0] & ~uint64_t{7}) - kWordsBefore * sizeof(uint64_t);
        copy_memory(process_.pid, from, thread.words.data(), sizeof thread.words);
        if (is_shared(process_.pid, thread.args[0])) thread.object = kSharedMemory;
        return;
      }
      case CallSort::reads:
      case CallSort::writes:
        thread.object = descriptor(thread.args[0]);
        thread.holders.clear();
        if (thread.object.starts_with("pipe:") || is_fifo(thread.object)) {
          thread.holders =
              other_side(thread.object, system_call(thread.call).sort == CallSort::reads);
        }
        return;
      case CallSort::locks:
        thread.object = descriptor(thread.args[0]);
        thread.holders = lock_holders(process_.pid);
        return;
      case CallSort::opens:
        thread.object = text_at(thread.args[1]);
        return;
      case CallSort::child:
        return see_child(thread);
      default:
        return;
    }
  }

  /// The first argument of wait4 is a process, or any; waitid has it in the second.
  void see_child(ThreadLook& thread) const {
    const bool by_id = system_call(thread.call).name == "waitid";
    const auto wanted = static_cast<int32_t>(thread.args[by_id ? 1 : 0]);
    thread.holders = wanted > 0 ? std::vector<uint32_t>{static_cast<uint32_t>(wanted)}
                                : children_of(process_.pid);
    if (!thread.holders.empty()) thread.object = describe_process(thread.holders.front());
  }

  std::string descriptor(uint64_t number) const {
    return link_target(fmt::format("/proc/{}/fd/{}", process_.pid, static_cast<int>(number)));
  }
  static bool is_fifo(const std::string& path) {
    struct stat known = {};
    return path.starts_with('/') && stat(path.c_str(), &known) == 0 && S_ISFIFO(known.st_mode);
  }
  std::string text_at(uint64_t address) const {
    std::string text(PATH_MAX, '\0');
    text.resize(copy_memory(process_.pid, address, text.data(), text.size()));
    return text.substr(0, text.find('\0'));
  }

  const Alive& process_;
  const ProcessLook* before_;
  std::unique_ptr<LiveStacks> stacks_;  ///< made when first needed
};

}  // namespace

const ProcessLook* Look::of(const std::string& folder) const {
  const auto at = std::find_if(processes.begin(), processes.end(),
                               [&](const ProcessLook& one) { return one.folder == folder; });
  return at == processes.end() ? nullptr : &*at;
}

Look look_at_run(const GuardedPath& raw, Which which, const Look& before) {
  const std::vector<Alive> run = which == Which::all ? alive_under(raw) : alive_below(raw);
  Look look;
  for (const Alive& process : run) {
    look.processes.push_back(ProcessWatch(process, before.of(process.folder)).take());
  }
  return look;
}

}  // namespace culprit::assemble::look
