// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where /lib is a link to /usr/lib, lists may have either name of a file.
#include "assemble/names/debug_files/package.h"

#include <string_view>
#include <vector>

#include "base/files/regular_file.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestList = uint64_t{64} << 20;

bool has_line(std::string_view text, std::string_view line) {
  for (size_t at = 0; (at = text.find(line, at)) != text.npos; ++at) {
    const size_t end = at + line.size();
    if ((at == 0 || text[at - 1] == '\n') && (end == text.size() || text[end] == '\n')) return true;
  }
  return false;
}

std::vector<std::string> names_of(const fs::path& file) {
  std::error_code code;
  const std::string real = fs::canonical(file, code).string();
  std::vector<std::string> names = {file.string()};
  if (!code && real != names.front()) names.push_back(real);
  constexpr std::string_view kUsr = "/usr";
  for (size_t i = names.size(); i-- > 0;) {
    if (names[i].starts_with("/usr/lib")) names.push_back(names[i].substr(kUsr.size()));
  }
  return names;
}

}  // namespace

std::string package_of(const fs::path& file, const fs::path& lists) {
  if (!file.is_absolute()) return "";
  const std::vector<std::string> names = names_of(file);
  std::error_code code;
  for (fs::directory_iterator at(lists, code), end; !code && at != end; at.increment(code)) {
    if (at->path().extension() != ".list") continue;
    const auto text = read_regular_file(at->path(), Owner::anybody, kLargestList);
    if (!text) continue;
    for (const std::string& name : names) {
      if (!has_line(*text, name)) continue;
      const std::string package = at->path().stem();
      return package.substr(0, package.find(':'));
    }
  }
  return "";
}

}  // namespace culprit::assemble
