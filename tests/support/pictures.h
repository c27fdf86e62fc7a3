// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of the pictures in tests/pictures, for tests that hold for each: the folder is the PICTURES
// that CMake defines.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace culprit::testing_support {

inline std::vector<std::string> all_pictures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(PICTURES)) {
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace culprit::testing_support
