// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A region is copied until its version stays the same, a few times at most. Nothing in it is
// believed before it is checked: sizes against the file, rows against the rows before them.
#include "assemble/profile/profile_file.h"

#include <algorithm>
#include <set>
#include <span>

namespace culprit::assemble {

namespace {

using trace::ProfileFile;
using trace::ProfileGroup;
using trace::ProfileKind;
using trace::ProfileLog;
using trace::ProfilePlace;
using trace::ProfileRow;

/// No region is larger: the quotas are far below.
constexpr uint64_t kLargestRegion = uint64_t{256} << 20;
constexpr int kTries = 8;

bool is_region(const ProfileLog& head, uint64_t room) {
  const uint64_t rows = uint64_t{head.row_capacity} * sizeof(ProfileRow);
  return head.magic == trace::kProfileMagic && head.bytes <= std::min(room, kLargestRegion) &&
         head.bytes % trace::kProfilePage == 0 && head.rows_at >= sizeof(ProfileLog) &&
         head.rows_at % alignof(ProfileRow) == 0 && head.rows_at <= head.bytes &&
         rows <= head.bytes - head.rows_at && head.row_count <= head.row_capacity;
}

bool is_group(std::span<const ProfileRow> before, uint32_t row, ProfileGroup group) {
  if (row >= before.size()) return false;
  return row == 0 ? group != ProfileGroup::stretch
                  : trace::facts_of(before[row].kind).group == group &&
                        before[row].kind != ProfileKind::root;
}

bool is_frame(std::span<const ProfileRow> before, uint64_t row) {
  return row < before.size() && (row == 0 || before[row].kind == ProfileKind::frame);
}

bool is_edge(std::span<const ProfileRow> before, uint64_t edge) {
  return is_group(before, trace::row_of_edge(static_cast<uint32_t>(edge)), ProfileGroup::event);
}

/// Whether the place of a row, where that is another row, is one of those before it.
bool has_place(std::span<const ProfileRow> before, const ProfileRow& row) {
  switch (trace::facts_of(row.kind).place) {
    case ProfilePlace::frame:
      return is_frame(before, row.place);
    case ProfilePlace::edges:
      return is_edge(before, row.place >> 32) && is_edge(before, row.place);
    default:
      return true;
  }
}

bool makes_sense(std::span<const ProfileRow> before, const ProfileRow& row) {
  if (static_cast<size_t>(row.kind) >= trace::kProfileKindCount || row.kind == ProfileKind::root) {
    return false;
  }
  ProfileGroup wanted = ProfileGroup::event;
  if (trace::facts_of(row.kind).group == ProfileGroup::path) wanted = ProfileGroup::path;
  if (trace::facts_of(row.kind).group == ProfileGroup::sample) wanted = ProfileGroup::stretch;
  return is_group(before, row.parent, wanted) && has_place(before, row);
}

}  // namespace

void check_rows(LogProfile& log) {
  for (size_t i = 0; i < log.rows.size(); ++i) {
    ProfileRow& row = log.rows[i];
    const bool is_root = i == 0 && row.kind == ProfileKind::root;
    if (is_root || makes_sense(std::span(log.rows).first(i), row)) continue;
    ++log.senseless;
    row = {};
  }
}

namespace {

/// None if there is no region, or it cannot be read.
std::optional<LogProfile> read_region(const RegularFile& file, uint64_t at, uint64_t room) {
  LogProfile log;
  for (int tries = 0; tries < kTries; ++tries) {
    if (file.read_at(at, &log.head, sizeof log.head) < sizeof log.head) return std::nullopt;
    if (!is_region(log.head, room)) return std::nullopt;
    log.rows.resize(log.head.row_count);
    const size_t bytes = log.rows.size() * sizeof(ProfileRow);
    if (file.read_at(at + log.head.rows_at, log.rows.data(), bytes) < bytes) return std::nullopt;
    ProfileLog after;
    if (file.read_at(at, &after, sizeof after) < sizeof after) return std::nullopt;
    log.torn = log.head.version % 2 != 0 || after.version != log.head.version;
    if (!log.torn) break;
  }
  if (log.rows.empty()) log.rows.emplace_back();
  check_rows(log);
  return log;
}

/// Nothing if it changes at each try, as when its process died in the middle.
trace::ProfileBlame read_blame(const RegularFile& file) {
  for (int tries = 0; tries < kTries; ++tries) {
    ProfileFile head, after;
    if (file.read_at(0, &head, sizeof head) < sizeof head) break;
    if (file.read_at(0, &after, sizeof after) < sizeof after) break;
    const uint64_t version = head.blame.version;
    if (version % 2 == 0 && version == after.blame.version) return head.blame;
  }
  return {};
}

}  // namespace

std::optional<FileOfProfile> read_profile(const GuardedPath& folder, uint64_t start_ticks) {
  const auto file = (folder / trace::kProfileFile).open();
  ProfileFile head;
  if (!file || file->read_at(0, &head, sizeof head) < sizeof head) return std::nullopt;
  const bool is_ours = head.magic == trace::kProfileMagic &&
                       head.version == trace::kProfileVersion && head.start_ticks == start_ticks;
  if (!is_ours) return std::nullopt;
  FileOfProfile profile;
  std::set<uint32_t> seen;
  const uint64_t end = std::min<uint64_t>(head.used, file->size());
  uint64_t at = trace::kProfilePage;
  while (at < end) {
    auto log = read_region(*file, at, end - at);
    if (!log || log->head.bytes == 0) break;
    at += log->head.bytes;
    if (log->head.begin != 0 && seen.insert(log->head.log).second) {
      profile.logs.push_back(std::move(*log));
    }
  }
  profile.cut = at < head.used;
  profile.blame = read_blame(*file);
  return profile;
}

}  // namespace culprit::assemble
