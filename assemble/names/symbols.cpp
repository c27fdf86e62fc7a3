// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/symbols.h"

#include <algorithm>
#include <optional>

#include "assemble/names/name_cache.h"
#include "assemble/names/object_file.h"
#include "base/parallel.h"

namespace culprit::assemble {

void Symbols::add(const CodePlace& place) {
  auto module = modules_.find(place.module);
  if (module == modules_.end()) module = modules_.try_emplace(std::string(place.module)).first;
  module->second.try_emplace(place.offset);
}

void read_symbols(const std::string& path, std::span<const OpenPlace> places) {
  ObjectFile file(path);
  for (const OpenPlace& place : places) *place.symbol = file.symbol(place.offset);
}

namespace {

/// To open a file takes as long as to look up many places in it.
constexpr size_t kWorthATask = 256;

/// One object file, and the places in it that the cache does not know.
struct Module {
  const std::string& path;
  std::map<uint64_t, Symbol>& symbols;
  std::optional<KnownNames> known;
  std::vector<OpenPlace> open;
};

void ask_cache(Module& module, const NameCache& cache) {
  module.known.emplace(cache.open(module.path));
  for (auto& [offset, symbol] : module.symbols) {
    if (const Symbol* known = module.known->find(offset)) {
      symbol = *known;
      symbol.module = base_name(module.path);
    } else {
      module.open.push_back({offset, &symbol});
    }
  }
}

void tell_cache(Module& module) {
  for (const OpenPlace& place : module.open) module.known->add(place.offset, *place.symbol);
  module.known->save();
}

/// Places of one file that lie near each other, for one thread.
struct Task {
  const Module* module;
  std::span<const OpenPlace> places;
};

/// The largest first, so that it is not the last to begin.
std::vector<Task> split(const std::vector<Module>& modules, unsigned threads) {
  std::vector<Task> tasks;
  for (const Module& module : modules) {
    const size_t count = module.open.size();
    const size_t pieces = std::clamp<size_t>(count / kWorthATask, 1, threads);
    for (size_t i = 0; i < pieces && count > 0; ++i) {
      const size_t begin = count * i / pieces;
      const size_t end = count * (i + 1) / pieces;
      tasks.push_back({&module, std::span(module.open).subspan(begin, end - begin)});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return a.places.size() > b.places.size(); });
  return tasks;
}

}  // namespace

void Symbols::resolve(unsigned threads, const SymbolSource& source, const NameCache& cache) {
  std::vector<Module> modules;
  for (auto& [path, symbols] : modules_) modules.push_back({path, symbols, {}, {}});
  parallel_for(modules.size(), threads, [&](size_t i) { ask_cache(modules[i], cache); });
  const std::vector<Task> tasks = split(modules, thread_count(threads));
  parallel_for(tasks.size(), threads,
               [&](size_t i) { source(tasks[i].module->path, tasks[i].places); });
  parallel_for(modules.size(), threads, [&](size_t i) { tell_cache(modules[i]); });
  if (!tasks.empty()) cache.trim();
}

const Symbol* Symbols::find(const CodePlace& place) const {
  const auto module = modules_.find(place.module);
  if (module == modules_.end()) return nullptr;
  const auto symbol = module->second.find(place.offset);
  return symbol == module->second.end() ? nullptr : &symbol->second;
}

bool Symbols::mostly_nameless(std::string_view module) const {
  const auto places = modules_.find(module);
  if (places == modules_.end()) return false;
  const auto named = std::count_if(places->second.begin(), places->second.end(),
                                   [](const auto& place) { return place.second.named; });
  return 2 * static_cast<size_t>(named) < places->second.size();
}

}  // namespace culprit::assemble
