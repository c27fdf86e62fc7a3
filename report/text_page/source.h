// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lines of source text, where the sources are available. Findings contain only a file's base name,
// so it is searched below some folders; a file counts only if the function's name is at the line in
// the findings, and if no other file matches as well.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::report {

class Sources {
 public:
  /// Looked through once, when the first line is asked for.
  explicit Sources(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  /// The current folder, that of the experiment, and that of the program, as far as they are known.
  static Sources around(const blame::Findings& findings, const std::filesystem::path& experiment);

  /// These lines of the file that the function or construct is in, up to the first that it does not
  /// have; none if there is no doubtless file.
  std::vector<std::string> lines(const blame::FoundCallPath& path,
                                 const std::vector<uint32_t>& numbers);

 private:
  void look_around();

  std::vector<std::filesystem::path> folders_;
  bool looked_ = false;
  std::multimap<std::string, std::filesystem::path> files_;  ///< by base name
};

}  // namespace culprit::report
