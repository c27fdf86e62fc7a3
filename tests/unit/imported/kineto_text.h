// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The text of a trace as PyTorch's profiler writes it, event by event. Times are microseconds.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace culprit::trace {

class KinetoText {
 public:
  static constexpr int kProcess = 4711;  ///< and its main thread

  explicit KinetoText(std::optional<int> rank = {}) : rank_(rank) {}

  KinetoText& call(std::string_view category, std::string_view name, double begin, double end,
                   uint64_t correlation = 0, int thread = kProcess) {
    return event(category, name, kProcess, thread, begin, end,
                 correlation != 0 ? fmt::format(R"("correlation": {})", correlation) : "");
  }
  KinetoText& operation(std::string_view category, std::string_view name, int stream, double begin,
                        double end, uint64_t correlation, std::string_view more = "") {
    return event(category, name, 0, stream, begin, end,
                 fmt::format(R"("device": 0, "context": 1, "stream": {}, "correlation": {}{}{})",
                             stream, correlation, more.empty() ? "" : ", ", more));
  }
  /// A runtime's record of a wait, of the call with this correlation.
  KinetoText& sync(std::string_view name, uint64_t correlation, int stream, int awaited_stream = -1,
                   int64_t recorded_by = -1) {
    return event("cuda_sync", name, 0, stream, 0, 0,
                 fmt::format(R"("stream": {}, "wait_on_stream": {}, )"
                             R"("wait_on_cuda_event_record_corr_id": {}, "correlation": {}, )"
                             R"("device": 0, "context": 1)",
                             stream, awaited_stream, recorded_by, correlation));
  }
  KinetoText& raw(std::string_view element) {
    if (!events_.empty()) events_ += ",\n";
    events_ += element;
    return *this;
  }

  std::string text() const {
    const std::string rank =
        rank_ ? fmt::format(R"("distributedInfo": {{"backend": "nccl", "rank": {}}},)", *rank_)
              : "";
    return fmt::format(R"({{"schemaVersion": 1, {}
"deviceProperties": [{{"id": 0, "name": "Toy", "totalGlobalMem": 80}}],
"traceEvents": [
{}
], "traceName": "toy.json"}}
)",
                       rank, events_);
  }

 private:
  KinetoText& event(std::string_view category, std::string_view name, int process, int thread,
                    double begin, double end, std::string_view arguments) {
    return raw(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
        category, name, process, thread, begin, end - begin, arguments));
  }

  std::optional<int> rank_;
  std::string events_;
};

}  // namespace culprit::trace
