// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Exit statuses as a shell has them, signals handed on, environment as given.

#include "cli/launch/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cli/launch/launch_environment.h"

namespace culprit::cli {
namespace {

ChildResult shell(const std::string& script, std::vector<std::string> environment = {}) {
  environment.emplace_back("PATH=/usr/bin:/bin");
  HeldSignals held;
  return run_child(held, {"sh", "-c", script}, environment);
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
  HeldSignals held;
  const ChildResult missing = run_child(held, {"/nowhere/at/all"}, {});
  EXPECT_FALSE(missing.started);
  EXPECT_EQ(missing.status, 127);
  EXPECT_FALSE(missing.failure.empty());
  const ChildResult no_program = run_child(held, {"/etc/passwd"}, {});
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
  HeldSignals held;
  const ChildResult result = run_child(
      held,
      {"sh", "-c",
       "trap '' TERM; kill -TERM $PPID; i=0; while [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); "
       "grep -q goodbye " +
           said + " && exit 7; done; exit 1"},
      {}, {.farewell = "goodbye\n"});
  dup2(own, STDERR_FILENO);
  EXPECT_EQ(result.status, 7);
  close(file);
  close(own);
  unlink(said.c_str());
}

TEST(RunChild, LeavesSignalsAsTheyWere) {
  sigset_t before, after;
  sigprocmask(SIG_BLOCK, nullptr, &before);
  shell("exit 0");
  sigprocmask(SIG_BLOCK, nullptr, &after);
  struct sigaction action;
  sigaction(SIGTERM, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
}

/// What a file says of blocked and of ignored signals, without the two that the C library keeps for
/// itself: what it does with these is not ours to compare.
std::vector<uint64_t> signals_in(const std::string& file) {
  std::ifstream in(file);
  std::vector<uint64_t> sets;
  for (uint64_t set; in >> std::hex >> set;) sets.push_back(set & ~(uint64_t{3} << 31));
  return sets;
}

TEST(RunChild, GivesTheChildItsSignalsAsTheyWere) {
  const std::string prefix = testing::TempDir() + "culprit_signals_" + std::to_string(getpid());
  const std::string outside = prefix + ".outside", inside = prefix + ".inside";
  const std::string look = "grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2 > ";
  ASSERT_EQ(system((look + outside).c_str()), 0);
  ASSERT_EQ(shell(look + inside).status, 0);
  EXPECT_EQ(signals_in(outside).size(), 2u);
  EXPECT_EQ(signals_in(inside), signals_in(outside));
  unlink(outside.c_str());
  unlink(inside.c_str());
}

TEST(RunChild, KnowsTheStatusWhereChildrenAreIgnored) {
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(shell("exit 5").status, 5);
  EXPECT_EQ(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

TEST(RunChild, SurvivesWhatIsMeantForTheProgram) {
  for (const char* name : {"USR1", "USR2", "XCPU", "XFSZ", "ALRM", "VTALRM", "PROF", "IO", "QUIT",
                           "PIPE", "RTMIN", "RTMAX", "HUP", "INT"}) {
    const std::string script = std::string("trap 'exit 7' ") + name + "; kill -" + name +
                               " $PPID; i=0; while [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done";
    HeldSignals held;
    EXPECT_EQ(run_child(held, {"bash", "-c", script}, {"PATH=/usr/bin:/bin"}).status, 7) << name;
  }
}

TEST(RunApart, OutlivesWhateverHappensInThere) {
  HeldSignals held;
  EXPECT_EQ(run_apart(held, [] {}).status, 0);
  EXPECT_EQ(run_apart(held, [] { abort(); }).status, 128 + SIGABRT);
  EXPECT_EQ(run_apart(held, [] { kill(getpid(), SIGKILL); }).status, 128 + SIGKILL);
  // Not by what the program may have been sent too late.
  const ChildResult late = run_apart(held, [] {
    for (const int signal : {SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGALRM, SIGPIPE, SIGRTMIN}) {
      kill(getpid(), signal);
    }
  });
  EXPECT_EQ(late.status, 0);
}

TEST(Witness, TellsWhatHasComeToIt) {
  HeldSignals held;
  Witness witness;
  const auto nothing = witness.ask();
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->empty());
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
