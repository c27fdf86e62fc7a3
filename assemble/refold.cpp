// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records are folded one by one, so that the fold can stop where the run's had come: it counts
// them.
#include "assemble/refold.h"

#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "assemble/raw/reader.h"
#include "base/files/guarded_path.h"
#include "fold/profile/fold_state.h"
#include "fold/thread_fold.h"

namespace culprit::assemble {
namespace {

using trace::ProfileFile;
using trace::ProfileLog;
using trace::ProfileRow;

/// A region, aligned as rows want it.
class Region {
 public:
  explicit Region(size_t bytes) : lines_(bytes / sizeof(Line)) {}
  std::span<std::byte> bytes() { return {lines_.data()->bytes, lines_.size() * sizeof(Line)}; }
  ProfileLog& log() { return *reinterpret_cast<ProfileLog*>(bytes().data()); }
  ProfileRow* rows() {
    return reinterpret_cast<ProfileRow*>(bytes().data() +
                                         fold::RegionLayout(bytes().size()).rows_at);
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

/// The regions that the run kept.
class KeptRegions {
 public:
  explicit KeptRegions(const RawProcessFolder& folder)
      : file_((folder.folder / trace::kProfileFile).open()) {
    ProfileFile head;
    if (!file_ || file_->read_at(0, &head, sizeof head) < sizeof head) return;
    const bool is_ours = head.magic == trace::kProfileMagic &&
                         head.version == trace::kProfileVersion &&
                         head.start_ticks == folder.process.start_ticks;
    const uint64_t end = is_ours ? std::min<uint64_t>(head.used, file_->size()) : 0;
    constexpr size_t kMost = 65536;  // a file may be large and empty
    for (uint64_t at = trace::kProfilePage; at < end && places_.size() < kMost;) {
      ProfileLog log;
      if (file_->read_at(at, &log, sizeof log) < sizeof log) return;
      if (log.magic != trace::kProfileMagic || log.bytes != trace::profile_quota(log.log)) return;
      places_.emplace(log.log, at);
      at += log.bytes;
    }
  }

  /// None if the run kept none of this log, or one whose rows cannot be.
  std::optional<Region> of(uint32_t log) const {
    const auto place = places_.find(log);
    if (place == places_.end()) return std::nullopt;
    Region region(trace::profile_quota(log));
    const std::span<std::byte> bytes = region.bytes();
    if (file_->read_at(place->second, bytes.data(), bytes.size()) < bytes.size()) {
      return std::nullopt;
    }
    if (region.log().row_count > fold::RegionLayout(bytes.size()).rows) return std::nullopt;
    return region;
  }

 private:
  std::optional<RegularFile> file_;
  std::map<uint32_t, uint64_t> places_;  ///< in the file, by the log's number
};

/// States that are overwritten in place are in no window.
bool is_in_window(const RawRecord& record) {
  return !record.noted && record.kind != trace::RawKind::mpi_awaits &&
         record.kind != trace::RawKind::thread_awaits;
}

/// The log's records up to the first `most`, or all of them.
Region folded(const RawLog& log, uint64_t start_ticks, std::optional<uint64_t> most) {
  Region region(trace::profile_quota(log.thread()));
  fold::ThreadFold fold = fold::ThreadFold::begin(region.bytes(), log.thread(), start_ticks);
  RawLog::Cursor cursor = log.cursor();
  uint64_t number = 0;
  for (RawRecord record; (!most || region.log().records < *most) && cursor.next(record);) {
    if (!is_in_window(record)) continue;
    const auto* const begin =
        reinterpret_cast<const std::byte*>(record.w) - sizeof(trace::RawHeader);
    const size_t bytes = sizeof(trace::RawHeader) + size_t{record.words} * sizeof(uint64_t);
    fold.fold(number++, {begin, bytes}, bytes);
  }
  return region;
}

/// Puts out of the comparison what says how the records came, and blame.
void forget_slices(Region& region) {
  ProfileLog& log = region.log();
  log.version = 0;
  auto& state = *reinterpret_cast<fold::FoldState*>(
      region.bytes().data() + fold::RegionLayout(region.bytes().size()).state_at);
  state.window = state.bytes = 0;
  for (uint32_t i = 0; i < log.row_count; ++i) region.rows()[i].blame = 0;
}

KeptProfile compare(const RawLog& log, uint64_t start_ticks, Region& kept) {
  const uint64_t records = kept.log().records;
  Region again = folded(log, start_ticks, records);
  if (again.log().records < records) return KeptProfile::beyond;
  forget_slices(again);
  forget_slices(kept);
  const std::span<const std::byte> ours = again.bytes(), theirs = kept.bytes();
  const bool same = std::memcmp(ours.data(), theirs.data(), ours.size()) == 0;
  return same ? KeptProfile::same : KeptProfile::different;
}

double seconds_per_tick(const trace::RawProcess& process) {
  const uint64_t ticks = process.last.ticks - process.first.ticks;
  const uint64_t ns = process.last.monotonic_ns - process.first.monotonic_ns;
  return ticks == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(ticks) * 1e-9;
}

RefoldedLog refold_log(const RawLog& log, const trace::RawProcess& process,
                       const KeptRegions& regions) {
  Region region = folded(log, process.start_ticks, std::nullopt);
  RefoldedLog result{
      .log = log.thread(), .rows = region.log().row_count, .records = region.log().records};
  for (uint32_t i = 0; i < result.rows; ++i) {
    const ProfileRow& row = region.rows()[i];
    if (row.kind != trace::ProfileKind::stretch) continue;
    result.seconds[row.detail] += static_cast<double>(row.ticks) * seconds_per_tick(process);
  }
  std::optional<Region> kept = regions.of(log.thread());
  if (kept) result.kept = compare(log, process.start_ticks, *kept);
  return result;
}

}  // namespace

Result<std::vector<RefoldedProcess>> refold(const std::filesystem::path& experiment,
                                            unsigned threads) {
  Losses losses;
  std::vector<RefoldedProcess> processes;
  for (const RawProcessFolder& folder :
       read_raw(GuardedPath(experiment) / "raw", losses, threads)) {
    const KeptRegions kept(folder);
    RefoldedProcess& process = processes.emplace_back();
    process.name = folder.folder.name();
    process.rank = folder.process.world_rank;
    for (const RawLog& log : folder.logs) {
      process.logs.push_back(refold_log(log, folder.process, kept));
    }
  }
  if (processes.empty()) return Error{experiment.string() + " has no records"};
  return processes;
}

}  // namespace culprit::assemble
