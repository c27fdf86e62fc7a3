// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An address is looked up once in a process, and then is a number.
#include "assemble/play/line_counts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/parallel.h"

namespace culprit::assemble {
namespace {

/// Damaged records may make long paths.
constexpr size_t kMostFrames = 10'000;

/// The innermost function of the program that the code belongs to, inlined ones included, or the
/// body of a construct, which is a function for the compiler alone. Null if it is others' code.
const CodeFrame* own_frame(const Code& code) {
  const CodeKind wanted = code.own ? CodeKind::user : CodeKind::outlined;
  const auto found =
      std::find_if(code.frames.rbegin(), code.frames.rend(),
                   [wanted](const CodeFrame& frame) { return frame.kind == wanted; });
  return found == code.frames.rend() ? nullptr : &*found;
}

/// Counts the samples of one process.
class LineCounter {
 public:
  LineCounter(const ProcessCode& code, const SampledStacks& stacks)
      : code_(code), paths_(stacks.paths()) {}

  LinesOfCode count() {
    for (uint32_t path = 1; path < paths_.size(); ++path) {
      if (paths_[path].samples > 0) add(path, paths_[path].samples);
    }
    LinesOfCode lines;
    for (size_t i = 0; i < lines_.size(); ++i) lines.emplace(lines_[i], counts_[i]);
    return lines;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void add(uint32_t path, uint64_t samples) {
    seen_.clear();  // a line that calls itself again counts once
    for (size_t depth = 0; path != 0 && depth < kMostFrames; ++depth) {
      const uint32_t line = number(paths_[path].address);
      path = paths_[path].parent;
      if (line == kNone) continue;
      if (seen_.empty()) counts_[line].samples += samples;
      if (std::find(seen_.begin(), seen_.end(), line) != seen_.end()) continue;
      counts_[line].with_callees += samples;
      seen_.push_back(line);
    }
  }

  uint32_t number(uint64_t address) {
    const auto [known, fresh] = by_address_.try_emplace(address, kNone);
    if (!fresh) return known->second;
    const Code& code = code_.before(address);
    const CodeFrame* const frame = own_frame(code);
    if (frame == nullptr || code.symbol == nullptr || code.symbol->line == 0) return kNone;
    const SourceLine line{frame->region, code.symbol->file, code.symbol->line};
    const auto place = numbers_.try_emplace(line, static_cast<uint32_t>(lines_.size()));
    if (place.second) {
      lines_.push_back(line);
      counts_.emplace_back();
    }
    return known->second = place.first->second;
  }

  const ProcessCode& code_;
  const std::vector<SampledStacks::Path>& paths_;
  std::unordered_map<uint64_t, uint32_t> by_address_;
  std::map<SourceLine, uint32_t> numbers_;
  std::vector<SourceLine> lines_;
  std::vector<LineCounts> counts_;  ///< by line
  std::vector<uint32_t> seen_;
};

/// The costliest lines of one function: of few samples, and small parts, nothing can be said.
void add_costliest(const trace::Region& function,
                   std::vector<std::pair<SourceLine, uint64_t>> lines,
                   std::vector<CostlyLine>& found) {
  constexpr size_t kMostLines = 5;
  constexpr uint64_t kFewSamples = 10, kSmallPart = 50;
  uint64_t all = 0;
  for (const auto& line : lines) all += line.second;
  if (all < kFewSamples) return;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (size_t i = 0; i < std::min(kMostLines, lines.size()); ++i) {
    const auto& [line, samples] = lines[i];
    if (samples * kSmallPart < all) break;
    found.push_back(
        {function.name, function.file, function.line, line.file, line.line, samples, all});
  }
}

}  // namespace

LinesOfCode count_lines(const ProcessCode& code, const SampledStacks& stacks) {
  return LineCounter(code, stacks).count();
}

SampledLines count_lines(std::span<const ProcessCode> code,
                         std::span<const ProcessAccount> accounts, unsigned threads) {
  std::vector<LinesOfCode> by_folder(code.size());
  parallel_for(code.size(), threads,
               [&](size_t i) { by_folder[i] = count_lines(code[i], accounts[i].survey.stacks); });
  SampledLines all;
  for (const LinesOfCode& lines : by_folder) {
    for (const auto& [line, counts] : lines) {
      if (line.function.valid()) all[line] += counts.with_callees;
    }
  }
  return all;
}

std::vector<CostlyLine> costliest_lines(const SampledLines& lines,
                                        const std::vector<trace::Region>& regions) {
  std::map<RegionId, std::vector<std::pair<SourceLine, uint64_t>>> functions;
  for (const auto& one : lines) functions[one.first.function].push_back(one);
  std::vector<CostlyLine> found;
  for (const auto& [function, of_function] : functions) {
    add_costliest(regions[function.index()], of_function, found);
  }
  constexpr size_t kMost = 1000;
  std::stable_sort(found.begin(), found.end(), [](const CostlyLine& a, const CostlyLine& b) {
    return a.function_samples > b.function_samples;
  });
  if (found.size() > kMost) found.resize(kMost);
  return found;
}

}  // namespace culprit::assemble
