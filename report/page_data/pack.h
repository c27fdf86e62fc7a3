// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data of a page for the browser: all findings and, if there is one, an excerpt of the run, as
// columns of numbers that a browser uses in place. The tables and columns are those of findings.def
// and of pack.cpp's excerpt rows; page/src/data.js is the reader.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "blame/excerpt/excerpt.h"
#include "blame/findings/findings.h"

namespace culprit::report {

/// Segments of the critical path in a page: more than it has columns of pixels.
inline constexpr size_t kMostPageSegments = 20'000;

/// A line of source, by how many samples it was found, alone and with what it calls.
struct SourceLine {
  uint32_t rank = 0;
  std::string function, file;
  uint32_t line = 0;
  uint64_t samples = 0, with_callees = 0;
};

struct PageSources {
  std::vector<SourceLine> lines;
  std::map<std::string, std::string> texts;  ///< of files, by base name
};

/// Eight bytes of length, a head in JSON (names, tables, where each column lies), the columns.
/// Texts are places in the list of names. Numbers are little-endian; sums of long tables have the
/// precision of single floats, which is enough for pictures.
std::string pack_page(const blame::Findings& findings, const blame::Excerpt* excerpt,
                      const PageSources& sources = {});

/// An excerpt alone, for a page that has the findings already.
std::string pack_part(const blame::Excerpt& excerpt);

}  // namespace culprit::report
