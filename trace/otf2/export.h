// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Any trace as an OTF2 archive, for other tools and for those who keep archives.
#pragma once

#include <filesystem>

#include "base/losses.h"
#include "base/result.h"
#include "trace/source.h"

namespace culprit::trace {

/// Writes `folder`/traces.otf2 on `threads` threads (0: all cores). `folder` must not exist or be
/// empty; it appears when the archive is complete. `losses`: earlier losses, to which those of
/// reading the source are added. The archive contains all of them.
Result<void> export_otf2(const Source& source, const std::filesystem::path& folder,
                         unsigned threads, Losses& losses);

}  // namespace culprit::trace
