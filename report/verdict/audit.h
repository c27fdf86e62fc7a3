// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict's words on unexplained time (Findings::unexplained), and on time that is neither
// useful nor waiting (Findings::tiles): before a report says that all is well, all allocated time
// is accounted for.
#pragma once

#include <string>
#include <vector>

#include "blame/judge/summary.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// From this part of the allocated time on, unexplained time is reported, ...
inline constexpr double kUnexplainedMatters = 0.05;
/// ... and from this on it comes first.
inline constexpr double kUnexplainedFirst = 0.15;

struct Audit {
  /// The unexplained part of the own allocation time, less the part that is due to threads without
  /// a core, as far as that is known.
  blame::Proportion unexplained;
  CallPathId callpath;               ///< with most of it ...
  std::vector<blame::Share> shares;  ///< ... and there, the largest first
  bool is_most = false;              ///< nearly all of it is there
  bool spins = false;                ///< it is spent in a loop that looks at memory
  CallPathId meanwhile;              ///< then: what another thread computed for most of it, ...
  LocationId meanwhile_at;           ///< ... and which
  double begin_s = 0, end_s = 0;     ///< the shortest stretch with 80 %, where it is largest

  /// `cause`: the largest cause of waiting, as a part of the same.
  bool comes_first(double cause) const {
    return unexplained.value() >= kUnexplainedFirst ||
           (unexplained.value() >= kUnexplainedMatters && unexplained.value() > cause);
  }
  bool matters() const { return unexplained.value() >= kUnexplainedMatters; }
};

Audit audit(const blame::Findings& findings);

/// "38 % of the time is lost in MPI_Send on rank 0 from 2.1 s on, unexplained." "31 % of
/// the time is lost in wait_turn on thread 1, which spins there; meanwhile solve was executed on
/// thread 0."
std::string unexplained_sentence(const Audit& audit, const blame::Findings& findings,
                                 const PageNames& names, const TimeFormat& time);
/// "8 % of the time is not explained: MPI_Wait on rank 5; the page shows when."
std::string unexplained_warning(const Audit& audit, const blame::Findings& findings,
                                const PageNames& names);

/// A class of time, with where most of it is.
struct TileTotal {
  blame::Tile tile = blame::Tile::useful;
  double time_s = 0;
  CallPathId callpath;
  std::vector<blame::Share> shares;  ///< of the class, the largest first
};

/// The largest first; without useful time and waiting.
std::vector<TileTotal> lost_tiles(const blame::Findings& findings);

/// "31 % of the time is MPI itself, mostly MPI_Send on rank 0."
std::string tile_sentence(const TileTotal& total, const blame::Findings& findings,
                          const PageNames& names);

/// ", from 2.1 s on", ", until 2.1 s", ", between 2.1 s and 3.0 s", or nothing where it is most of
/// the run.
std::string stretch_words(double begin_s, double end_s, const blame::Findings& findings,
                          const TimeFormat& time);

}  // namespace culprit::report
