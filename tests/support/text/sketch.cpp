// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One function for each kind of line. Which kind it is follows from the section that it stands in.
#include "tests/support/text/sketch.h"

#include <charconv>
#include <cstdio>
#include <sstream>

#include "tests/support/text/names.h"

namespace culprit::trace {

namespace {

constexpr unsigned kMostRanks = 4096;

enum class Section { top, regions, lanes, comms, grids, events };

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream in(path);
  for (std::string part; std::getline(in, part, '/');) parts.push_back(part);
  return parts;
}

void drop_blanks_behind(std::string& text) {
  text.resize(text.find_last_not_of(' ') + 1);
}

Result<void> take_unit(const std::string& text, Sketch& sketch) {
  sketch.unit = nanos_of_unit(text);
  if (sketch.unit <= 0) return Error{"a unit is like `1s` or `0.1ms`"};
  return {};
}

Result<void> take_letter(const std::string& line, Sketch& sketch) {
  const size_t letter = line.find_first_not_of(' ');
  const size_t name = line.find_first_not_of(' ', letter + 1);
  if (name == std::string::npos) return Error{"a region line is `<letter> <call path>`"};
  std::string path = line.substr(name);
  drop_blanks_behind(path);
  sketch.paths[line[letter]] = split_path(path);
  return {};
}

Result<void> take_lane(const std::string& line, Sketch& sketch) {
  const size_t bar = line.find('|');
  if (bar == std::string::npos) return Error{"a lane is `<rank>.<thread> |letters`"};
  unsigned rank = 0, thread = 0;
  char node[32] = "";
  const int fields = std::sscanf(line.c_str(), " %u.%u %31[^ |]", &rank, &thread, node);
  if (fields < 2) return Error{"no rank.thread"};
  if (rank >= kMostRanks) return Error{"so many ranks cannot be drawn"};
  uint32_t before = 0;  // threads of the rank
  for (const Sketch::Lane& lane : sketch.lanes) before += lane.rank == rank;
  if (thread != before) return Error{"threads come in order from 0"};
  std::string cells = line.substr(bar + 1);
  drop_blanks_behind(cells);
  for (const char cell : cells) {
    if (cell != '.' && !sketch.paths.contains(cell)) return Error{std::string("no region ") + cell};
  }
  sketch.lanes.push_back({rank, thread, fields == 3 ? node : "", std::move(cells)});
  return {};
}

Result<void> take_comm(const std::vector<std::string>& words, Sketch& sketch) {
  Comm comm{"comm " + std::to_string(sketch.comms.size() + 1), CommKind::mpi, {}, {}};
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "|") {
      comm.kind = CommKind::mpi_inter;
      continue;
    }
    auto rank = number_of(words[i]);
    if (!rank) return rank.error();
    (comm.kind == CommKind::mpi ? comm.members : comm.remote).emplace_back(rank.value());
  }
  sketch.comms.push_back(std::move(comm));
  return {};
}

/// Ranks stand in it row by row, the last dimension fastest, as MPI_Cart_create has them.
Result<void> take_grid(const std::vector<std::string>& words, Sketch& sketch) {
  Grid grid;
  grid.name = "grid " + std::to_string(sketch.grids.size() + 1);
  if (words.size() < 2 || words[0].back() != ':') return Error{"a grid is `<comm>: <sizes>`"};
  auto comm = number_of(words[0].substr(0, words[0].size() - 1));
  if (!comm) return comm.error();
  grid.comm = CommId(comm.value());
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "periodic") {
      for (GridDimension& dimension : grid.dimensions) dimension.periodic = true;
      continue;
    }
    auto size = number_of(words[i]);
    if (!size || size.value() == 0) return Error{"a size is a number from 1 on"};
    grid.dimensions.push_back({size.value()});
  }
  sketch.grids.push_back(std::move(grid));
  return {};
}

Result<void> take(size_t number, const std::string& line, Section& section, Sketch& sketch) {
  const std::vector<std::string> words = words_of(line);
  if (words[0] == "unit" && words.size() == 2) return take_unit(words[1], sketch);
  if (words[0] == "ours" && words.size() == 1) {
    sketch.ours = true;
    return {};
  }
  for (auto [name, named] : {std::pair{"regions", Section::regions},
                             {"lanes", Section::lanes},
                             {"comms", Section::comms},
                             {"grids", Section::grids},
                             {"events", Section::events}}) {
    if (words.size() == 1 && words[0] == name) {
      section = named;
      return {};
    }
  }
  switch (section) {
    case Section::regions:
      return take_letter(line, sketch);
    case Section::lanes:
      return take_lane(line, sketch);
    case Section::comms:
      return take_comm(words, sketch);
    case Section::grids:
      return take_grid(words, sketch);
    case Section::events:
      sketch.events.push_back({number, words});
      return {};
    case Section::top:
      break;
  }
  return Error{"expected `unit`, `ours`, `regions`, `lanes`, `comms`, `grids` or `events`"};
}

}  // namespace

Error error_in_line(size_t number, const std::string& why) {
  return {"line " + std::to_string(number) + " of the picture: " + why};
}

Result<uint32_t> number_of(const std::string& word) {
  uint32_t value = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end) return Error{"no number: " + word};
  return value;
}

Result<Sketch> read_sketch(std::string_view picture) {
  std::istringstream in{std::string(picture)};
  Sketch sketch;
  Section section = Section::top;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line == "---") break;
    if (const size_t hash = line.find('#'); hash != std::string::npos) line.resize(hash);
    if (words_of(line).empty()) continue;
    if (auto taken = take(number, line, section, sketch); !taken) {
      return error_in_line(number, taken.error().sentence);
    }
  }
  sketch.rest = std::string((std::istreambuf_iterator<char>(in)), {});
  return sketch;
}

}  // namespace culprit::trace
