// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The file is sealed, and one that is not sound has no names. Object files come in the order of
// their paths, so the same names make the same bytes.
#include "assemble/names/kept_names.h"

#include <utility>

#include "assemble/names/symbol_pack.h"
#include "base/files/guarded_path.h"

namespace culprit::assemble {
namespace {

constexpr uint64_t kLargest = uint64_t{256} << 20;
constexpr std::string_view kHead = "culprit names of a run 3\n";

}  // namespace

KeptNames KeptNames::read(const GuardedPath& file) {
  return unpack(unsealed(kHead, file.read(kLargest).value_or("")));
}

KeptNames KeptNames::unpack(std::string_view packed) {
  SymbolUnpacker unpacker(packed);
  std::map<std::string, KeptModule, std::less<>> modules;
  const auto count = unpacker.number<uint32_t>();
  for (uint32_t i = 0; i < count && !unpacker.damaged(); ++i) {
    KeptModule& module = modules[unpacker.text()];
    module.build_id = unpacker.text();
    module.symbols = unpacker.symbols();
  }
  return unpacker.damaged() ? KeptNames() : KeptNames(std::move(modules));
}

std::string KeptNames::pack() const {
  SymbolPacker packer;
  packer.number(static_cast<uint32_t>(modules_.size()));
  for (const auto& [path, module] : modules_) {
    packer.text(path);
    packer.text(module.build_id);
    packer.symbols(module.symbols);
  }
  return packer.take();
}

Result<void> KeptNames::write(const GuardedPath& file) const {
  return file.replace(sealed(kHead, pack()));
}

bool KeptNames::add(const KeptNames& more) {
  bool is_new = false;
  for (const auto& [path, module] : more.modules_) {
    const auto [at, fresh] = modules_.try_emplace(path, module);
    is_new = is_new || fresh;
    KeptModule& known = at->second;
    if (fresh || known.build_id != module.build_id) continue;
    const size_t before = known.symbols.size();
    known.symbols.insert(module.symbols.begin(), module.symbols.end());
    is_new = is_new || known.symbols.size() > before;
  }
  return is_new;
}

const KeptModule* KeptNames::find(std::string_view path) const {
  const auto found = modules_.find(path);
  return found == modules_.end() ? nullptr : &found->second;
}

}  // namespace culprit::assemble
