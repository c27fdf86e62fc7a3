// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files put behind each other as POSIX.1-1988's ustar has it; enough for small names.
#pragma once

#include <string>
#include <string_view>

namespace culprit::report {

class Tar {
 public:
  /// `name` of at most 100 bytes, `content` of less than 8 GiB.
  void add(std::string_view name, std::string_view content);
  /// The archive; nothing can be added any more.
  std::string take();

 private:
  std::string archive_;
};

}  // namespace culprit::report
