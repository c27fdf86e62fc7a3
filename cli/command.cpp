// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See command.h. Which word is the program is known to launchers alone; here it is the first word
// behind them that is neither an option, nor an option's value, nor an argument of a helper.
#include "cli/command.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/launch/launchers.h"

namespace culprit::cli {
namespace {

struct Skipped {
  std::string_view option;
  int values;
};

// Options of launchers and helpers that are followed by values; others stand alone or hold theirs
// after '='.
constexpr auto kWithValues = std::to_array<Skipped>({
    {"-n", 1},
    {"-np", 1},
    {"-c", 1},
    {"--np", 1},
    {"-N", 1},
    {"-npernode", 1},
    {"-ppn", 1},
    {"-perhost", 1},
    {"-H", 1},
    {"-host", 1},
    {"--host", 1},
    {"-hosts", 1},
    {"-hostfile", 1},
    {"--hostfile", 1},
    {"-machinefile", 1},
    {"--machinefile", 1},
    {"-f", 1},
    {"-x", 1},
    {"-mca", 2},
    {"--mca", 2},
    {"-gmca", 2},
    {"--gmca", 2},
    {"--prtemca", 2},
    {"--pmixmca", 2},
    {"-bind-to", 1},
    {"--bind-to", 1},
    {"-map-by", 1},
    {"--map-by", 1},
    {"-rank-by", 1},
    {"--rank-by", 1},
    {"-rf", 1},
    {"-rankfile", 1},
    {"--rankfile", 1},
    {"-wdir", 1},
    {"--wdir", 1},
    {"-wd", 1},
    {"-genv", 2},
    {"-env", 2},
    {"-genvlist", 1},
    {"-envlist", 1},
    {"-output-filename", 1},
    {"--output-filename", 1},
    {"-launcher", 1},
    {"-iface", 1},
    {"-am", 1},
    {"--tune", 1},
    {"--app", 1},
    {"--prefix", 1},
    {"--timeout", 1},
    {"-npersocket", 1},
    {"--npersocket", 1},
    {"--npernode", 1},
    {"--ntasks", 1},
    {"--nodes", 1},
    {"--cpus-per-task", 1},
    {"-p", 1},
    {"--partition", 1},
    {"-A", 1},
    {"--account", 1},
    {"-t", 1},
    {"--time", 1},
    {"-w", 1},
    {"--nodelist", 1},
    {"--ntasks-per-node", 1},
    {"-o", 1},
    {"-e", 1},
    {"-J", 1},
    {"-D", 1},
    {"--chdir", 1},
    {"-d", 1},
    {"-a", 1},
    {"-r", 1},
    {"-g", 1},
    {"--mpi", 1},
    {"--export", 1},
    {"-C", 1},
    {"-m", 1},
    {"-u", 1},
    {"-k", 1},
    {"-s", 1},
});

constexpr auto kHelpers =
    std::to_array<std::string_view>({"env", "time", "nice", "ionice", "nohup", "numactl", "taskset",
                                     "timeout", "stdbuf", "setarch"});

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

bool is_launcher(const std::string& word) {
  return starts_ranks(base_name(word));
}

bool is_helper(const std::string& word) {
  const std::string name = base_name(word);
  return std::find(kHelpers.begin(), kHelpers.end(), stem_of(name)) != kHelpers.end();
}

int values_after(const std::string& option) {
  const auto it = std::find_if(kWithValues.begin(), kWithValues.end(),
                               [&](const Skipped& s) { return s.option == option; });
  return it == kWithValues.end() ? 0 : it->values;
}

/// Returns whether a word is a number, a duration or an assignment, which a helper (such as env or
/// timeout) takes as its argument, so that it is not the program.
bool is_helpers_word(const std::string& word) {
  return std::isdigit(static_cast<unsigned char>(word.front())) ||
         word.find('=') != std::string::npos;
}

/// Returns the index of the program's name among words[begin, end), which stand behind a launcher
/// if `behind`; end if there is none.
size_t find_program(const std::vector<std::string>& words, size_t begin, size_t end, bool behind) {
  bool helper = false;
  for (size_t i = begin; i < end; ++i) {
    const std::string& word = words[i];
    if (word.empty()) continue;
    if (is_launcher(word) || is_helper(word)) {
      behind = true;
      helper = is_helper(word);
    } else if (word == "--" || (helper && is_helpers_word(word))) {
      continue;
    } else if (behind && word.front() == '-') {
      i += static_cast<size_t>(values_after(word));
    } else {
      return i;
    }
  }
  return end;
}

std::vector<std::string> words_of_line(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false, quoted = false;  // a word; quotes in it
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !quoted) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (line[i] == '\\' && !quoted && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

}  // namespace

Command::Command(std::vector<std::string> words) : words_(std::move(words)) {
  const bool separates = !words_.empty() && is_launcher(words_.front());
  for (size_t begin = 0; begin <= words_.size(); begin = parts_.back().end + 1) {
    size_t end = begin;
    while (end < words_.size() && !(separates && words_[end] == ":")) ++end;
    const size_t options = std::max<size_t>(begin, 1);
    const size_t program = find_program(words_, begin, end, begin > 0);
    parts_.push_back({options, program < end ? program : options - 1, end});
  }
}

Command Command::of_line(std::string_view line) {
  return Command(words_of_line(line));
}

std::string Command::program_name() const {
  if (words_.empty()) return "program";
  std::string name = base_name(words_[program()]);
  for (char& c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+';
    if (!plain) c = '_';
  }
  return name.empty() ? "program" : name;
}

std::span<const std::string> Command::arguments_of(const std::string& program) const {
  const auto name = std::find_if(words_.begin(), words_.end(), [&](const std::string& word) {
    return base_name(word) == program;
  });
  if (name == words_.end()) return {};
  const auto index = static_cast<size_t>(name - words_.begin());
  const auto part = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& each) { return index < each.end; });
  return {name + 1, words_.begin() + static_cast<std::ptrdiff_t>(part->end)};
}

bool Command::starts_with_mpirun() const {
  constexpr std::array kOpenMpi = {std::string_view("mpirun"), std::string_view("mpiexec"),
                                   std::string_view("orterun"), std::string_view("prterun")};
  if (words_.empty()) return false;
  const std::string name = base_name(words_.front());
  return std::find(kOpenMpi.begin(), kOpenMpi.end(), stem_of(name)) != kOpenMpi.end();
}

std::string Command::line() const {
  constexpr std::string_view kPlain = "@%+=:,./-_";
  std::string line;
  for (const std::string& word : words_) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
    });
    if (!line.empty()) line += ' ';
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) c == '\'' ? line.append("'\\''") : line.append(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace culprit::cli
