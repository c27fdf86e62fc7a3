// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A line's share is of the samples of its function, wherever that was called from.
#include "report/text_page/lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "blame/findings/function_id.h"
#include "report/words/layout.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Proportion;

constexpr size_t kMostNamed = 2, kSourceLines = 2;
constexpr double kStandsOut = 0.15;  ///< of the function's samples

/// "31", or "mesh.h:31" if it is in another file than the function.
std::string place_of(const blame::FoundLine& line) {
  return line.file == line.function_file ? std::to_string(line.line)
                                         : fmt::format("{}:{}", line.file, line.line);
}

}  // namespace

std::vector<LineShare> costliest_lines(const blame::Findings& findings,
                                       const blame::FoundCallPath& function, size_t most) {
  std::vector<LineShare> found;
  for (const blame::FoundLine& line : findings.lines) {
    const blame::FunctionId id{line.function, line.function_file,
                               static_cast<uint32_t>(line.function_line)};
    if (found.size() == most) break;
    if (id != blame::function_of(function) || line.function_samples == 0) continue;
    found.push_back(
        {&line, Proportion::of(Amount<blame::Row>(static_cast<double>(line.samples)),
                               Amount<blame::Row>(static_cast<double>(line.function_samples)))});
  }
  return found;
}

std::string lines_sentence(const blame::Findings& findings, const blame::FoundCallPath& function) {
  std::string named;
  size_t count = 0;
  for (const LineShare& each : costliest_lines(findings, function, kMostNamed)) {
    if (each.share.value() < kStandsOut) break;
    const std::string share = rounded(each.share);
    named += count++ == 0 ? fmt::format("{} ({} of its samples)", place_of(*each.line), share)
                          : fmt::format(", {} ({})", place_of(*each.line), share);
  }
  if (count == 0) return "";
  return fmt::format("Costliest line{} of {}: {}.", count == 1 ? "" : "s", function.region, named);
}

std::string source_lines(const blame::Findings& findings, const blame::FoundCallPath& function,
                         Sources& sources) {
  std::vector<uint32_t> numbers;
  std::vector<std::string> shares;
  for (const LineShare& each : costliest_lines(findings, function, kSourceLines)) {
    if (each.line->file != function.file) continue;
    numbers.push_back(static_cast<uint32_t>(each.line->line));
    shares.push_back(fmt::format(" ({} of its samples)", rounded(each.share)));
  }
  const bool sampled = !numbers.empty();
  for (uint32_t i = 0; !sampled && i < kSourceLines; ++i) numbers.push_back(function.line + i);
  std::vector<std::string> texts = sources.lines(function, numbers);
  if (texts.empty() && !sampled) return "";
  texts.resize(numbers.size());
  std::string page;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string text = printable(texts[i], "\t");
    const std::string share = sampled ? shares[i] : "";
    const size_t room = page_width() - std::min<size_t>(page_width(), share.size());
    const std::string line =
        fmt::format("{}{} | {}", std::string(text_column(), ' '), numbers[i], text);
    page += cut_to(line, room) + share + '\n';
  }
  return page;
}

}  // namespace culprit::report
