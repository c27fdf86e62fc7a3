// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See child.h. Signals are held from before the fork on, so that none is lost. Job control works as
// if culprit were not there: it stops when it was asked to and the child has stopped, and when it
// is continued it continues the child. A pipe that closes at exec brings the child's errno back
// when exec fails.

#include "cli/launch/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/message.h"

namespace culprit::cli {
namespace {

using Clock = HeldSignals::Clock;

bool is_one_of(int signal, std::initializer_list<int> signals) {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

/// Returns whether the system sent a signal because of culprit itself: it wrote to a closed pipe,
/// or exceeded a limit of file size or CPU time.
bool is_about_culprit(const siginfo_t& signal) {
  if (is_one_of(signal.si_signo, {SIGPIPE, SIGXFSZ})) {
    return signal.si_code > 0 || (signal.si_code == SI_USER && signal.si_pid == getpid());
  }
  return signal.si_signo == SIGXCPU && signal.si_code > 0;
}

bool stops(int signal) {
  return is_one_of(signal, {SIGTSTP, SIGTTIN, SIGTTOU});
}

void send(pid_t child, const siginfo_t& signal) {
  if (signal.si_code == SI_QUEUE) {
    sigqueue(child, signal.si_signo, signal.si_value);
  } else {
    kill(child, signal.si_signo);
  }
}

/// Waits for a child, and forwards the signals that are meant for it.
class Watch {
 public:
  Watch(HeldSignals& held, pid_t child, const Attendance& attendance)
      : held_(held), child_(child), attendance_(attendance) {}

  /// Its status, as waitpid has it.
  int wait() {
    const auto pace = attendance_.every_second ? std::chrono::seconds(1) : std::chrono::hours(1);
    auto tick = Clock::now() + pace;
    while (!has_ended()) {
      if (Clock::now() >= tick) {
        if (attendance_.every_second) attendance_.every_second();
        tick = Clock::now() + pace;
      }
      take(held_.next(tick));
    }
    for (const siginfo_t& last : held_.next(Clock::now())) note(last);
    return status_;
  }
  bool interrupted() const { return interrupted_; }

 private:
  bool has_ended() {
    int status = 0;
    for (pid_t got = -1; (got = waitpid(child_, &status, WNOHANG | WUNTRACED | WCONTINUED)) != 0;) {
      if (got < 0) {
        if (errno == EINTR) continue;
        return true;  // reaped elsewhere: its status is lost
      }
      stopped_ = WIFSTOPPED(status);
      if (WIFSTOPPED(status) || WIFCONTINUED(status)) continue;
      status_ = status;
      return true;
    }
    if (stopped_ && asked_to_stop_) {
      asked_to_stop_ = false;
      held_.stop();
    }
    return false;
  }

  void note(const siginfo_t& signal) {
    if (stops(signal.si_signo)) asked_to_stop_ = true;
    if (signal.si_signo == SIGCONT) asked_to_stop_ = false;
    if (!is_one_of(signal.si_signo, {SIGINT, SIGTERM, SIGHUP})) return;
    if (held_.was_ignored(signal.si_signo)) return;
    const bool from_terminal = signal.si_code > 0;
    if (!interrupted_ && !from_terminal) {
      (void)!write(STDERR_FILENO, attendance_.farewell.data(), attendance_.farewell.size());
    }
    interrupted_ = true;
  }

  void take(std::vector<siginfo_t> got) {
    std::erase_if(got, [](const siginfo_t& signal) {
      return signal.si_signo == SIGCHLD || is_about_culprit(signal);
    });
    for (const siginfo_t& signal : got) note(signal);
    for (const siginfo_t& signal : held_.for_culprit_alone(std::move(got))) {
      if (!attendance_.passes || attendance_.passes(signal.si_signo)) send(child_, signal);
    }
  }

  HeldSignals& held_;
  const pid_t child_;
  const Attendance& attendance_;
  int status_ = 0;
  bool stopped_ = false;
  bool asked_to_stop_ = false;
  bool interrupted_ = false;
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

ChildResult unstarted(int reason) {
  return {reason == ENOENT ? kNotFound : kCannotExecute, false, std::strerror(reason), false};
}

ChildResult watch(HeldSignals& held, pid_t child, const Attendance& attendance) {
  Watch watch(held, child, attendance);
  const int status = watch.wait();
  const int told = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return {told, true, "", watch.interrupted()};
}

}  // namespace

ChildResult run_child(HeldSignals& held, const std::vector<std::string>& command,
                      const std::vector<std::string>& environment, const Attendance& attendance) {
  const std::vector<char*> argv = as_argv(command);
  const std::vector<char*> env = as_argv(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return unstarted(errno);
  const pid_t child = fork();
  if (child == 0) {
    held.release_in_child();
    become(argv.data(), env.data(), ends[1]);
  }
  const int fork_reason = errno;
  close(ends[1]);
  int exec_reason = 0;
  ssize_t got = 0;
  if (child > 0) {
    while ((got = read(ends[0], &exec_reason, sizeof exec_reason)) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (child < 0) return unstarted(fork_reason);
  const ChildResult result = watch(held, child, attendance);
  return got == sizeof exec_reason ? unstarted(exec_reason) : result;
}

ChildResult run_apart(HeldSignals& held, const std::function<void()>& work,
                      const Attendance& attendance) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return unstarted(errno);
  if (child > 0) return watch(held, child, attendance);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kFailure);
  // A signal that is meant for the program, and comes too late, must not end culprit.
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (!ends_culprit(signal)) ::signal(signal, SIG_IGN);
  }
  held.release_in_child();
  ::signal(SIGCHLD, SIG_DFL);
  work();
  std::fflush(nullptr);
  _exit(0);
}

bool ends_culprit(int signal) {
  return is_one_of(signal, {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGTSTP, SIGTTIN, SIGTTOU,
                            SIGCONT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP});
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
