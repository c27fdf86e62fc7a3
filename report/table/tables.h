// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings as tables, by what a reader asks for. The list of them is group_by.def.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "report/table/selection.h"
#include "report/table/table.h"

namespace culprit::report {

enum class GroupBy : uint8_t {
#define GROUP_BY(id, rows) id,
#include "report/table/group_by.def"
#undef GROUP_BY
};

struct GroupByText {
  std::string_view id, rows;
};

inline constexpr std::array kGroupBy = {
#define GROUP_BY(id, rows) GroupByText{#id, rows},
#include "report/table/group_by.def"
#undef GROUP_BY
};

/// Makes a table of the selected part of the findings. `top`: the maximum number of rows, 0: all.
/// Error if the selection allows no such table.
Result<ReportTable> make_table(const blame::Findings& findings, GroupBy by,
                               const Selection& selection, size_t top);

// One for each row of group_by.def; of findings that are selected already.
#define GROUP_BY(id, rows) \
  Result<ReportTable> table_by_##id(const blame::Findings& findings, const Selection& selection);
#include "report/table/group_by.def"
#undef GROUP_BY

}  // namespace culprit::report
