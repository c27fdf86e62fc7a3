// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Traces of other tools as tests look at them: the events of a location as lines.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "folder.h"
#include "tests/unit/trace/recording_sink.h"
#include "trace/any/open_trace.h"

namespace culprit::trace {

using Lines = std::vector<std::string>;

struct Opened {
  std::unique_ptr<Source> source;
  Losses losses;
  std::vector<std::string> notes;
  std::string error;

  Lines lines(std::string_view location) {
    const auto& all = source->definitions().locations;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].name != location) continue;
      RecordingSink sink;
      EXPECT_TRUE(source->read(LocationId(i), sink, losses));
      for (std::string& line : sink.lines) line = named(std::move(line));
      return sink.lines;
    }
    return {"no such location"};
  }

 private:
  /// With the region's name instead of its number.
  std::string named(std::string line) const {
    for (const char* event : {" enter ", " leave "}) {
      const size_t at = line.find(event);
      if (at == line.npos) continue;
      const size_t number = at + std::string_view(event).size();
      const size_t region = std::stoul(line.substr(number));
      line.replace(number, line.npos, source->definitions().regions.at(region).name);
    }
    return line;
  }
};

inline Opened open(const std::vector<std::filesystem::path>& files) {
  Opened opened;
  auto source = open_traces(files, 2, opened.losses, opened.notes);
  if (source) {
    opened.source = std::move(source).value();
  } else {
    opened.error = source.error().sentence;
  }
  return opened;
}

inline Opened open(std::string_view text) {
  const Folder folder;
  return open({folder.write("trace.json", text)});
}

}  // namespace culprit::trace
