// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A .pcf consists of sections. In one of EVENT_TYPE each line is "color type description"; the
// VALUES behind them, "value name", are those of all these types. An empty line ends a section.
#include "trace/paraver/labels.h"

#include <algorithm>
#include <utility>

#include "trace/imported/packed_file.h"
#include "trace/paraver/header.h"
#include "trace/paraver/lines.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

/// Names beyond this number are left out: what a trace uses has far fewer.
constexpr size_t kMostNames = 4'000'000;
constexpr size_t kMostTypes = 10'000;  ///< that share their values

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

class ValueReader {
 public:
  explicit ValueReader(ParaverLabels& labels) : labels_(labels) {}

  void see(std::string_view line) {
    line = trimmed(line);
    if (line.empty()) {
      if (in_ == In::values) in_ = In::other;
    } else if (line.starts_with("EVENT_TYPE")) {
      in_ = In::types;
      types_.clear();
    } else if (line.starts_with("VALUES")) {
      in_ = In::values;
    } else if (in_ == In::types) {
      see_type(line);
    } else if (in_ == In::values) {
      see_value(line);
    }
  }

 private:
  enum class In : uint8_t { other, types, values };

  void see_type(std::string_view line) {
    if (!take_number(line)) return;
    line = trimmed(line);
    const auto type = take_number(line);
    if (type && *type >= 0 && types_.size() < kMostTypes) {
      types_.push_back(static_cast<uint64_t>(*type));
    }
  }

  void see_value(std::string_view line) {
    const auto value = take_number(line);
    if (!value || *value < 0) return;
    const std::string name(trimmed(line));
    for (const uint64_t type : types_) {
      if (++names_ > kMostNames) return;
      labels_.values[type].emplace(static_cast<uint64_t>(*value), name);
    }
  }

  ParaverLabels& labels_;
  In in_ = In::other;
  std::vector<uint64_t> types_;
  size_t names_ = 0;
};

fs::path beside(const fs::path& trace, const char* extension) {
  fs::path file = trace;
  if (file.extension() == ".gz") file.replace_extension();
  return file.replace_extension(extension);
}

/// "LEVEL NODE SIZE 2" stands before the names of a level.
void read_rows(LineReader& lines, ParaverLabels& labels) {
  std::vector<std::string>* level = nullptr;
  std::string_view line;
  while (lines.next(line)) {
    line = trimmed(line);
    if (line.starts_with("LEVEL ")) {
      const std::string_view name = trimmed(line.substr(6));
      level = name.starts_with("NODE")     ? &labels.nodes
              : name.starts_with("THREAD") ? &labels.threads
                                           : nullptr;
    } else if (level != nullptr && !line.empty() && level->size() < kMostNames) {
      level->emplace_back(line);
    }
  }
}

}  // namespace

std::string_view ParaverLabels::value(uint64_t type, uint64_t value) const {
  const auto of_type = values.find(type);
  if (of_type == values.end()) return {};
  const auto name = of_type->second.find(value);
  return name != of_type->second.end() ? std::string_view(name->second) : std::string_view();
}

ParaverLabels read_paraver_labels(const fs::path& trace) {
  ParaverLabels labels;
  if (auto file = PackedFile::open(beside(trace, ".pcf"))) {
    labels.has_values = true;
    ValueReader values(labels);
    LineReader lines(*file);
    std::string_view line;
    while (lines.next(line)) values.see(line);
  }
  if (auto file = PackedFile::open(beside(trace, ".row"))) {
    LineReader lines(*file);
    read_rows(lines, labels);
  }
  return labels;
}

}  // namespace culprit::trace
