// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes in version 8 of the records: without `written_behind` and the fields on samples, in
// place of which the command was longer. Experiments of that version can be read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trace/raw/raw.h"

namespace culprit::assemble {

inline constexpr uint32_t kFormerRawVersion = 8;
/// Of a process's record: what comes from `node` on is newer, too.
inline constexpr size_t kFormerRecordBytes = offsetof(trace::RawProcess, node) - sizeof(uint64_t);
/// Of its file `process`.
inline constexpr size_t kFormerProcessBytes = 3 * kFormerRecordBytes + 4 * sizeof(uint64_t);

/// The content of such a file in today's format, as far as it is whole. Nothing if it is of another
/// version, or shorter.
std::optional<trace::RawProcessFile> from_former_version(std::span<const std::byte> file);

}  // namespace culprit::assemble
