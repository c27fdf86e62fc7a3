// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

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
  const std::string all = file.read(kLargest).value_or("");
  SymbolUnpacker unpacker(unsealed(kHead, all));
  std::map<std::string, KeptModule, std::less<>> modules;
  const auto count = unpacker.number<uint32_t>();
  for (uint32_t i = 0; i < count && !unpacker.damaged(); ++i) {
    KeptModule& module = modules[unpacker.text()];
    module.build_id = unpacker.text();
    module.symbols = unpacker.symbols();
  }
  return unpacker.damaged() ? KeptNames() : KeptNames(std::move(modules));
}

Result<void> KeptNames::write(const GuardedPath& file) const {
  SymbolPacker packer;
  packer.number(static_cast<uint32_t>(modules_.size()));
  for (const auto& [path, module] : modules_) {
    packer.text(path);
    packer.text(module.build_id);
    packer.symbols(module.symbols);
  }
  return file.replace(sealed(kHead, packer.take()));
}

const KeptModule* KeptNames::find(std::string_view path) const {
  const auto found = modules_.find(path);
  return found == modules_.end() ? nullptr : &found->second;
}

}  // namespace culprit::assemble
