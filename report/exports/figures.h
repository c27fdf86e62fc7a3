// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The figures of figures.def, and the tree of call paths to which they belong.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::report {

enum class FigureId : uint8_t {
#define FIGURE(id, name, unit, inside, list, expression, meaning) id,
#include "report/exports/figures.def"
#undef FIGURE
  none
};

struct Figure {
  std::string_view id, name, unit;
  FigureId inside;
  std::string_view meaning;
};

inline constexpr std::array kFigures = {
#define FIGURE(id, name, unit, inside, list, expression, meaning) \
  Figure{#id, name, unit, FigureId::inside, meaning},
#include "report/exports/figures.def"
#undef FIGURE
};

/// visit(callpath, location, value) for each row of a figure; several may be of the same two.
void each_value(const blame::Findings& findings, FigureId figure,
                const std::function<void(CallPathId, LocationId, double)>& visit);

/// Returns the sums by call path, over all locations.
std::vector<double> sum_over_locations(const blame::Findings& findings, FigureId figure);

/// For formats of non-negative times: an error if one of these figures is negative anywhere, as in
/// differences of runs and in findings that older versions derived from these.
Result<void> refuse_negative(const blame::Findings& findings, std::span<const FigureId> figures,
                             std::string_view format);

/// The tree of call paths, which findings keep by parents.
struct PathTree {
  explicit PathTree(const std::vector<blame::FoundCallPath>& callpaths);
  std::vector<CallPathId> roots;
  std::vector<std::vector<CallPathId>> children;  ///< by CallPathId
};

/// The call path's regions from its root on.
std::vector<CallPathId> chain(const std::vector<blame::FoundCallPath>& callpaths, CallPathId path);

/// Creates `file`. Error if it exists, or cannot be written.
Result<void> write_new_file(const std::filesystem::path& file, std::string_view content);

}  // namespace culprit::report
