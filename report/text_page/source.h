// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lines of source text, where the sources are at hand. Findings know a file by its base name alone,
// so it is looked for below some folders; what is found counts only if the function's name stands
// where findings say that it does, and if no other file would do as well.
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

  /// `count` lines from where the function or construct begins, as they are in the file; none if
  /// there is no doubtless file.
  std::vector<std::string> lines(const blame::FoundCallPath& path, size_t count);

 private:
  void look_around();

  std::vector<std::filesystem::path> folders_;
  bool looked_ = false;
  std::multimap<std::string, std::filesystem::path> files_;  ///< by base name
};

}  // namespace culprit::report
