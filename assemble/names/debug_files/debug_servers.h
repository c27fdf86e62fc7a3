// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Debug information that lies on servers (debuginfod), for files that have none on this machine.
// Records may come from somebody else, who would then choose what is asked for, and each answer may
// take minutes: servers are asked only if the user says so, and only for as long as he says. They
// are asked by elfutils' client, which is loaded if it is there.
// MT: one thread; what was fetched may be looked for by any.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::assemble {

class DebugServers {
 public:
  struct Fetched {
    size_t found = 0;
    bool out_of_time = false;  ///< before all were asked for
  };

  /// Asks nobody.
  DebugServers() = default;
  /// Those of DEBUGINFOD_URLS, for the seconds of the setting `debuginfod`.
  static DebugServers of_user();

  bool may_be_asked() const { return seconds_ > 0; }
  unsigned seconds() const { return seconds_; }
  /// Of these builds, in hexadecimal digits. What is found lies in the client's cache.
  Fetched fetch(const std::vector<std::string>& build_ids) const;

 private:
  unsigned seconds_ = 0;
};

/// Where the client keeps the debug information of this build, if it has any.
std::filesystem::path fetched_debug_info(std::string_view build_id);

}  // namespace culprit::assemble
