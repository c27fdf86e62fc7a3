// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs are folded in parts, always the one that is furthest behind, and cut where the slowest has
// come to.
#include "assemble/profile/fold_process.h"

#include <algorithm>
#include <memory>
#include <span>

#include "assemble/profile/fold_log.h"
#include "fold/potential/change_reader.h"
#include "fold/potential/cut.h"
#include "fold/potential/early.h"
#include "fold/thread_fold.h"

namespace culprit::assemble {

namespace {

using fold::Change;
using fold::ChangeList;

constexpr size_t kPartRecords = 512;  ///< that are folded at a time
/// What two parts may leave behind: one that is folded, and what is left of the one before.
constexpr uint32_t kChanges = kPartRecords * 2 * ChangeList::kMostOfRecord;
constexpr uint64_t kPatience = uint64_t{1} << 24;  ///< ticks, some milliseconds, for a team's size
constexpr size_t kRoom = size_t{1} << 16;          ///< changes that are merged at a time

/// One log on its way through the fold.
class Folding {
 public:
  Folding(const RawLog& log, uint64_t start_ticks, uint32_t number)
      : cursor_(log.cursor()),
        memory_(trace::profile_quota(log.thread()) / sizeof(uint64_t)),
        fold_(fold::ThreadFold::begin(std::as_writable_bytes(std::span(memory_)), log.thread(),
                                      start_ticks)),
        changes_memory_(kChanges),
        stretches_memory_(kChanges),
        changes_(changes_memory_.data(), kChanges, number),
        stretches_(stretches_memory_.data(), kChanges, number) {}
  Folding(const Folding&) = delete;

  /// False at the end of the log.
  bool fold_part() {
    part_.clear();
    RawRecord record;
    size_t records = 0;
    for (; records < kPartRecords && !ended_; ++records) {
      ended_ = !cursor_.next(record);
      if (!ended_ && is_in_log(record)) append(record, part_);
    }
    const std::span<const std::byte> bytes = std::as_bytes(std::span(part_));
    fold_.fold(parts_++, bytes, bytes.size(), false, &stretches_);
    reader_.see_all(bytes, false, changes_);
    newest_ = ended_ ? UINT64_MAX : record.ticks;
    return !ended_;
  }
  /// No later part has anything before it.
  uint64_t newest() const { return newest_; }
  ChangeList& changes() { return changes_; }
  /// What the fold listed.
  ChangeList& stretches() { return stretches_; }
  fold::Ledger ledger() {
    constexpr uint32_t kWords = sizeof(trace::ProfileRow) / sizeof(uint64_t);
    return {&rows().front().blame, kWords, fold_.log().row_count, trace::kProfileBlameShift};
  }
  /// Shares what the thread has earned early since the last time.
  void share(fold::Wide early) {
    const fold::Wide amount = early - early_;
    if (amount == 0) return;
    early_ = early;
    fold::Ledger ledger = this->ledger();
    fold::share_early(rows(), amount, ledger);
  }
  LogProfile take() {
    LogProfile profile;
    profile.head = fold_.log();
    profile.rows.assign(rows().begin(), rows().end());
    if (profile.rows.empty()) profile.rows.emplace_back();
    check_rows(profile);  // damaged records may say anything
    return profile;
  }

 private:
  std::span<trace::ProfileRow> rows() {
    auto* const region = reinterpret_cast<std::byte*>(memory_.data());
    return {reinterpret_cast<trace::ProfileRow*>(region + fold_.log().rows_at),
            fold_.log().row_count};
  }

  RawLog::Cursor cursor_;
  std::vector<uint64_t> memory_;
  fold::ThreadFold fold_;
  fold::ChangeReader reader_{};
  std::vector<Change> changes_memory_, stretches_memory_;
  ChangeList changes_, stretches_;
  std::vector<uint64_t> part_;
  uint64_t parts_ = 0, newest_ = 0;
  fold::Wide early_ = 0;
  bool ended_ = false;
};

/// All logs of a process.
class ProcessFold {
 public:
  explicit ProcessFold(const RawProcessFolder& process)
      : process_(process),
        potential_(std::make_unique<fold::Potential>()),
        from_(kRoom),
        to_(kRoom) {
    for (const RawLog& log : process.logs) {
      logs_.push_back(std::make_unique<Folding>(log, process.process.start_ticks,
                                                static_cast<uint32_t>(logs_.size())));
    }
    parts_.resize(2 * logs_.size());
    potential_->begin(process.process.start_ticks);
  }

  FoldedProcess run() {
    const auto behind = [](const auto& a, const auto& b) { return a->newest() < b->newest(); };
    for (;;) {
      Folding& last = **std::min_element(logs_.begin(), logs_.end(), behind);
      if (last.newest() == UINT64_MAX) break;
      last.fold_part();
      const uint64_t until = (*std::min_element(logs_.begin(), logs_.end(), behind))->newest();
      if (until > 0) cut(until == UINT64_MAX ? until : until - 1);
    }
    potential_->finish(std::max(process_.process.end_ticks, end_of_logs()));
    FoldedProcess folded;
    for (const auto& log : logs_) folded.logs.push_back(log->take());
    folded.idle = potential_->sums();
    return folded;
  }

 private:
  uint64_t end_of_logs() const {
    uint64_t end = 0;
    for (const RawLog& log : process_.logs) end = std::max(end, log.newest_ticks());
    return end;
  }

  void cut(uint64_t until) {
    std::vector<ChangeList*> lists;
    for (const auto& log : logs_) {
      lists.push_back(&log->stretches());
      lists.push_back(&log->changes());
    }
    for (uint32_t i = 0; i < logs_.size(); ++i) potential_->set_ledger(i, logs_[i]->ledger());
    const uint64_t patience = until == UINT64_MAX ? 0 : kPatience;
    fold::cut(lists, until, patience, {from_, to_, parts_}, *potential_);
    for (uint32_t i = 0; i < logs_.size(); ++i) logs_[i]->share(potential_->early_blame(i));
  }

  const RawProcessFolder& process_;
  std::vector<std::unique_ptr<Folding>> logs_;
  std::unique_ptr<fold::Potential> potential_;
  std::vector<Change> from_, to_;
  std::vector<fold::MergePart> parts_;
};

}  // namespace

FoldedProcess fold_process(const RawProcessFolder& process) {
  if (process.logs.empty() || process.logs.size() > fold::Potential::kThreads) return {};
  return ProcessFold(process).run();
}

}  // namespace culprit::assemble
