// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See child.h. Signals are blocked around the fork, so that none is lost between "no child yet" and
// "hand it on". A signal typed at the terminal (kernel-made, no sender) goes to the whole
// foreground group, the child included: handing it on would tell the child twice, and a launcher
// told twice gives up at once. A pipe that closes at exec brings the child's errno back when exec
// fails.

#include "cli/launch/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/message.h"

namespace culprit::cli {
namespace {

constexpr std::array kForwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile sig_atomic_t g_child = 0;
volatile sig_atomic_t g_interrupted = 0;
const std::string* g_farewell = nullptr;  ///< changes only while the signals are blocked

void hand_on(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const bool from_terminal = info->si_code > 0;
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
    if (g_interrupted == 0 && !from_terminal)
      (void)!write(STDERR_FILENO, g_farewell->data(), g_farewell->size());
    g_interrupted = 1;
  }
  if (g_child > 0 && !from_terminal) kill(static_cast<pid_t>(g_child), signal);
  errno = saved;
}

sigset_t forwarded_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  return set;
}

/// Handles the forwarded signals while it lives; what was ignored (nohup) stays ignored.
class SignalForwarding {
 public:
  explicit SignalForwarding(const std::string& farewell) {
    const sigset_t set = forwarded_set();
    sigprocmask(SIG_BLOCK, &set, &mask_);
    g_child = 0;
    g_interrupted = 0;
    g_farewell = &farewell;
    for (size_t i = 0; i < kForwarded.size(); ++i) {
      sigaction(kForwarded[i], nullptr, &previous_[i]);
      if (previous_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action = {};
      action.sa_sigaction = hand_on;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      sigaction(kForwarded[i], &action, nullptr);
    }
  }
  ~SignalForwarding() {
    g_child = 0;
    restore();
  }
  void begin(pid_t child) {
    g_child = child;
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  /// Also in the child, before it becomes the program.
  void restore() const {
    for (size_t i = 0; i < kForwarded.size(); ++i) sigaction(kForwarded[i], &previous_[i], nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_;
  std::array<struct sigaction, kForwarded.size()> previous_;
};

std::vector<char*> as_argv(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(char* const* argv, char* const* environment, int report) {
  execvpe(argv[0], argv, environment);
  const int reason = errno;
  (void)!write(report, &reason, sizeof reason);
  _exit(reason == ENOENT ? kNotFound : kCannotExecute);
}

/// Lets waiting be interrupted once a second while it lives.
class Ticking {
 public:
  explicit Ticking(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    struct sigaction action = {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGALRM, &action, &previous_);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm, &mask_);
    const itimerval second = {{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &second, nullptr);
  }
  ~Ticking() {
    if (!wanted_) return;
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    sigaction(SIGALRM, &previous_, nullptr);
  }
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  const bool wanted_;
  struct sigaction previous_ = {};
  sigset_t mask_ = {};
};

int wait_for(pid_t child, const std::function<void()>& every_second) {
  const Ticking ticking(static_cast<bool>(every_second));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    if (every_second) every_second();
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

ChildResult unstarted(int reason) {
  return {reason == ENOENT ? kNotFound : kCannotExecute, false, std::strerror(reason), false};
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment, const std::string& farewell,
                      const std::function<void()>& every_second) {
  const std::vector<char*> argv = as_argv(command);
  const std::vector<char*> env = as_argv(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return unstarted(errno);
  SignalForwarding signals(farewell);
  const pid_t child = fork();
  if (child == 0) {
    signals.restore();
    become(argv.data(), env.data(), ends[1]);
  }
  const int fork_reason = errno;
  close(ends[1]);
  signals.begin(child);
  int exec_reason = 0;
  ssize_t got = 0;
  if (child > 0) {
    while ((got = read(ends[0], &exec_reason, sizeof exec_reason)) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (child < 0) return unstarted(fork_reason);
  const int status = wait_for(child, every_second);
  if (got == sizeof exec_reason) return unstarted(exec_reason);
  return {status, true, "", g_interrupted != 0};
}

namespace {

/// kNotFound or kCannotExecute, or 0 and its file.
int look_for(const std::string& program, std::filesystem::path& found) {
  namespace fs = std::filesystem;
  const auto judge = [&found](const fs::path& file) {
    std::error_code code;
    if (!fs::exists(file, code)) return kNotFound;
    if (fs::is_directory(file, code) || access(file.c_str(), X_OK) != 0) return kCannotExecute;
    found = file;
    return 0;
  };
  if (program.empty()) return kNotFound;
  if (program.find('/') != std::string::npos) return judge(program);
  const char* path = std::getenv("PATH");
  const std::string folders = path ? path : "/bin:/usr/bin";
  int verdict = kNotFound;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    const int here = judge(fs::path(folder.empty() ? "." : folder) / program);
    if (here == 0) return 0;
    if (here == kCannotExecute) verdict = here;
    begin = end + 1;
  }
  return verdict;
}

}  // namespace

int check_program(const std::string& program) {
  std::filesystem::path found;
  return look_for(program, found);
}

std::filesystem::path find_program(const std::string& program) {
  std::filesystem::path found;
  look_for(program, found);
  return found;
}

int explain_unstartable(const std::string& program, int status) {
  log::Component("measure").error(
      "cannot start '{}': {}", program,
      status == kNotFound ? "there is no such program" : "it is not an executable program");
  return status;
}

}  // namespace culprit::cli
