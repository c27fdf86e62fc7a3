// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scale/measured_child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "base/result.h"

namespace culprit::bench {

namespace {

[[noreturn]] void become(const std::vector<std::string>& command, int output, unsigned limit_s) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  dup2(output, STDOUT_FILENO);
  dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
  alarm(limit_s);  // survives exec, and ends it
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

std::optional<Measured> run_measured(const std::vector<std::string>& command, unsigned limit_s) {
  int ends[2];
  CULPRIT_CHECK(pipe2(ends, O_CLOEXEC) == 0);
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  CULPRIT_CHECK(child >= 0);
  if (child == 0) become(command, ends[1], limit_s);
  close(ends[1]);
  Measured measured;
  char piece[4096];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;) {
    measured.output.append(piece, static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  CULPRIT_CHECK(wait4(child, &status, 0, &usage) == child);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  measured.wall_s = wall.count();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  measured.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  measured.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return measured;
}

}  // namespace culprit::bench
