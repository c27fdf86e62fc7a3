// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes an OTF2 archive in Score-P's record conventions, so that Vampir, Scalasca and otf2-print
// read it: location ids are thread << 32 | rank, regions carry roles and paradigms, communicators
// are groups over the MPI locations, threads of a team announce themselves with ThreadTeamBegin.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::trace {

class Otf2Writer {
 public:
  virtual ~Otf2Writer() = default;

  /// The sink for one location's events; times must not decrease, none may be before 0. Ids refer
  /// to the Definitions given to finish(), which need not be complete yet. MT: sinks of different
  /// locations may be used at the same time; opening is internally synchronised.
  virtual std::unique_ptr<EventSink> open(ProcessId process, uint32_t thread) = 0;

  /// Writes definitions and anchor. All sinks must be gone.
  virtual Result<void> finish(const Definitions& definitions) = 0;
};

/// Begins the archive `folder`/traces.otf2; `folder` must not exist or be empty. `locations`: how
/// many there may be; groups of more than 50,000 can only be written if it says so.
Result<std::unique_ptr<Otf2Writer>> create_otf2(const std::filesystem::path& folder,
                                                size_t locations = 0);

}  // namespace culprit::trace
