// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes the global definitions of an archive the way Score-P does: a system tree of machine and
// nodes, one location group per process, groups of locations per paradigm, and communicators over
// them. MPI communicators keep their ids as references; a process's thread team comes after them.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <vector>

#include "trace/definitions.h"
#include "trace/otf2/sink.h"

namespace culprit::trace {

/// `written`, by LocationId, is what became of the locations; `origin_realtime_ns` as for finish().
/// Returns, by ProcessId, the reference of the process's thread team (OTF2_UNDEFINED_COMM: none),
/// or OTF2's error in `status`.
struct TeamReferences {
  OTF2_ErrorCode status = OTF2_SUCCESS;
  std::vector<OTF2_CommRef> by_process;
};
TeamReferences write_definitions(OTF2_GlobalDefWriter* writer, const Definitions& definitions,
                                 const std::vector<WrittenLocation>& written);

/// Locations are numbered thread << 32 | process, and processes are numbered by rank.
inline OTF2_LocationRef location_ref(ProcessId process, uint32_t thread) {
  return uint64_t{thread} << 32 | process.index();
}

}  // namespace culprit::trace
