// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See launcher.h. Slurm sets its variables in batch scripts too, where culprit is in front of the
// launcher; only a step's number that srun made says that this process is a rank.

#include "cli/launcher.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/files/regular_file.h"

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

}  // namespace culprit::cli
