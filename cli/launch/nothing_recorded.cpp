// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A launcher that refuses to start anything looks the same from here as a program that fails by
// itself: its own message says which it was.
#include "cli/launch/nothing_recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "assemble/names/static_parts.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

bool omp_tools_are_disabled() {
  const char* tools = std::getenv("OMP_TOOL");
  return tools != nullptr && std::string_view(tools) == "disabled";
}

/// Whether the command gives its processes a preload library by itself, in the place of culprit's.
bool replaces_preload(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(), [](const std::string& word) {
    return word.starts_with("LD_PRELOAD=") || word.find("=LD_PRELOAD=") != std::string::npos ||
           word.find(",LD_PRELOAD=") != std::string::npos;
  });
}

/// Why a program among the words of the command shows nothing by its nature; empty if none does.
std::string static_program_among(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    std::error_code code;
    if (word.starts_with('-') || !fs::is_regular_file(word, code)) continue;
    std::string why = assemble::static_parts_of(word);
    if (!why.empty()) return why;
  }
  return "";
}

/// Returns advice for the errno with which processes failed to write.
std::string_view remedy_of(int refusal) {
  switch (refusal) {
    case ENOSPC:
    case EDQUOT:
      return "make room, or choose another place (-o)";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f)";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENOMEM:
      return "raise the limit on memory (ulimit -v), or let culprit take less (--memory)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a place where the program may write (-o)";
    default:
      return "is the disk full, or do limits (ulimit) restrict files, descriptors or memory?";
  }
}

std::string sentence_on_refusal(int refusal) {
  const std::string why = refusal == 0 ? "" : " (" + std::generic_category().message(refusal) + ")";
  return fmt::format(
      "nothing was recorded: the program's processes could not write their records{}: {}", why,
      remedy_of(refusal));
}

}  // namespace

std::string why_nothing_was_recorded(const std::vector<std::string>& command, int status,
                                     bool tried, int refusal) {
  if (tried) return sentence_on_refusal(refusal);
  if (replaces_preload(command)) {
    return "nothing was recorded: the command sets LD_PRELOAD and so displaces culprit's library; "
           "set it in front of culprit instead (LD_PRELOAD=... culprit run -- ...), which then "
           "preloads both";
  }
  if (omp_tools_are_disabled()) {
    return "nothing was recorded: OMP_TOOL=disabled keeps culprit out of the OpenMP runtime, and "
           "the program made no MPI call";
  }
  if (const std::string why = static_program_among(command); !why.empty()) {
    return "nothing was recorded: " + why;
  }
  if (status == 0) {
    return "nothing was recorded: the program used neither MPI nor OpenMP nor a device, and made "
           "no threads by itself";
  }
  return fmt::format(
      "nothing was recorded: the command ended with status {} before any call of MPI or OpenMP, "
      "and "
      "before it made threads (see its own messages above)",
      status);
}

}  // namespace culprit::cli
