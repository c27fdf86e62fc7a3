// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Exit statuses as a shell has them, signals handed on, environment as given.

#include "cli/launch/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/launch/launch_environment.h"

namespace culprit::cli {
namespace {

ChildResult shell(const std::string& script, std::vector<std::string> environment = {}) {
  environment.emplace_back("PATH=/usr/bin:/bin");
  return run_child({"sh", "-c", script}, environment);
}

TEST(RunChild, HandsThroughTheStatus) {
  EXPECT_EQ(shell("exit 0").status, 0);
  EXPECT_EQ(shell("exit 42").status, 42);
  EXPECT_TRUE(shell("exit 42").started);
}

TEST(RunChild, TellsSignalsAsAShellDoes) {
  EXPECT_EQ(shell("kill -SEGV $$").status, 128 + SIGSEGV);
  EXPECT_EQ(shell("kill -KILL $$").status, 128 + SIGKILL);
}

TEST(RunChild, SaysWhenNothingWasStarted) {
  const ChildResult missing = run_child({"/nowhere/at/all"}, {});
  EXPECT_FALSE(missing.started);
  EXPECT_EQ(missing.status, 127);
  EXPECT_FALSE(missing.failure.empty());
  const ChildResult no_program = run_child({"/etc/passwd"}, {});
  EXPECT_FALSE(no_program.started);
  EXPECT_EQ(no_program.status, 126);
}

TEST(RunChild, GivesTheEnvironment) {
  EXPECT_EQ(shell("test \"$X\" = 'a b'", {"X=a b"}).status, 0);
}

TEST(RunChild, HandsSignalsOn) {
  // The child tells its parent to end, waits to be told the same, and says so by its status.
  const ChildResult result = shell(
      "trap 'exit 7' TERM; kill -TERM $PPID; i=0; while [ $i -lt 500 ]; do sleep 0.02; "
      "i=$((i+1)); done");
  EXPECT_EQ(result.status, 7);
  EXPECT_TRUE(result.interrupted);
}

TEST(RunChild, SaysFarewellAtOnceWhenToldToEnd) {
  // The child tells its parent to end and looks, still running itself, for what the parent says.
  const std::string said = testing::TempDir() + "culprit_farewell_" + std::to_string(getpid());
  const int own = dup(STDERR_FILENO);
  const int file = open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  dup2(file, STDERR_FILENO);
  const ChildResult result = run_child(
      {"sh", "-c",
       "trap '' TERM; kill -TERM $PPID; i=0; while [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); "
       "grep -q goodbye " +
           said + " && exit 7; done; exit 1"},
      {}, "goodbye\n");
  dup2(own, STDERR_FILENO);
  EXPECT_EQ(result.status, 7);
  close(file);
  close(own);
  unlink(said.c_str());
}

TEST(RunChild, LeavesSignalsAsTheyWere) {
  shell("exit 0");
  struct sigaction action;
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(CheckProgram, LooksWhereAShellWould) {
  EXPECT_EQ(check_program("sh"), 0);
  EXPECT_EQ(check_program("/bin/sh"), 0);
  EXPECT_EQ(check_program("no-such-program-anywhere"), 127);
  EXPECT_EQ(check_program("./no-such-program"), 127);
  EXPECT_EQ(check_program("/etc/passwd"), 126);
  EXPECT_EQ(check_program("/etc"), 126);
  EXPECT_EQ(check_program(""), 127);
}

}  // namespace
}  // namespace culprit::cli
