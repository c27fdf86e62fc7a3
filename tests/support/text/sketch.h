// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A picture as it is written: letters, lanes and lines, before anything is made of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/definitions.h"

namespace culprit::trace {

struct Sketch {
  struct Lane {
    uint32_t rank, thread;
    std::string node;  ///< empty: none is given
    std::string cells;
  };
  struct Line {
    size_t number;
    std::vector<std::string> words;
  };

  bool ours = false;
  int64_t unit = 1'000'000'000;                    ///< nanoseconds of one character
  std::map<char, std::vector<std::string>> paths;  ///< by letter
  std::vector<Lane> lanes;
  std::vector<Comm> comms;
  std::vector<Grid> grids;
  std::vector<Line> events;
  std::string rest;  ///< everything after the line `---`
};

/// The error names the line.
Result<Sketch> read_sketch(std::string_view picture);

/// The number that a word is, and nothing else.
Result<uint32_t> number_of(const std::string& word);

/// `why`, with the line that it is about.
Error error_in_line(size_t number, const std::string& why);

}  // namespace culprit::trace
