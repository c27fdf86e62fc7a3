// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A writer that keeps what it is given as text, one line an event, indented by depth:
//
//     0.0
//     0 main
//     10   MPI_Send
//     12     send 1 tag 7 bytes 8 comm 0
//     20   -
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "trace/otf2/writer.h"

namespace culprit::assemble::test {

class Listing : public trace::Otf2Writer {
 public:
  std::unique_ptr<trace::EventSink> open(ProcessId process, uint32_t thread) override;
  Result<void> finish(const trace::Definitions& given, uint64_t origin_realtime_ns) override;

  /// All locations' events, or one's ("0.1").
  std::string text() const;
  std::string text(const std::string& location) const;

  trace::Definitions definitions;
  uint64_t origin = 0;

  struct Line {
    int64_t time = 0;
    size_t depth = 0;
    RegionId region;   ///< of an enter
    std::string what;  ///< else
  };

 private:
  std::mutex mutex_;
  std::map<std::pair<size_t, uint32_t>, std::vector<Line>> lines_;
};

}  // namespace culprit::assemble::test
