// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/problems.h"

#include <filesystem>
#include <new>
#include <system_error>

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

}  // namespace culprit::cli
