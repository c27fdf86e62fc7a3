// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Makes the profile of a process by hand, exactly as trace/raw/profile.h says.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "trace/raw/profile.h"

namespace culprit::assemble::test {

/// The region of one log.
class ProfiledThread {
 public:
  ProfiledThread(uint32_t log, uint64_t begin, uint64_t until) {
    head.magic = trace::kProfileMagic;
    head.log = log;
    head.begin = begin;
    head.until = until;
    rows.emplace_back();
  }

  /// Returns its number.
  uint32_t add(trace::ProfileKind kind, uint32_t parent, uint64_t place, uint16_t detail = 0) {
    trace::ProfileRow row = {};
    row.kind = kind;
    row.parent = parent;
    row.place = place;
    row.detail = detail;
    rows.push_back(row);
    return static_cast<uint32_t>(rows.size() - 1);
  }
  /// The frames of these addresses, outermost first.
  uint32_t frames(const std::vector<uint64_t>& addresses) {
    uint32_t at = 0;
    for (const uint64_t address : addresses) at = frame(at, address);
    return at;
  }
  uint32_t stretch(uint32_t around, uint32_t before, uint32_t after, trace::ProfileState state,
                   uint64_t ticks) {
    const uint32_t row = add(trace::ProfileKind::stretch, around, uint64_t{before} << 32 | after,
                             static_cast<uint16_t>(state));
    rows[row].ticks = ticks;
    return row;
  }
  void sampled(uint32_t stretch, uint32_t frame, uint64_t count) {
    rows[add(trace::ProfileKind::sampled, stretch, frame)].amount = count;
    rows[stretch].amount += count;
  }

  std::string bytes() const {
    trace::ProfileLog region = head;
    region.rows_at = sizeof region;
    if (region.row_count == 0) region.row_count = static_cast<uint32_t>(rows.size());
    region.row_capacity = static_cast<uint32_t>(rows.size());
    const size_t used = sizeof region + rows.size() * sizeof rows[0];
    region.bytes = (used + trace::kProfilePage - 1) / trace::kProfilePage * trace::kProfilePage;
    std::string text(region.bytes, '\0');
    std::memcpy(text.data(), &region, sizeof region);
    std::memcpy(text.data() + sizeof region, rows.data(), rows.size() * sizeof rows[0]);
    return text;
  }

  trace::ProfileLog head = {};
  std::vector<trace::ProfileRow> rows;

 private:
  uint32_t frame(uint32_t parent, uint64_t address) {
    for (uint32_t i = 1; i < rows.size(); ++i) {
      const trace::ProfileRow& row = rows[i];
      if (row.kind == trace::ProfileKind::frame && row.parent == parent && row.place == address) {
        return i;
      }
    }
    return add(trace::ProfileKind::frame, parent, address);
  }
};

inline std::string profile_bytes(uint64_t start_ticks, const std::deque<ProfiledThread>& threads) {
  std::string regions;
  for (const ProfiledThread& thread : threads) regions += thread.bytes();
  trace::ProfileFile head = {};
  head.magic = trace::kProfileMagic;
  head.version = trace::kProfileVersion;
  head.start_ticks = start_ticks;
  head.used = trace::kProfilePage + regions.size();
  std::string text(trace::kProfilePage, '\0');
  std::memcpy(text.data(), &head, sizeof head);
  return text + regions;
}

inline void write_profile(const std::filesystem::path& folder, const std::string& bytes) {
  std::ofstream(folder / trace::kProfileFile, std::ios::binary) << bytes;
}

}  // namespace culprit::assemble::test
