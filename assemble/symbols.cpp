// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/symbols.h"

#include <algorithm>

#include "assemble/object_file.h"
#include "base/parallel.h"

namespace culprit::assemble {

void Symbols::add(const CodePlace& place) {
  auto module = modules_.find(place.module);
  if (module == modules_.end()) module = modules_.try_emplace(std::string(place.module)).first;
  module->second.try_emplace(place.offset);
}

void read_symbols(const std::string& path, std::map<uint64_t, Symbol>& symbols) {
  const ObjectFile file(path);
  for (auto& [offset, symbol] : symbols) symbol = file.symbol(offset);
}

void Symbols::resolve(unsigned threads, const SymbolSource& source) {
  std::vector<std::pair<const std::string, std::map<uint64_t, Symbol>>*> modules;
  for (auto& module : modules_) modules.push_back(&module);
  // The one with most places first, so that it is not the last to begin.
  std::sort(modules.begin(), modules.end(),
            [](auto* a, auto* b) { return a->second.size() > b->second.size(); });
  parallel_for(modules.size(), threads,
               [&](size_t i) { source(modules[i]->first, modules[i]->second); });
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
