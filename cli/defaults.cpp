// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See defaults.h. A default becomes the setting's variable of this process: from there everything
// reads it that reads variables, the measured program included.

#include "cli/defaults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/files/guarded_path.h"
#include "base/log.h"
#include "base/text/did_you_mean.h"
#include "cli/installation.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("culprit");

constexpr size_t kLargestFile = 64 * 1024;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

/// "max-size" of the row max_size: as the option is spelled.
std::string name_of(const SettingText& row) {
  std::string name = row.id;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Result<std::pair<Setting, std::string>> parse_line(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == line.npos) {
    return Error{fmt::format("'{}' is no line like `sampling = 50`", line)};
  }
  std::string name(trimmed(line.substr(0, equals)));
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> known;
  for (size_t i = 0; i < kSettings.size(); ++i) {
    if (kSettings[i].handed_on) continue;
    if (name_of(kSettings[i]) == name) {
      return std::pair(Setting(i), std::string(trimmed(line.substr(equals + 1))));
    }
    known.push_back(name_of(kSettings[i]));
  }
  return Error{fmt::format("there is no setting '{}'{}", name, did_you_mean(name, known))};
}

}  // namespace

std::vector<fs::path> default_files(const Environment& environment,
                                    const fs::path& program_folder) {
  std::vector<fs::path> files;
  const auto add = [&](const fs::path& folder) {
    // The specification has relative paths ignored.
    if (folder.is_absolute()) files.push_back(folder / "culprit" / "config");
  };
  const std::string own = environment("XDG_CONFIG_HOME"), home = environment("HOME");
  add(own.empty() && !home.empty() ? fs::path(home) / ".config" : fs::path(own));
  std::string machine = environment("XDG_CONFIG_DIRS");
  if (machine.empty()) machine = "/etc/xdg";
  for (size_t begin = 0; begin <= machine.size();) {
    const size_t end = std::min(machine.find(':', begin), machine.size());
    add(machine.substr(begin, end - begin));
    begin = end + 1;
  }
  files.push_back((program_folder / ".." / "etc" / "culprit" / "config").lexically_normal());
  return files;
}

Result<std::vector<std::pair<Setting, std::string>>> parse_defaults(std::string_view text) {
  std::vector<std::pair<Setting, std::string>> given;
  for (size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty() || line.front() == '#') continue;
    auto setting = parse_line(line);
    if (!setting) return Error{fmt::format("line {}: {}", number, setting.error().sentence)};
    given.push_back(std::move(setting).value());
  }
  return given;
}

void take_defaults() {
  for (const fs::path& file : default_files(process_environment, own_folder())) {
    std::error_code code;
    const fs::path there = fs::canonical(file, code);  // people link such files from elsewhere
    if (code || !fs::is_regular_file(there, code)) continue;
    const auto text = GuardedPath::of_file(there).read(kLargestFile);
    if (!text) continue;  // another user's, perhaps: not to be read is not to be used
    const auto given = parse_defaults(*text);
    if (!given) {
      kLog.warning("the defaults in {} are not used: {}", file.string(), given.error().sentence);
      continue;
    }
    for (const auto& [setting, value] : *given) {
      setenv(variable(setting), value.c_str(), /*overwrite=*/0);
    }
  }
}

}  // namespace culprit::cli
