// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Folders may be large or slow: only a limited number of entries is examined, and no links are
// followed.

#include "report/text_page/source.h"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "base/files/regular_file.h"
#include "blame/findings/path_meaning.h"
#include "trace/openmp_names.h"

namespace culprit::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 5000;
constexpr int kMostDepth = 4;
/// How many lines from where a function is said to begin its name may stand: a return type or an
/// attribute may be above it.
constexpr size_t kNear = 2;
constexpr uint64_t kLargestFile = 4 << 20;

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream stream(read_regular_file(file, Owner::anybody, kLargestFile).value_or(""));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// "solve" of "sim::Grid<int>::solve", "parallel" of "!$omp parallel @a.c:3".
std::string word_of(const blame::FoundCallPath& path) {
  const std::string& name = path.region;
  if (is_of(path, trace::Paradigm::openmp)) {
    std::string_view construct = trace::name_of_construct(name);
    construct = construct.substr(0, construct.find(' '));
    return construct == "implicit" ? "" : std::string(construct);
  }
  std::string word;
  int depth = 0;  // of template arguments, which may hold colons
  for (const char c : name) {
    if (c == '(') break;
    depth += (c == '<') - (c == '>');
    if (depth > 0 || c == '>') continue;
    c == ':' ? word.clear() : word.push_back(c);
  }
  return word;
}

bool says(const std::vector<std::string>& lines, uint32_t line, const std::string& word) {
  if (line == 0 || line > lines.size() || word.empty()) return false;
  const size_t first = line - 1 - std::min<size_t>(line - 1, kNear);
  for (size_t i = first; i < std::min<size_t>(lines.size(), line + kNear); ++i) {
    if (lines[i].find(word) != std::string::npos) return true;
  }
  return false;
}

/// The folder of the program in the command line.
fs::path program_folder(const blame::RunInfo& run) {
  std::istringstream words(run.command);
  for (std::string word; words >> word;) {
    const fs::path path(word);
    if (path.has_parent_path() && path.filename() == run.program) return path.parent_path();
  }
  return {};
}

}  // namespace

Sources Sources::around(const blame::Findings& findings, const fs::path& experiment) {
  std::error_code code;
  std::vector<fs::path> folders = {fs::current_path(code)};
  for (const fs::path& folder :
       {fs::absolute(experiment, code).lexically_normal().parent_path(),
        fs::absolute(program_folder(findings.run), code).lexically_normal()}) {
    if (!folder.empty() && std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  }
  return Sources(std::move(folders));
}

void Sources::look_around() {
  looked_ = true;
  size_t entries = 0;
  for (const fs::path& folder : folders_) {
    std::error_code code;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, options, code), end;
         !code && at != end && entries < kMostEntries; at.increment(code), ++entries) {
      std::error_code ignored;
      const std::string name = at->path().filename().string();
      if (at->is_symlink(ignored) || name.starts_with('.') || at.depth() >= kMostDepth) {
        at.disable_recursion_pending();
      }
      if (at->is_regular_file(ignored)) files_.emplace(name, at->path());
    }
  }
}

std::vector<std::string> Sources::lines(const blame::FoundCallPath& path,
                                        const std::vector<uint32_t>& numbers) {
  if (path.file.empty() || path.line == 0) return {};
  if (!looked_) look_around();
  const auto [begin, end] = files_.equal_range(fs::path(path.file).filename().string());
  std::vector<std::string> found;
  for (auto each = begin; each != end; ++each) {
    const std::vector<std::string> all = lines_of(each->second);
    if (!says(all, path.line, word_of(path))) continue;
    std::vector<std::string> some;
    for (const uint32_t number : numbers) {
      if (number == 0 || number > all.size()) break;
      some.push_back(all[number - 1]);
    }
    if (!found.empty() && found != some) return {};  // which of them was compiled?
    found = some;
  }
  return found;
}

}  // namespace culprit::report
