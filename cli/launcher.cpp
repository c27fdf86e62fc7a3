// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See launcher.h. Slurm sets its variables in batch scripts too, where culprit is in front of the
// launcher; only a step's number that srun made says that this process is a rank.

#include "cli/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/files/regular_file.h"
#include "base/launch/launchers.h"

namespace culprit::cli {
namespace {

std::optional<uint32_t> number(const std::string& text) {
  uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string file_text(const std::string& name) {
  return read_regular_file(name, Owner::anybody).value_or("");
}

/// Hydra's proxies, one per node, all get the port of the mpiexec that they serve.
std::string control_port(const std::string& arguments) {
  constexpr std::string_view kOption{"--control-port\0", 15};
  const size_t at = arguments.find(kOption);
  return at == std::string::npos ? "" : arguments.substr(at + kOption.size()).c_str();
}

/// Field 22 of /proc/<pid>/stat; the name in field 2 may hold blanks, so count from its end.
std::string start_time(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

std::string token_of_parent() {
  const std::string parent = std::to_string(getppid());
  const std::string port = control_port(file_text("/proc/" + parent + "/cmdline"));
  if (!port.empty()) return "hydra " + port;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::string("parent ") + host + ' ' + parent + ' ' +
         start_time(file_text("/proc/" + parent + "/stat"));
}

/// Slurm's numbers of steps that no srun has made: batch script, interactive shell, external.
bool is_srun_step(const std::string& step) {
  const auto id = number(step);
  return id && *id < 0xfffffff0u;
}

std::optional<Job> job_of(const std::string& token, const std::string& rank,
                          const std::string& size) {
  const auto r = number(rank), s = number(size);
  if (!r || !s || *s == 0 || *r >= *s) return std::nullopt;
  return Job{token, *r, *s};
}

struct Skipped {
  std::string_view option;
  int values;
};

// Options of launchers and helpers that are followed by values; others stand alone or hold theirs
// after '='.
constexpr auto kWithValues = std::to_array<Skipped>({
    {"-n", 1},
    {"-np", 1},
    {"-c", 1},
    {"--np", 1},
    {"-N", 1},
    {"-npernode", 1},
    {"-ppn", 1},
    {"-perhost", 1},
    {"-H", 1},
    {"-host", 1},
    {"--host", 1},
    {"-hosts", 1},
    {"-hostfile", 1},
    {"--hostfile", 1},
    {"-machinefile", 1},
    {"--machinefile", 1},
    {"-f", 1},
    {"-x", 1},
    {"-mca", 2},
    {"--mca", 2},
    {"-gmca", 2},
    {"--gmca", 2},
    {"--prtemca", 2},
    {"--pmixmca", 2},
    {"-bind-to", 1},
    {"--bind-to", 1},
    {"-map-by", 1},
    {"--map-by", 1},
    {"-rank-by", 1},
    {"--rank-by", 1},
    {"-rf", 1},
    {"-rankfile", 1},
    {"--rankfile", 1},
    {"-wdir", 1},
    {"--wdir", 1},
    {"-wd", 1},
    {"-genv", 2},
    {"-env", 2},
    {"-genvlist", 1},
    {"-envlist", 1},
    {"-output-filename", 1},
    {"--output-filename", 1},
    {"-launcher", 1},
    {"-iface", 1},
    {"-am", 1},
    {"--tune", 1},
    {"--app", 1},
    {"--prefix", 1},
    {"--timeout", 1},
    {"-npersocket", 1},
    {"--npersocket", 1},
    {"--npernode", 1},
    {"--ntasks", 1},
    {"--nodes", 1},
    {"--cpus-per-task", 1},
    {"-p", 1},
    {"--partition", 1},
    {"-A", 1},
    {"--account", 1},
    {"-t", 1},
    {"--time", 1},
    {"-w", 1},
    {"--nodelist", 1},
    {"--ntasks-per-node", 1},
    {"-o", 1},
    {"-e", 1},
    {"-J", 1},
    {"-D", 1},
    {"--chdir", 1},
    {"-d", 1},
    {"-a", 1},
    {"-r", 1},
    {"-g", 1},
    {"--mpi", 1},
    {"--export", 1},
    {"-C", 1},
    {"-m", 1},
    {"-u", 1},
    {"-k", 1},
    {"-s", 1},
});

constexpr auto kHelpers =
    std::to_array<std::string_view>({"env", "time", "nice", "ionice", "nohup", "numactl", "taskset",
                                     "timeout", "stdbuf", "setarch"});

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool is_launcher(const std::string& word) {
  return starts_ranks(base_name(word));
}

bool is_helper(const std::string& word) {
  const std::string name = base_name(word);
  return std::find(kHelpers.begin(), kHelpers.end(), stem_of(name)) != kHelpers.end();
}

int values_after(const std::string& option) {
  const auto it = std::find_if(kWithValues.begin(), kWithValues.end(),
                               [&](const Skipped& s) { return s.option == option; });
  return it == kWithValues.end() ? 0 : it->values;
}

/// Returns whether a word is a number, a duration or an assignment, which a helper (such as env or
/// timeout) takes as its argument, so that it is not the program.
bool is_helpers_word(const std::string& word) {
  return std::isdigit(static_cast<unsigned char>(word.front())) ||
         word.find('=') != std::string::npos;
}

}  // namespace

std::string process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::optional<Job> detect_job(const Environment& env) {
  const std::string pmix = env("PMIX_NAMESPACE");
  if (!env("OMPI_COMM_WORLD_RANK").empty()) {
    return job_of(pmix.empty() ? token_of_parent() : "pmix " + pmix, env("OMPI_COMM_WORLD_RANK"),
                  env("OMPI_COMM_WORLD_SIZE"));
  }
  if (is_srun_step(env("SLURM_STEP_ID"))) {
    const std::string tasks = env("SLURM_STEP_NUM_TASKS");
    return job_of("slurm " + env("SLURM_JOB_ID") + '.' + env("SLURM_STEP_ID"), env("SLURM_PROCID"),
                  tasks.empty() ? env("SLURM_NTASKS") : tasks);
  }
  if (!env("PMI_RANK").empty()) {
    return job_of(token_of_parent(), env("PMI_RANK"), env("PMI_SIZE"));
  }
  if (!pmix.empty() && !env("PMIX_RANK").empty()) {
    return job_of("pmix " + pmix, env("PMIX_RANK"), env("PMIX_SIZE"));
  }
  return std::nullopt;
}

size_t program_index(const std::vector<std::string>& command) {
  bool behind = false, helper = false;
  for (size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word.empty()) continue;
    if (is_launcher(word) || is_helper(word)) {
      behind = true;
      helper = is_helper(word);
    } else if (word == "--" || (helper && is_helpers_word(word))) {
      continue;
    } else if (behind && word.front() == '-') {
      i += static_cast<size_t>(values_after(word));
    } else {
      return i;
    }
  }
  return 0;
}

std::string program_name(const std::vector<std::string>& command) {
  if (command.empty()) return "program";
  std::string name = base_name(command[program_index(command)]);
  for (char& c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+';
    if (!plain) c = '_';
  }
  return name.empty() ? "program" : name;
}

bool starts_with_mpirun(const std::vector<std::string>& command) {
  constexpr std::array kOpenMpi = {std::string_view("mpirun"), std::string_view("mpiexec"),
                                   std::string_view("orterun"), std::string_view("prterun")};
  if (command.empty()) return false;
  const std::string name = base_name(command.front());
  return std::find(kOpenMpi.begin(), kOpenMpi.end(), stem_of(name)) != kOpenMpi.end();
}

}  // namespace culprit::cli
