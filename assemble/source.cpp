// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/source.h"

#include <span>
#include <utility>

#include "assemble/play_run.h"

namespace culprit::assemble {
namespace {

class RecordSource final : public trace::Source {
 public:
  explicit RecordSource(std::unique_ptr<RecordedRun> run) : run_(std::move(run)) {}

  const trace::Definitions& definitions() const override { return run_->definitions; }

  uint64_t expected_events() const override { return run_->facts.events; }

  std::span<const ProcessId> shares() const override { return run_->shares; }

  Result<void> read(LocationId location, trace::EventSink& sink, Losses& losses) const override {
    play_location(*run_, location, sink, losses);
    return {};
  }

 private:
  std::unique_ptr<RecordedRun> run_;
};

}  // namespace

std::unique_ptr<trace::Source> source_of(std::unique_ptr<RecordedRun> run) {
  return std::make_unique<RecordSource>(std::move(run));
}

}  // namespace culprit::assemble
