// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/problems.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "cli/message.h"

namespace culprit::cli {

Error current_problem() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {"out of memory: free some, or raise the limit (ulimit -v)"};
  } catch (const std::filesystem::filesystem_error& problem) {
    return {problem.what()};
  } catch (const std::system_error& problem) {
    return {"the system refuses what culprit needs (" + problem.code().message() +
            "): do limits (ulimit) restrict processes, files or memory?"};
  } catch (const std::exception& problem) {
    return {problem.what()};
  }
}

namespace {

/// Calls only async-signal-safe functions. Any other fault of the same signal occurs again on
/// return, and ends the process as it would have without this handler.
void on_bus_error(int, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR && info->si_code != BUS_OBJERR) {
    signal(SIGBUS, SIG_DFL);
    return;
  }
  constexpr std::string_view kSentence =
      "culprit: error: a file was cut short, or became unreadable, while culprit read it\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kSentence.data(), kSentence.size());
  _exit(kFailure);
}

}  // namespace

void end_where_pages_are_gone() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace culprit::cli
