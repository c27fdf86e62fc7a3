// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "collector/process/lifecycle.h"

namespace culprit::tests {

namespace {

void set_environment(const std::filesystem::path& folder,
                     const std::map<std::string, std::string>& variables) {
  setenv("CULPRIT_EXPERIMENT", folder.c_str(), 1);
  setenv("CULPRIT_SAMPLING", "0", 1);  // tests ask for samples if they want them
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

std::string read_all(int file) {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = read(file, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

Experiment::Experiment() {
  std::string name = (std::filesystem::temp_directory_path() / "culprit-test.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

Experiment::~Experiment() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

RawRun Experiment::read_one() const {
  std::vector<RawRun> runs = read();
  if (runs.size() != 1) throw std::runtime_error(std::to_string(runs.size()) + " processes");
  return runs[0];
}

int Experiment::run(const std::function<int()>& body,
                    std::map<std::string, std::string> environment) {
  const pid_t pid = fork();
  if (pid != 0) return wait_for(pid);
  set_environment(folder_, environment);
  const int status = body();
  collector::lifecycle::end();
  _exit(status);
}

int Experiment::run_program(const std::vector<std::string>& arguments,
                            std::map<std::string, std::string> environment, std::string* output) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  environment.emplace("LD_PRELOAD", CULPRIT_PRELOAD_LIBRARY);
  const pid_t pid = fork();
  if (pid == 0) {
    set_environment(folder_, environment);
    dup2(pipe_ends[1], STDOUT_FILENO);
    close(pipe_ends[0]);
    become(arguments);
  }
  close(pipe_ends[1]);
  const std::string text = read_all(pipe_ends[0]);
  close(pipe_ends[0]);
  if (output != nullptr) *output = text;
  return wait_for(pid);
}

}  // namespace culprit::tests
