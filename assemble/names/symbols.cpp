// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The kept and the cached names are searched first, library by library. The rest is looked up in
// slices, the largest first, in parallel: most time goes into reading debug information.
#include "assemble/names/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "assemble/names/debug_files/debug_servers.h"
#include "assemble/names/generated/generated_code.h"
#include "assemble/names/kept_names.h"
#include "assemble/names/name_cache.h"
#include "assemble/names/object_file.h"
#include "base/parallel.h"
#include "base/progress/progress.h"

namespace culprit::assemble {

void Symbols::add(const CodePlace& place) {
  auto module = modules_.find(place.module);
  if (module == modules_.end()) module = modules_.try_emplace(std::string(place.module)).first;
  module->second.symbols.try_emplace(place.offset);
}

void read_symbols(const std::string& path, std::span<const OpenPlace> places) {
  if (is_generated_code(path)) return read_generated_code(path, places);
  ObjectFile file(path);
  for (const OpenPlace& place : places) *place.symbol = file.symbol(place.offset);
}

namespace {

/// To open a file takes as long as to look up many places in it.
constexpr size_t kWorthATask = 256;

/// One object file, and the places in it that are still unnamed.
struct Search {
  const std::string& path;
  std::string& build_id;
  std::map<uint64_t, Symbol>& symbols;
  std::optional<KnownNames> known;
  std::vector<OpenPlace> open;
};

/// A symbol for a place of which only the position is known.
Symbol nameless(const std::string& path, uint64_t offset) {
  Symbol symbol;
  symbol.module = base_name(path);
  symbol.address = offset;
  symbol.frames.push_back({fmt::format("{}+{:#x}", symbol.module, offset), "", 0});
  return symbol;
}

const Symbol* find_in(const KeptModule* kept, uint64_t offset) {
  if (kept == nullptr) return nullptr;
  const auto symbol = kept->symbols.find(offset);
  return symbol == kept->symbols.end() ? nullptr : &symbol->second;
}

void ask_kept_and_cache(Search& search, const KeptNames& names, const NameCache& cache) {
  const KeptModule* const kept = names.find(search.path);
  search.build_id = build_id_of(search.path);
  const bool is_what_ran = kept == nullptr || kept->build_id == search.build_id;
  if (!is_what_ran) search.build_id = kept->build_id;
  search.known.emplace(is_what_ran ? cache.open(search.build_id) : KnownNames({}));
  for (auto& [offset, symbol] : search.symbols) {
    const Symbol* const before = find_in(kept, offset);
    const Symbol* const known = search.known->find(offset);
    if (before != nullptr && (before->from_debug_info || !is_what_ran)) {
      symbol = *before;
    } else if (known != nullptr) {
      symbol = *known;
    } else if (is_what_ran) {
      search.open.push_back({offset, &symbol});
      continue;
    } else {
      symbol = nameless(search.path, offset);
    }
    symbol.module = base_name(search.path);
  }
}

/// False if their time was up.
bool ask_servers(const std::vector<Search>& searches, const DebugServers& servers) {
  if (!servers.may_be_asked()) return true;
  std::vector<std::string> builds;
  for (const Search& search : searches) {
    const bool is_open = !search.open.empty() && !search.build_id.empty();
    if (is_open && !has_debug_info(search.path)) builds.push_back(search.build_id);
  }
  return !servers.fetch(builds).out_of_time;
}

void tell_cache(Search& search) {
  for (const OpenPlace& place : search.open) search.known->add(place.offset, *place.symbol);
  search.known->save();
}

/// Places of one file that lie near each other, for one thread.
struct Task {
  const Search* search;
  std::span<const OpenPlace> places;
};

/// The largest first, so that it is not the last to begin.
std::vector<Task> split(const std::vector<Search>& searches, unsigned threads) {
  std::vector<Task> tasks;
  for (const Search& search : searches) {
    const size_t count = search.open.size();
    const size_t pieces = std::clamp<size_t>(count / kWorthATask, 1, threads);
    for (size_t i = 0; i < pieces && count > 0; ++i) {
      const size_t begin = count * i / pieces;
      const size_t end = count * (i + 1) / pieces;
      tasks.push_back({&search, std::span(search.open).subspan(begin, end - begin)});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return a.places.size() > b.places.size(); });
  return tasks;
}

}  // namespace

bool Symbols::resolve(unsigned threads, const SymbolSource& source, const NameCache& cache,
                      const KeptNames& kept, const DebugServers& servers) {
  std::vector<Search> searches;
  for (auto& [path, module] : modules_) {
    searches.push_back({path, module.build_id, module.symbols, {}, {}});
  }
  parallel_for(searches.size(), threads,
               [&](size_t i) { ask_kept_and_cache(searches[i], kept, cache); });
  const bool in_time = ask_servers(searches, servers);
  // Or elfutils asks them for each build that the records name, and waits 90 s for each answer.
  unsetenv("DEBUGINFOD_URLS");
  const std::vector<Task> tasks = split(searches, thread_count(threads));
  progress::Progress progress(progress::Stage::names, tasks.size());
  parallel_for(tasks.size(), threads, [&](size_t i) {
    source(tasks[i].search->path, tasks[i].places);
    progress.step();
  });
  parallel_for(searches.size(), threads, [&](size_t i) { tell_cache(searches[i]); });
  if (!tasks.empty()) cache.trim();
  return in_time;
}

void Symbols::take(const KeptNames& names) {
  for (const auto& [path, module] : names.modules()) {
    Module& own = modules_[path];
    own.build_id = module.build_id;
    for (const auto& [offset, symbol] : module.symbols) {
      Symbol& taken = own.symbols[offset] = symbol;
      taken.module = base_name(path);
    }
  }
}

KeptNames Symbols::kept() const {
  std::map<std::string, KeptModule, std::less<>> kept;
  for (const auto& [path, module] : modules_) kept[path] = {module.build_id, module.symbols};
  return KeptNames(std::move(kept));
}

const Symbol* Symbols::find(const CodePlace& place) const {
  const auto module = modules_.find(place.module);
  if (module == modules_.end()) return nullptr;
  const auto& symbols = module->second.symbols;
  const auto symbol = symbols.find(place.offset);
  return symbol == symbols.end() ? nullptr : &symbol->second;
}

bool Symbols::mostly_nameless(std::string_view module) const {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return false;
  const auto& symbols = found->second.symbols;
  const auto named = std::count_if(symbols.begin(), symbols.end(),
                                   [](const auto& place) { return place.second.named; });
  return 2 * static_cast<size_t>(named) < symbols.size();
}

}  // namespace culprit::assemble
