// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See launch_environment.h. Open MPI takes names to carry in two ways that exclude each other: -x
// on its command line, and a variable. The variable does no harm to other launchers, so it is what
// culprit uses; where the command line has -x already (which only Open MPI knows), further -x go
// beside it. Slurm carries everything unless a list is given, by srun's --export, or by the
// variable that `sbatch --export` leaves to the sruns in its script: culprit's names join the list.

#include "cli/launch/launch_environment.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace culprit::cli {
namespace {

constexpr std::string_view kCarryList = "OMPI_MCA_mca_base_env_list";
constexpr std::string_view kCarryDelimiter = "OMPI_MCA_mca_base_env_list_delimiter";
constexpr std::string_view kSlurmExport = "SLURM_EXPORT_ENV";

class Variables {
 public:
  explicit Variables(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  std::string get(std::string_view name) const {
    const auto it = find(name);
    return it == entries_.end() ? "" : it->substr(name.size() + 1);
  }
  void set(std::string_view name, const std::string& value) {
    const auto it = find(name);
    std::string entry = std::string(name) + "=" + value;
    if (it == entries_.end()) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[static_cast<size_t>(it - entries_.begin())] = std::move(entry);
    }
  }
  std::vector<std::string> take() && { return std::move(entries_); }

 private:
  std::vector<std::string>::const_iterator find(std::string_view name) const {
    return std::find_if(entries_.begin(), entries_.end(), [&](const std::string& entry) {
      return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
    });
  }
  std::vector<std::string> entries_;
};

/// Whether one of the programs that mpirun starts side by side has an option -x.
bool has_option_x(const Command& command) {
  const auto begin = command.words().begin();
  return std::any_of(command.parts().begin(), command.parts().end(),
                     [&](const Command::Part& part) {
                       return part.options < part.program &&
                              std::find(begin + static_cast<std::ptrdiff_t>(part.options),
                                        begin + static_cast<std::ptrdiff_t>(part.program),
                                        "-x") != begin + static_cast<std::ptrdiff_t>(part.program);
                     });
}

/// Each program's options then begin with ours.
void carry_to_remote_ranks(Launch& launch, const Command& command, Variables& variables,
                           const std::vector<std::string_view>& names) {
  if (has_option_x(command)) {
    std::vector<std::string> options;
    for (const std::string_view name : names)
      options.insert(options.end(), {"-x", std::string(name)});
    const auto parts = command.parts();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      launch.command.insert(launch.command.begin() + static_cast<std::ptrdiff_t>(part->options),
                            options.begin(), options.end());
    }
    return;
  }
  const std::string given = variables.get(kCarryDelimiter);
  const std::string delimiter = given.empty() ? ";" : given;
  std::string list = variables.get(kCarryList);
  for (const std::string_view name : names) {
    if (!list.empty()) list += delimiter;
    list += name;
  }
  variables.set(kCarryList, list);
}

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

/// Returns Slurm's export list with our names added. Values in it may contain quoted commas, so it
/// is not split.
std::string with_ours(const std::string& exported, const std::vector<std::string_view>& names) {
  const std::string said = in_capitals(exported);
  if (said.empty() || said == "ALL" || said.starts_with("ALL,") || said.ends_with(",ALL") ||
      said.find(",ALL,") != said.npos) {
    return exported;
  }
  std::string list = said == "NONE" || said == "NIL" ? "" : exported;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ',';
    list += name;
  }
  return list;
}

void carry_through_slurm(Launch& launch, size_t program, Variables& variables,
                         const std::vector<std::string_view>& names) {
  const std::string inherited = variables.get(kSlurmExport);
  if (!inherited.empty()) variables.set(kSlurmExport, with_ours(inherited, names));
  constexpr std::string_view kOption = "--export";
  for (size_t i = 0; i < program; ++i) {
    std::string& word = launch.command[i];
    if (word == kOption && i + 1 < program) {
      launch.command[i + 1] = with_ours(launch.command[i + 1], names);
    } else if (word.starts_with(kOption) && word.size() > kOption.size() &&
               word[kOption.size()] == '=') {
      word.replace(kOption.size() + 1, word.npos,
                   with_ours(word.substr(kOption.size() + 1), names));
    }
  }
}

/// gcc's AddressSanitizer starts no program in which a library, such as ours, is loaded before its
/// own; it stands in for what that one forwards as well as for what the program calls. It takes the
/// thread-local data of libraries that are loaded later, as libomp is, for anything, and its leak
/// check ends there; the data is found without that, too. False if the command sets the options by
/// itself, so that there is nothing to carry.
bool make_room_for_sanitizers(Launch& launch, size_t program, Variables& variables) {
  constexpr std::string_view kName = "ASAN_OPTIONS";
  constexpr std::string_view kOptions = "verify_asan_link_order=0:intercept_tls_get_addr=0";
  const std::string given = variables.get(kName);
  variables.set(kName, (given.empty() ? "" : given + ":") + std::string(kOptions));
  bool carries = true;
  for (size_t i = 0; i < program; ++i) {
    std::string& word = launch.command[i];
    if (!word.starts_with(kName) || word.size() == kName.size() || word[kName.size()] != '=') {
      continue;
    }
    word += ":" + std::string(kOptions);
    carries = false;
  }
  return carries;
}

}  // namespace

Launch prepare_launch(const Command& command, const LaunchSettings& settings,
                      const std::vector<std::string>& environment) {
  Launch launch{command.words(), {}};
  Variables variables(environment);
  const std::string preloaded = variables.get("LD_PRELOAD");
  variables.set("LD_PRELOAD",
                settings.preload.string() + (preloaded.empty() ? "" : ":" + preloaded));
  std::vector<std::string_view> names = {"LD_PRELOAD"};
  for (const auto& [setting, value] : settings.settings) {
    variables.set(variable(setting), value);
    names.emplace_back(variable(setting));
  }
  for (size_t i = 0; i < kProbes.size(); ++i) {
    const ProbeText& probe = kProbes[i];
    const std::string others = variables.get(probe.variable);
    if (settings.probes[i].empty() || (!others.empty() && !probe.beside_others)) continue;
    variables.set(probe.variable,
                  (others.empty() ? "" : others + ":") + settings.probes[i].string());
    names.emplace_back(probe.variable);
  }
  if (make_room_for_sanitizers(launch, command.program(), variables)) {
    names.emplace_back("ASAN_OPTIONS");
  }
  carry_through_slurm(launch, command.program(), variables, names);
  if (command.starts_with_mpirun()) carry_to_remote_ranks(launch, command, variables, names);
  launch.environment = std::move(variables).take();
  return launch;
}

std::vector<std::string> inherited_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace culprit::cli
