// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/periods/grid.h"

namespace culprit::predict {

Result<std::vector<Series>> waiting_series(const blame::Excerpt& excerpt,
                                           const SeriesSelection& selection) {
  const Time begin, end = begin + excerpt.wall;
  const auto grid = make_grid(begin, end, excerpt.waits.size(), selection);
  if (!grid) return grid.error();
  if (excerpt.waits.empty()) return std::vector<Series>();
  std::vector<int64_t> steps(grid->steps());
  for (const blame::ExcerptWait& wait : excerpt.waits) {
    grid->add_time(wait.begin, wait.end, steps);
  }
  Series made =
      grid->series(blame::SeriesKind::waiting, steps, 1e9, std::max(selection.from_s, 0.0));
  made.pieces = excerpt.waits.size();
  return std::vector<Series>{made};
}

}  // namespace culprit::predict
