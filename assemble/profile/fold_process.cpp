// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs are folded in parts, always the one that is furthest behind, and cut where the slowest has
// come to. What a thread earned before its crew had all of its threads is shared by its rows as
// they are then, by the time that it has worked in them.
#include "assemble/profile/fold_process.h"

#include <algorithm>
#include <memory>
#include <span>

#include "assemble/profile/fold_log.h"
#include "fold/potential/change_reader.h"
#include "fold/potential/cut.h"
#include "fold/thread_fold.h"

namespace culprit::assemble {

namespace {

using fold::Change;
using fold::ChangeKind;
using fold::ChangeList;

constexpr size_t kPartRecords = 512;  ///< that are folded at a time
/// What two parts may leave behind: one that is folded, and what is left of the one before.
constexpr uint32_t kStretches = kPartRecords * 2 * fold::Transitions::kMostOfRecord;
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
        entries_(kStretches),
        changes_memory_(2 * kPartRecords * ChangeList::kMostOfRecord),
        stretches_memory_(2 * kStretches) {
    transitions_ = {entries_.data(), 0, kStretches};
    changes_ = {changes_memory_.data(), static_cast<uint32_t>(changes_memory_.size()), number};
    stretches_ = {stretches_memory_.data(), static_cast<uint32_t>(stretches_memory_.size()),
                  number};
  }
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
    fold_.fold(parts_++, bytes, bytes.size(), false, &transitions_);
    reader_.see_all(bytes, changes_);
    newest_ = ended_ ? UINT64_MAX : record.ticks;
    return !ended_;
  }
  /// No later part has anything before it.
  uint64_t newest() const { return newest_; }
  ChangeList& changes() { return changes_; }
  /// The ends of stretches until `until`, as changes.
  ChangeList& stretches(uint64_t until) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < transitions_.count; ++i) {
      const fold::Transition entry = entries_[i];
      if (entry.time > until) {
        entries_[kept++] = entry;
      } else if (!entry.sample) {
        stretches_.add(entry.time, ChangeKind::stretch_ended, entry.row);
      }
    }
    transitions_.count = kept;
    return stretches_;
  }
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
    double worked = 0, given = 0;
    for (const trace::ProfileRow& row : rows()) worked += work_of(row);
    if (worked == 0) return ledger.add(fold::Rows::kRoot, amount);
    fold::Wide left = amount;
    for (uint32_t i = 0; i < rows().size(); ++i) {
      const double part = work_of(rows()[i]);
      if (part == 0) continue;
      given += part;
      const bool last = given >= worked;
      const fold::Wide own =
          last ? left
               : std::min(left,
                          static_cast<fold::Wide>(static_cast<double>(amount) * (part / worked)));
      ledger.add(i, own);
      left -= own;
    }
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
  static double work_of(const trace::ProfileRow& row) {
    const bool works = row.kind == trace::ProfileKind::stretch &&
                       static_cast<trace::ProfileState>(row.detail) == trace::ProfileState::work;
    return works ? static_cast<double>(row.ticks) : 0;
  }

  RawLog::Cursor cursor_;
  std::vector<uint64_t> memory_;
  fold::ThreadFold fold_;
  fold::ChangeReader reader_{};
  std::vector<fold::Transition> entries_;
  std::vector<Change> changes_memory_, stretches_memory_;
  fold::Transitions transitions_;
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
      lists.push_back(&log->stretches(until));
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
