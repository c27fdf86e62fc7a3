// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Keeps the events of locations as text, one line an event, indented by depth:
//
//     0.0
//     0 main
//     10   MPI_Send
//     12     send 1 tag 7 bytes 8 comm 0
//     20   -
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::assemble::test {

class Listing {
 public:
  Listing() = default;
  explicit Listing(trace::Definitions given) : definitions(std::move(given)) {}

  std::unique_ptr<trace::EventSink> open(LocationId location);

  /// All locations' events, or one's ("0.1").
  std::string text() const;
  std::string text(const std::string& location) const;

  trace::Definitions definitions;

  struct Line {
    int64_t time = 0;
    size_t depth = 0;
    RegionId region;   ///< of an enter
    std::string what;  ///< else
  };

 private:
  std::map<std::pair<size_t, uint32_t>, std::vector<Line>> lines_;
};

}  // namespace culprit::assemble::test
