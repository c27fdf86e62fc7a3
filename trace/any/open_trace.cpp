// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is no trace of another tool is taken for an OTF2 archive, whose reader says what is wrong.
#include "trace/any/open_trace.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/files/guarded_path.h"
#include "base/files/regular_file.h"
#include "base/parallel.h"
#include "base/sqlite/sqlite.h"
#include "trace/imported/packed_file.h"
#include "trace/imported/source.h"
#include "trace/imported/table_rows.h"
#include "trace/kineto/kineto.h"
#include "trace/nsight/nsight.h"
#include "trace/otf2/anchor.h"
#include "trace/otf2/reader.h"
#include "trace/paraver/header.h"
#include "trace/paraver/paraver.h"
#include "trace/rocpd/rocpd.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

enum class Format : uint8_t { otf2, json, sqlite, nsight_report, paraver };

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

Format format_of(const fs::path& file) {
  for (const char* extension : {".nsys-rep", ".qdrep"}) {
    if (file.extension() == extension) return Format::nsight_report;
  }
  auto packed = PackedFile::open(file);
  if (!packed) return Format::otf2;
  std::array<char, 4096> head;
  std::string_view text(head.data(), packed->read(head.data(), head.size()));
  constexpr std::string_view kDatabase("SQLite format 3\0", 16);
  if (text.starts_with(kDatabase)) return Format::sqlite;
  if (text.starts_with(kParaverMark)) return Format::paraver;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.starts_with('{') || text.starts_with('[')) return Format::json;
  return Format::otf2;
}

bool has_ending(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Of the files in a folder, those that are named as a tool names its traces.
std::vector<fs::path> named(const fs::path& folder, const std::vector<std::string>& names,
                            std::initializer_list<std::string_view> endings) {
  std::vector<fs::path> found;
  for (const std::string& name : names) {
    if (has_ending(name, endings)) found.push_back(folder / name);
  }
  return found;
}

Error report_refused(const fs::path& file) {
  const std::string name = file.string();
  return Error{"'" + name +
               "' is a report in Nsight Systems' own format: run `nsys export --type sqlite " +
               name + "`, and analyze the .sqlite file that this makes"};
}

struct OpenedDatabase {
  Result<std::vector<ImportedProcess>> processes = Error{};
  bool is_rocpd = false;
};

OpenedDatabase read_database(const fs::path& file) {
  OpenedDatabase opened;
  const auto there = open_regular_file(file, Owner::anybody);
  if (!there) {
    opened.processes = Error{"'" + file.string() + "' cannot be opened for reading"};
    return opened;
  }
  Database database(there->descriptor(), Database::Mode::read, kMostSteps);
  opened.is_rocpd = is_rocpd(database);
  opened.processes = opened.is_rocpd ? read_rocpd(file, database) : read_nsight(file, database);
  return opened;
}

Result<std::unique_ptr<Source>> open_databases(const std::vector<fs::path>& files, unsigned threads,
                                               Losses& losses, std::vector<std::string>& notes) {
  std::vector<OpenedDatabase> all(files.size());
  parallel_for(files.size(), threads, [&](size_t i) { all[i] = read_database(files[i]); });
  std::vector<ImportedProcess> processes;
  for (OpenedDatabase& each : all) {
    if (!each.processes) return each.processes.error();
    if (each.is_rocpd != all.front().is_rocpd) {
      return Error{"'" + files.front().string() + "' and others are databases of different tools"};
    }
    std::move(each.processes->begin(), each.processes->end(), std::back_inserter(processes));
  }
  return make_source(std::move(processes), all.front().is_rocpd ? "rocprofv3" : "Nsight Systems",
                     threads, losses, notes);
}

}  // namespace

bool is_foreign_trace(const fs::path& file) {
  return format_of(file) != Format::otf2;
}

std::vector<fs::path> find_traces(const fs::path& folder) {
  if (const fs::path anchor = find_anchor(folder); !anchor.empty()) return {anchor};
  const std::vector<std::string> names = GuardedPath(folder).list();
  auto found = named(folder, names, {".pt.trace.json", ".pt.trace.json.gz"});
  if (found.empty()) found = named(folder, names, {".sqlite", ".db"});
  if (found.empty()) found = named(folder, names, {".prv", ".prv.gz"});
  if (found.empty()) found = named(folder, names, {".json", ".json.gz"});
  return found;
}

Result<std::unique_ptr<Source>> open_traces(const std::vector<fs::path>& files, unsigned threads,
                                            Losses& losses, std::vector<std::string>& notes) {
  std::vector<Format> formats(files.size());
  std::transform(files.begin(), files.end(), formats.begin(), format_of);
  for (size_t i = 1; i < files.size(); ++i) {
    if (formats[i] != formats[0]) {
      return Error{"'" + files[0].string() + "' and '" + files[i].string() +
                   "' are traces of different formats: they cannot be of one job"};
    }
  }
  switch (formats[0]) {
    case Format::json:
      return open_kineto(files, threads, losses, notes);
    case Format::sqlite:
      return open_databases(files, threads, losses, notes);
    case Format::nsight_report:
      return report_refused(files[0]);
    case Format::otf2:
    case Format::paraver:
      break;
  }
  if (files.size() > 1) {
    return Error{"such a trace holds all ranks and is analyzed by itself: give one at a time"};
  }
  if (formats[0] == Format::paraver) return open_paraver(files[0], threads, losses, notes);
  return open_otf2(files[0], losses);
}

}  // namespace culprit::trace
