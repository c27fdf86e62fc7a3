// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of a text, one at a time: it may be larger than the memory.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/imported/packed_file.h"

namespace culprit::trace {

class LineReader {
 public:
  explicit LineReader(PackedFile& file) : file_(file), buffer_(kPiece) {}

  /// The next line, without its end; valid until the next call. False: there are no more.
  bool next(std::string_view& line);
  /// The text ends within a line, or its packing is damaged.
  bool is_cut() const { return cut_ || file_.damaged(); }

 private:
  static constexpr size_t kPiece = size_t{1} << 20;
  static constexpr size_t kLongest = size_t{1} << 26;  ///< what is longer is no line

  bool refill();

  PackedFile& file_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool done_ = false, cut_ = false;
};

}  // namespace culprit::trace
