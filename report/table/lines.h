// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table's lines, for pages that place them one by one.
#pragma once

#include <string>
#include <vector>

#include "report/table/table.h"

namespace culprit::report {

/// The heads of the columns and a line for each row, in columns, as a page of text has them.
std::vector<std::string> table_lines(const ReportTable& table);

}  // namespace culprit::report
