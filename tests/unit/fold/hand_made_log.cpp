// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "hand_made_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fold/profile/fold_state.h"

namespace culprit::fold {
namespace {

constexpr size_t kWord = sizeof(uint64_t), kHeader = 2 * kWord;

void append(std::vector<std::byte>& window, const std::vector<uint64_t>& record) {
  const auto* from = reinterpret_cast<const std::byte*>(record.data());
  window.insert(window.end(), from, from + record.size() * kWord);
}

std::vector<uint64_t> empty_record(trace::RawKind kind, size_t words) {
  std::vector<uint64_t> record(2 + words);
  record[1] = trace::raw_second_half(kind, 0, 0, static_cast<unsigned>(words));
  return record;
}

void close(std::vector<std::byte>& window, size_t limit) {
  while (window.size() < limit) {
    size_t words = (limit - window.size() - kHeader) / kWord;
    if (words > 255) words = 253;
    append(window, empty_record(trace::RawKind::pad, words));
  }
  append(window, empty_record(trace::RawKind::seal, 1));
}

}  // namespace

std::vector<std::vector<std::byte>> HandMadeLog::windows(size_t bytes) const {
  const size_t limit = bytes - trace::kRawSealBytes;
  std::vector<std::vector<std::byte>> all(1);
  for (const std::vector<uint64_t>& record : records_) {
    const size_t end = all.back().size() + record.size() * kWord;
    if (end != limit && end + kHeader > limit) {
      close(all.back(), limit);
      all.emplace_back();
    }
    append(all.back(), record);
  }
  all.back().resize(bytes);
  return all;
}

void Profile::fold(const HandMadeLog& log, size_t window, size_t piece, ChangeList* changes) {
  uint64_t number = 0;
  for (const std::vector<std::byte>& each : log.windows(window)) {
    for (size_t end = piece == 0 ? window : piece; end < window; end += piece) {
      fold_.fold(number, each, end, false, changes);
    }
    fold_.fold(number, each, window, false, changes);
    ++number;
  }
}

uint32_t Profile::find(ProfileKind kind, uint32_t parent, uint64_t place, uint16_t detail) const {
  for (uint32_t i = 0; i < log().row_count; ++i) {
    const ProfileRow& row = (*this)[i];
    if (key_of(row) == RowKey{place, parent, detail, kind}) return i;
  }
  ADD_FAILURE() << "no row of kind " << int(kind) << " below " << parent << " at " << place;
  return 0;
}

uint64_t Profile::ticks_in(ProfileState state) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < log().row_count; ++i) {
    const ProfileRow& row = (*this)[i];
    const bool counts = row.kind == ProfileKind::stretch && row.detail == uint16_t(state);
    sum += counts ? row.ticks : 0;
  }
  return sum;
}

uint64_t Profile::visits_of(ProfileKind kind) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < log().row_count; ++i) {
    if ((*this)[i].kind == kind) sum += (*this)[i].visits;
  }
  return sum;
}

uint64_t Profile::amount_of(ProfileKind kind) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < log().row_count; ++i) {
    if ((*this)[i].kind == kind) sum += (*this)[i].amount;
  }
  return sum;
}

std::vector<std::byte> Profile::comparable() {
  std::vector<std::byte> copy(bytes().begin(), bytes().end());
  auto& head = *reinterpret_cast<ProfileLog*>(copy.data());
  auto& state = *reinterpret_cast<FoldState*>(copy.data() + RegionLayout(copy.size()).state_at);
  head.version = 0;
  state.window = state.bytes = 0;
  return copy;
}

void expect_consistent(const Profile& profile) {
  const ProfileLog& log = profile.log();
  EXPECT_EQ(log.version % 2, 0u);
  uint64_t stretches = 0, in_series = 0, samples = 0;
  for (uint32_t i = 1; i < log.row_count; ++i) {
    const ProfileRow& row = profile[i];
    ASSERT_LT(row.parent, i);
    const bool is_stretch = row.kind == ProfileKind::stretch;
    stretches += is_stretch ? row.ticks : 0;
    EXPECT_LE(row.ticks, is_stretch ? log.until - log.begin : row.ticks) << "row " << i;
    samples += is_stretch ? row.amount : 0;
    const trace::ProfileKindFacts& facts = trace::facts_of(row.kind);
    const trace::ProfileKindFacts& above = trace::facts_of(profile[row.parent].kind);
    if (facts.place == trace::ProfilePlace::frame) {
      ASSERT_LT(row.place, i);
      EXPECT_EQ(trace::facts_of(profile[uint32_t(row.place)].kind).group,
                trace::ProfileGroup::path);
    }
    if (facts.group == trace::ProfileGroup::sample) {
      EXPECT_EQ(above.group, trace::ProfileGroup::stretch);
    } else if (row.parent != Rows::kRoot) {
      EXPECT_EQ(above.group, facts.group == trace::ProfileGroup::stretch
                                 ? trace::ProfileGroup::event
                                 : facts.group);
    }
  }
  for (const auto& bucket : log.series.ticks) {
    for (const uint64_t ticks : bucket) in_series += ticks;
  }
  EXPECT_EQ(stretches, log.until - log.begin);
  EXPECT_EQ(in_series, log.until - log.begin);
  EXPECT_LE(samples, log.samples);
}

}  // namespace culprit::fold
