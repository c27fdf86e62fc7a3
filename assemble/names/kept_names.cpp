// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/names/kept_names.h"

#include <fmt/format.h>

#include <utility>

#include "assemble/names/symbol_pack.h"
#include "base/regular_file.h"

namespace culprit::assemble {
namespace {

constexpr std::string_view kHead = "culprit names of a run 1\n";

}  // namespace

KeptNames KeptNames::read(const std::filesystem::path& file) {
  const std::string all = read_regular_file(file, Owner::anybody).value_or("");
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

Result<void> KeptNames::write(const std::filesystem::path& file) const {
  SymbolPacker packer;
  packer.number(static_cast<uint32_t>(modules_.size()));
  for (const auto& [path, module] : modules_) {
    packer.text(path);
    packer.text(module.build_id);
    packer.symbols(module.symbols);
  }
  if (write_whole(file, sealed(kHead, packer.take()))) return {};
  return Error{fmt::format("cannot write {}", file.string())};
}

const KeptModule* KeptNames::find(std::string_view path) const {
  const auto found = modules_.find(path);
  return found == modules_.end() ? nullptr : &found->second;
}

}  // namespace culprit::assemble
