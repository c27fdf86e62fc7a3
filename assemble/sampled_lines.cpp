// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each path is looked up once in a log and counted as often as samples took it. A sample in a
// library counts for the line of the program that called it.

#include "assemble/sampled_lines.h"

#include <algorithm>
#include <compare>
#include <map>
#include <unordered_map>

#include "assemble/opening.h"
#include "assemble/play/code.h"

namespace culprit::assemble {
namespace {

struct Line {
  uint32_t rank = 0;
  std::string file;
  uint32_t line = 0;
  std::string function;
  auto operator<=>(const Line&) const = default;
};

struct Counts {
  uint64_t samples = 0, with_callees = 0;
};

using Lines = std::map<Line, Counts>;

/// The frames of one log's paths, as return addresses.
struct Frames {
  struct Node {
    uint32_t parent = 0;
    uint64_t address = 0;
  };
  std::unordered_map<uint32_t, Node> nodes;
  std::unordered_map<uint32_t, uint64_t> samples;  ///< by path
};

/// Damaged records may make circles of parents.
constexpr size_t kMostFrames = 10'000;

Frames read_log(const RawLog& log) {
  Frames frames;
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.kind == trace::RawKind::path_def) {
      const auto path = record.as<raw::path_def>();
      frames.nodes[path.path] = {path.parent, path.address};
    } else if (record.kind == trace::RawKind::sample) {
      const auto sample = record.as<raw::sample>();
      frames.samples[sample.path] += uint64_t{1} + sample.missed;
    }
  }
  return frames;
}

/// The innermost function of the program that the code belongs to, inlined ones included, or the
/// body of a construct, which is a function for the compiler alone. Null if it is others' code.
const CodeFrame* own_frame(const Code& code) {
  const CodeKind wanted = code.own ? CodeKind::user : CodeKind::outlined;
  const auto found =
      std::find_if(code.frames.rbegin(), code.frames.rend(),
                   [wanted](const CodeFrame& frame) { return frame.kind == wanted; });
  return found == code.frames.rend() ? nullptr : &*found;
}

class LineCounter {
 public:
  LineCounter(const RecordedRun& run, const ProcessCode& code, uint32_t rank, Lines& lines)
      : run_(run), code_(code), rank_(rank), lines_(lines) {}

  void add(const Frames& frames) {
    for (const auto& [path, count] : frames.samples) add_path(frames, path, count);
  }

 private:
  void add_path(const Frames& frames, uint32_t path, uint64_t count) {
    std::vector<Line> seen;  // a line that calls itself again counts once
    for (size_t depth = 0; path != 0 && depth < kMostFrames; ++depth) {
      const auto node = frames.nodes.find(path);
      if (node == frames.nodes.end()) return;
      path = node->second.parent;
      Line line;
      if (!find(node->second.address, line)) continue;
      if (seen.empty()) lines_[line].samples += count;
      if (std::find(seen.begin(), seen.end(), line) != seen.end()) continue;
      lines_[line].with_callees += count;
      seen.push_back(std::move(line));
    }
  }

  bool find(uint64_t address, Line& line) const {
    const Code& code = code_.before(address);
    const CodeFrame* const frame = own_frame(code);
    if (frame == nullptr || code.symbol == nullptr || code.symbol->line == 0) return false;
    line = {rank_, code.symbol->file, code.symbol->line, ""};
    if (frame->region.valid()) line.function = run_.definitions.regions[frame->region.index()].name;
    return true;
  }

  const RecordedRun& run_;
  const ProcessCode& code_;
  uint32_t rank_;
  Lines& lines_;
};

}  // namespace

Result<std::vector<SampledLine>> sampled_lines(const std::filesystem::path& experiment,
                                               unsigned threads) {
  const auto options = options_for(experiment, threads);
  if (!options) return options.error();
  const auto prepared = prepare_run(records_of(experiment), *options);
  if (!prepared) return prepared.error();
  const RecordedRun& run = *prepared.value();
  Lines lines;
  for (size_t rank = 0; rank < run.processes.slots.size(); ++rank) {
    const auto folder = run.processes.slots[rank].folder;
    if (!folder) continue;
    LineCounter counter(run, run.code[*folder], static_cast<uint32_t>(rank), lines);
    for (const RawLog& log : run.folders[*folder].logs) counter.add(read_log(log));
  }
  std::vector<SampledLine> found;
  for (const auto& [line, counts] : lines) {
    found.push_back(
        {line.rank, line.function, line.file, line.line, counts.samples, counts.with_callees});
  }
  return found;
}

}  // namespace culprit::assemble
