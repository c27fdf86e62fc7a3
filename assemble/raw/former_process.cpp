// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/raw/former_process.h"

#include <cstring>

#include "trace/raw/seal.h"

namespace culprit::assemble {
namespace {

using trace::RawProcess;
using trace::RawProcessFile;
using trace::RawSnapshot;

constexpr size_t kFormerProcess = kFormerRecordBytes;
constexpr size_t kNew = offsetof(RawProcess, written_behind);
constexpr size_t kFormerSnapshot = kFormerProcess + 2 * sizeof(uint64_t);
static_assert(kFormerProcessBytes == kFormerProcess + 2 * kFormerSnapshot);

RawProcess process_of(const std::byte* former) {
  RawProcess process = {};
  auto* const now = reinterpret_cast<std::byte*>(&process);
  std::memcpy(now, former, kNew);
  std::memcpy(now + kNew + sizeof(uint64_t), former + kNew, kFormerProcess - kNew);
  // Here was the end of the command.
  process.sampling_signal = process.samples_begun = 0;
  process.displaced_samplers = process.confined_samplers = 0;
  if (process.version == kFormerRawVersion) process.version = trace::kRawVersion;
  return process;
}

RawSnapshot snapshot_of(const std::byte* former) {
  constexpr size_t kWords = kFormerSnapshot / sizeof(uint64_t) - 1;
  uint64_t words[kWords], sum = 0;
  std::memcpy(words, former, sizeof words);
  std::memcpy(&sum, former + sizeof words, sizeof sum);
  RawSnapshot snapshot = {process_of(former), words[kWords - 1], 0};
  const uint64_t today = trace::sum_of_snapshot(snapshot);
  const bool is_whole = sum == (trace::raw_sum(words, kWords) | 1);
  if (sum != 0) snapshot.sum = is_whole ? today : ~today;
  return snapshot;
}

}  // namespace

std::optional<RawProcessFile> from_former_version(std::span<const std::byte> file) {
  uint32_t version = 0;
  if (file.size() < kFormerProcessBytes) return std::nullopt;
  std::memcpy(&version, file.data() + offsetof(RawProcess, version), sizeof version);
  if (version != kFormerRawVersion) return std::nullopt;
  const std::byte* const snapshots = file.data() + kFormerProcess;
  return RawProcessFile{process_of(file.data()),
                        {snapshot_of(snapshots), snapshot_of(snapshots + kFormerSnapshot)}};
}

}  // namespace culprit::assemble
