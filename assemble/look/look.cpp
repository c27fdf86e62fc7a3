// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes are found by their records, or by their maps, in which the files of the records are.
#include "assemble/look/look.h"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>

#include "assemble/look/proc.h"
#include "assemble/look/process_watch.h"
#include "assemble/raw/process.h"

namespace culprit::assemble::look {
namespace {

namespace fs = std::filesystem;

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
    look.processes.push_back(ProcessWatch(process.pid).look(before.of(process.folder)));
    look.processes.back().folder = process.folder;
  }
  return look;
}

}  // namespace culprit::assemble::look
