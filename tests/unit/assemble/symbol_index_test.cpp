// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the index says of this very program and of the C library, beside what libdwfl says, which
// looks at every symbol for every address.
#include "assemble/names/symbol_index.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace culprit::assemble {
namespace {

const Dwfl_Callbacks kCallbacks = {
    .find_elf = nullptr,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

class File {
 public:
  explicit File(const std::string& path) : dwfl_(dwfl_begin(&kCallbacks), dwfl_end) {
    dwfl_report_begin(dwfl_.get());
    module = dwfl_report_offline(dwfl_.get(), "file", path.c_str(), -1);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  }
  Dwfl_Module* module = nullptr;

  /// Where each of about `most` symbols begins, a byte behind that, and a byte behind its end.
  std::vector<uint64_t> addresses(int most) const {
    const int count = dwfl_module_getsymtab(module);
    std::vector<uint64_t> all;
    for (int i = 1; i < count; i += std::max(count / most, 1)) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      GElf_Word section = 0;
      dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
      if (section == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      for (const uint64_t into : {uint64_t{0}, uint64_t{1}, uint64_t{symbol.st_size}}) {
        all.push_back(address + into);
      }
    }
    return all;
  }

 private:
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> dwfl_;
};

std::string c_library() {
  Dl_info info = {};
  dladdr(reinterpret_cast<void*>(&std::fclose), &info);
  return info.dli_fname;
}

class SymbolIndexAndLibdwfl : public testing::TestWithParam<std::string> {};

TEST_P(SymbolIndexAndLibdwfl, Agree) {
  const File file(GetParam());
  ASSERT_NE(file.module, nullptr);
  const SymbolIndex index(file.module);
  size_t named = 0;
  for (const uint64_t address : file.addresses(300)) {
    GElf_Off into = 0;
    GElf_Sym symbol = {};
    const char* const name =
        dwfl_module_addrinfo(file.module, address, &into, &symbol, nullptr, nullptr, nullptr);
    const auto found = index.at(address);
    if (name == nullptr || into >= symbol.st_size) continue;  // a label, or nothing
    ++named;
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->begin, address - into) << name << ", " << found->name;
    EXPECT_STREQ(found->name, name);
  }
  EXPECT_GT(named, 100u);
}

INSTANTIATE_TEST_SUITE_P(Files, SymbolIndexAndLibdwfl,
                         testing::Values("/proc/self/exe", c_library()),
                         [](const auto& one) { return one.index == 0 ? "program" : "library"; });

TEST(SymbolIndex, HasNothingWhereNothingIs) {
  EXPECT_FALSE(SymbolIndex().at(0).has_value());
  const File file(c_library());
  const SymbolIndex index(file.module);
  for (const uint64_t address : {uint64_t{0}, UINT64_MAX}) {
    const auto found = index.at(address);
    EXPECT_FALSE(found.has_value()) << found->name << ' ' << found->begin << ' ' << found->size;
  }
}

}  // namespace
}  // namespace culprit::assemble
