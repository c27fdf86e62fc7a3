// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's turns on a core are read before its stack and after: if they are the same, it has
// slept, and the data read in between is consistent.
#include "assemble/look/process_watch.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "assemble/look/copy_memory.h"
#include "assemble/look/proc.h"
#include "assemble/look/system_calls.h"

namespace culprit::assemble::look {
namespace {

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
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

bool is_fifo(const std::string& path) {
  struct stat known = {};
  return path.starts_with('/') && stat(path.c_str(), &known) == 0 && S_ISFIFO(known.st_mode);
}

std::string descriptor(pid_t process, uint64_t number) {
  return link_target(fmt::format("/proc/{}/fd/{}", process, static_cast<int>(number)));
}

std::string text_at(pid_t process, uint64_t address) {
  std::string text(PATH_MAX, '\0');
  text.resize(copy_memory(process, address, text.data(), text.size()));
  return text.substr(0, text.find('\0'));
}

/// The first argument of wait4 is a process, or any; waitid has it in the second.
void see_child(pid_t process, ThreadLook& thread) {
  const bool by_id = system_call(thread.call).name == "waitid";
  const auto wanted = static_cast<int32_t>(thread.args[by_id ? 1 : 0]);
  thread.holders =
      wanted > 0 ? std::vector<uint32_t>{static_cast<uint32_t>(wanted)} : children_of(process);
  if (!thread.holders.empty()) thread.object = describe_process(thread.holders.front());
}

void see_words(pid_t process, ThreadLook& thread) {
  const uint64_t from = (thread.args[0] & ~uint64_t{7}) - kWordsBefore * sizeof(uint64_t);
  copy_memory(process, from, thread.words.data(), sizeof thread.words);
}

void see_object(pid_t process, ThreadLook& thread) {
  const CallSort sort = system_call(thread.call).sort;
  switch (sort) {
    case CallSort::futex:
      see_words(process, thread);
      if (is_shared(process, thread.args[0])) thread.object = kSharedMemory;
      return;
    case CallSort::reads:
    case CallSort::writes:
      thread.object = descriptor(process, thread.args[0]);
      thread.holders.clear();
      if (thread.object.starts_with("pipe:") || is_fifo(thread.object)) {
        thread.holders = other_side(thread.object, sort == CallSort::reads);
      }
      return;
    case CallSort::locks:
      thread.object = descriptor(process, thread.args[0]);
      thread.holders = lock_holders(process);
      return;
    case CallSort::opens:
      thread.object = text_at(process, thread.args[1]);
      return;
    case CallSort::child:
      return see_child(process, thread);
    default:
      return;
  }
}

const ThreadLook* find_thread(const ProcessLook* look, uint32_t tid) {
  if (look == nullptr) return nullptr;
  const auto at = std::find_if(look->threads.begin(), look->threads.end(),
                               [tid](const ThreadLook& one) { return one.tid == tid; });
  return at == look->threads.end() ? nullptr : &*at;
}

}  // namespace

LiveStacks& ProcessWatch::stacks() {
  if (!stacks_) stacks_ = std::make_unique<LiveStacks>(process_, root_);
  return *stacks_;
}

ProcessLook ProcessWatch::look(const ProcessLook* before, ShortStops* stops) {
  ProcessLook look;
  look.at_ns = now_ns();
  look.handles_signals = handles_signals(process_);
  for (const uint32_t tid : threads_of(process_)) {
    auto thread = look_at_thread(process_, tid);
    if (!thread) continue;
    thread->since_ns = look.at_ns;
    const ThreadLook* known = find_thread(before, tid);
    if (known != nullptr && look.at_ns > before->at_ns && thread->cpu_ns >= known->cpu_ns) {
      thread->core = static_cast<double>(thread->cpu_ns - known->cpu_ns) /
                     static_cast<double>(look.at_ns - before->at_ns);
    }
    if (thread->state != 'R') see_blocked(*thread, known);
    look.threads.push_back(std::move(*thread));
  }
  if (stops != nullptr) see_running(look, *stops);
  return look;
}

void ProcessWatch::see_blocked(ThreadLook& thread, const ThreadLook* known) {
  const bool stayed = known != nullptr && known->state != 'R' && known->turns == thread.turns &&
                      !known->stack.empty();
  const auto registers = look_at_call(process_, thread);
  if (stayed) {
    const ThreadLook now = thread;
    thread = *known;
    thread.state = now.state;
    thread.cpu_ns = now.cpu_ns;
    thread.core = now.core;
    // The holder of a lock or a pipe may have changed, and a child may have ended.
    if (!registers) return;
    const bool is_futex = system_call(thread.call).sort == CallSort::futex;
    return is_futex ? see_words(process_, thread) : see_object(process_, thread);
  }
  if (!registers) return;
  thread.stack = stacks().of(registers->sp, registers->pc);
  see_object(process_, thread);
  const auto again = look_at_thread(process_, thread.tid);
  if (again && again->turns == thread.turns) return;
  thread.call = kNotInACall;
  thread.stack.clear();
  thread.object.clear();
  thread.holders.clear();
}

void ProcessWatch::see_running(ProcessLook& look, ShortStops& stops) {
  std::vector<uint32_t> running;
  for (const ThreadLook& thread : look.threads) {
    if (thread.state == 'R') running.push_back(thread.tid);
  }
  for (StoppedThread& stopped : stops.of(process_, running)) {
    const auto thread = std::find_if(look.threads.begin(), look.threads.end(),
                                     [&](const ThreadLook& one) { return one.tid == stopped.tid; });
    if (stopped.call >= 0) thread->call = stopped.call;
    thread->stack = stacks().of(std::move(stopped));
  }
}

}  // namespace culprit::assemble::look
