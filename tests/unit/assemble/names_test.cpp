// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names: from linkage names to what the author wrote, and from addresses of this very program.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "assemble/names/generated/generated_code.h"
#include "assemble/names/object_file.h"
#include "assemble/names/stubs.h"
#include "assemble/names/symbols.h"
#include "assemble/names/unwind_table.h"
#include "assemble/play/regions.h"
#include "base/files/regular_file.h"

namespace culprit::assemble::test {
namespace {

TEST(ReadableName, PlainNamesStay) {
  EXPECT_EQ(readable_name("main"), "main");
  EXPECT_EQ(readable_name("solve_"), "solve_");
  EXPECT_EQ(readable_name("GOMP_parallel@GOMP_4.0"), "GOMP_parallel");
}

TEST(ReadableName, CompilersClonesAreTheFunction) {
  EXPECT_EQ(readable_name("solve.isra.0"), "solve");
  EXPECT_EQ(readable_name("solve.constprop.0.cold"), "solve");
  EXPECT_EQ(readable_name("_ZL5solveid.part.0"), "solve");
}

TEST(ReadableName, KnowsWhatIsSplitOffAFunction) {
  EXPECT_TRUE(is_split_off("solve.part.0"));
  EXPECT_TRUE(is_split_off("_ZL5solveid.part.0.constprop.1"));
  EXPECT_FALSE(is_split_off("solve.constprop.0"));
  EXPECT_TRUE(is_split_off("solve.cold.1"));  // clang calls it
  EXPECT_FALSE(is_split_off("solve.cold"));   // gcc jumps there
  EXPECT_FALSE(is_split_off("part"));
}

TEST(ReadableName, OutlinedBodiesStayRecognisable) {
  EXPECT_EQ(readable_name("main._omp_fn.0"), "main._omp_fn.0");
  EXPECT_EQ(readable_name("_Z5solvei._omp_fn.1"), "solve._omp_fn.1");
  EXPECT_EQ(readable_name("_Z5solvei.omp_outlined"), "solve.omp_outlined");
}

TEST(ReadableName, FortranModulesBecomeScopes) {
  EXPECT_EQ(readable_name("__dbcsr_mm_MOD_multiply"), "dbcsr_mm::multiply");
  EXPECT_EQ(readable_name("__m_MOD_solve.constprop.0"), "m::solve");
}

TEST(ReadableName, CxxHasNoArgumentListsAndNoReturnTypes) {
  EXPECT_EQ(readable_name("_Z5solveidPKc"), "solve");
  EXPECT_EQ(readable_name("_ZN4mesh4Grid5applyERKS0_"), "mesh::Grid::apply");
  EXPECT_EQ(readable_name("_ZNK4mesh4Grid4sizeEv"), "mesh::Grid::size");
  EXPECT_EQ(readable_name("_Z3maxIdET_S0_S0_"), "max<double>");
  EXPECT_EQ(readable_name("_ZN1AclEi"), "A::operator()");
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14stepEv"), "(anonymous namespace)::step");
}

TEST(ReadableName, LambdasAreTheirClass) {
  EXPECT_EQ(readable_name("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}");
  EXPECT_EQ(readable_name("_ZZ4mainENKUlT_E0_clIiEEDaS_"), "main::{lambda(auto:1)#2}");
  EXPECT_EQ(readable_name("_ZZZ4mainENKUliE_clEiENKUliE_clEi"),
            "main::{lambda(int)#1}::{lambda(int)#1}");
  EXPECT_EQ(readable_name("_ZZ4mainENK3$_1clEi"), "main::{lambda#2}");
  EXPECT_EQ(readable_name("_ZNK3$_0clEi"), "{lambda#1}");
  EXPECT_EQ(readable_name("_ZZ4mainENKUliE2_clEi._omp_fn.0"), "main::{lambda(int)#4}._omp_fn.0");
}

TEST(ReadableName, RustHasNoHashes) {
  EXPECT_EQ(readable_name("_ZN8b81_rust7physics7collide17he0de8e3af49b4ed9E"),
            "b81_rust::physics::collide");
  EXPECT_EQ(readable_name("_ZN56_$LT$mesh..Grid$u20$as$u20$mesh..Draw$LT$$RF$str$GT$$GT$4draw17h"
                          "0123456789abcdefE"),
            "<mesh::Grid as mesh::Draw<&str>>::draw");
  EXPECT_EQ(readable_name("_ZN4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"),
            "main::{{closure}}");
  EXPECT_EQ(readable_name("_ZN4hash8h0123456Ev"), "hash::h0123456");
}

TEST(Regions, EqualOnesAreOne) {
  Regions regions;
  const RegionId a = regions.function({"solve", "a.c", 7});
  EXPECT_EQ(regions.function({"solve", "a.c", 7}), a);
  EXPECT_NE(regions.function({"solve", "b.c", 7}), a);
  EXPECT_EQ(regions.complete().size(), 2u);
}

TEST(Regions, ConstructsAreNamedByTheirPlace) {
  Regions regions;
  Symbol line;
  line.frames.push_back({"solve", "a.c", 3});
  line.file = "a.c";
  line.line = 42;
  Symbol no_line;
  no_line.frames.push_back({"solve", "", 0});
  no_line.named = true;
  no_line.into_function = 0x1f;
  Symbol stripped = no_line;
  stripped.named = false;
  stripped.module = "app";
  stripped.address = 0x421f;
  regions.openmp("for", trace::RegionRole::worksharing, &line);
  regions.openmp("for", trace::RegionRole::worksharing, &no_line);
  regions.openmp("for", trace::RegionRole::worksharing, &stripped);
  regions.openmp("for", trace::RegionRole::worksharing, nullptr);
  const auto all = regions.complete();
  EXPECT_EQ(all[0].name, "!$omp for @a.c:42");
  EXPECT_EQ(all[1].name, "!$omp for @solve+0x1f");
  EXPECT_EQ(all[2].name, "!$omp for @app+0x421f");
  EXPECT_EQ(all[3].name, "!$omp for");
}

TEST(Regions, RolesFollowFromMpiNames) {
  Regions regions;
  for (const char* name : {"MPI_Send", "MPI_Bcast", "MPI_Barrier", "MPI_Init"}) regions.mpi(name);
  const auto all = regions.complete();
  EXPECT_EQ(all[0].role, trace::RegionRole::point_to_point);
  EXPECT_EQ(all[1].role, trace::RegionRole::collective);
  EXPECT_EQ(all[2].role, trace::RegionRole::barrier);
  EXPECT_EQ(all[3].role, trace::RegionRole::function);
}

TEST(UnwindTable, FindsTheFunctionAround) {
  // version, encodings, .eh_frame, count, then pairs of begin and entry, relative to the table
  struct {
    unsigned char head[4] = {1, 0x1b, 0x03, 0x3b};
    int32_t frame = 0;
    uint32_t count = 3;
    int32_t entries[6] = {-0x300, 0, -0x200, 0, -0x100, 0};
  } table;
  const std::span bytes(reinterpret_cast<const std::byte*>(&table), sizeof table);
  EXPECT_EQ(find_function_begin(bytes, 0x1000, 0xcff), std::nullopt);
  EXPECT_EQ(find_function_begin(bytes, 0x1000, 0xd00), 0xd00u);
  EXPECT_EQ(find_function_begin(bytes, 0x1000, 0xe80), 0xe00u);
  EXPECT_EQ(find_function_begin(bytes, 0x1000, 0xfff), 0xf00u);
  EXPECT_EQ(find_function_begin(bytes.first(8), 0x1000, 0xfff), std::nullopt);
}

/// Returns where it is called from, for looking itself up.
__attribute__((noinline)) uint64_t here() {
  return reinterpret_cast<uint64_t>(__builtin_return_address(0)) - 1;
}

TEST(ObjectFile, FindsFunctionFileAndLineOfThisProgram) {
  const uint64_t address = here();
  const uint32_t line = __LINE__ - 1;
  const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
  const auto place = map.find(address);
  ASSERT_TRUE(place);
  const Symbol symbol = ObjectFile(std::string(place->module)).symbol(place->offset);
  EXPECT_TRUE(symbol.named);
  EXPECT_NE(symbol.frames.front().function.find("FindsFunctionFileAndLine"), std::string::npos)
      << symbol.frames.front().function;
  if (symbol.line != 0) {  // built with debug information
    EXPECT_EQ(symbol.file, "names_test.cpp");
    EXPECT_EQ(symbol.line, line);
  }
}

TEST(ObjectFile, FindsWhereFunctionsAreDeclaredWhateverTheCompiler) {
  std::istringstream libraries(CULPRIT_DECLARED_BY);
  for (std::string library; std::getline(libraries, library, ':');) {
    SCOPED_TRACE(library);
    void* const handle = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    const auto address = reinterpret_cast<uint64_t>(dlsym(handle, "declared"));
    const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
    const auto place = map.find(address);
    ASSERT_TRUE(place);
    const Symbol symbol = ObjectFile(library).symbol(place->offset);
    EXPECT_EQ(symbol.frames.front().function, "declared");
    EXPECT_EQ(symbol.frames.front().file, "declared.c");
    EXPECT_EQ(symbol.frames.front().line, 6u);
    dlclose(handle);
  }
}

// Outermost first: the function, then what was inlined into it, whether its debug information lies
// in the file, is compressed, or lies in a file of its own. Intrinsics are a part of their caller.
TEST(ObjectFile, TellsInlinedFunctionsWhereverTheirDebugInformationLies) {
  std::istringstream libraries(CULPRIT_INLINED_IN);
  for (std::string library; std::getline(libraries, library, ':');) {
    SCOPED_TRACE(library);
    void* const handle = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    const auto* address = static_cast<const uint64_t*>(dlsym(handle, "mark_address"));
    ASSERT_NE(address, nullptr);
    const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
    const auto place = map.find(*address);
    ASSERT_TRUE(place);
    const Symbol symbol = ObjectFile(library).symbol(place->offset);
    std::vector<std::string> functions;
    for (const SourceFrame& frame : symbol.frames) functions.push_back(frame.function);
    EXPECT_EQ(functions,
              (std::vector<std::string>{"shape::outer", "shape::(anonymous namespace)::hidden",
                                        "shape::Square::middle", "shape::innermost<int>"}));
    EXPECT_EQ(symbol.file, "inlined.cpp");
    EXPECT_EQ(symbol.line, 16u);
    dlclose(handle);
  }
}

struct KnownLambda {
  size_t line;
  const char* around;
  const char* without_debug_info;  ///< a part of the name
};

constexpr KnownLambda kLambdas[] = {
    {28, "", "lambda"},
    {35, " in Grid::sweep", "Grid::sweep()::{lambda(int)#1}"},
    {36, " in Grid::sweep", "Grid::sweep()::{lambda(int)#2}"},
    {42, " in fill_places", "fill_places::{lambda"},
    {43, " in fill_places", "fill_places::{lambda"},
    {44, " in fill_places", "fill_places::{lambda"},
    {47, " in fill_places", "fill_places::{lambda"},
    {58, " in Mesh<3>::advance", "Mesh<3>::advance()::{lambda(int)#1}"},
};

// One lambda is one function, whether it was inlined or not, and two are two.
TEST(ObjectFile, CallsLambdasByTheirLineAndTheFunctionAround) {
  std::istringstream libraries(CULPRIT_LAMBDAS_IN);
  for (std::string library; std::getline(libraries, library, ':');) {
    SCOPED_TRACE(library);
    void* const handle = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    for (const char* fill : {"fill_places", "fill_hidden_places"}) {
      reinterpret_cast<void (*)()>(dlsym(handle, fill))();
    }
    auto* const places = static_cast<const uint64_t*>(dlsym(handle, "places"));
    const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
    ObjectFile file(library);
    for (const KnownLambda& lambda : kLambdas) {
      SCOPED_TRACE(lambda.line);
      const auto place = map.find(places[lambda.line] - 1);
      ASSERT_TRUE(place);
      const SourceFrame found = file.symbol(place->offset).frames.back();
      if (library.find("-g") == std::string::npos) {
        EXPECT_NE(found.function.find(lambda.without_debug_info), std::string::npos)
            << found.function;
        EXPECT_EQ(found.function.find("operator()"), std::string::npos) << found.function;
        continue;
      }
      EXPECT_EQ(found.function,
                "lambda at lambdas.cpp:" + std::to_string(lambda.line) + lambda.around);
      EXPECT_EQ(found.file, "lambdas.cpp");
      EXPECT_EQ(found.line, lambda.line);
    }
    dlclose(handle);
  }
}

TEST(ObjectFile, TellsTemplatesOfLambdasApart) {
  std::istringstream libraries(CULPRIT_LAMBDAS_IN);
  for (std::string library; std::getline(libraries, library, ':');) {
    if (library.find("-g-O0") == std::string::npos) continue;
    SCOPED_TRACE(library);
    std::set<std::string> names;
    ObjectFile file(library);
    for (uint64_t offset = 0; offset < 0x4000; offset += 4) {
      const std::string name = file.symbol(offset).frames.front().function;
      if (name.find("repeat<") != std::string::npos) names.insert(name);
    }
    EXPECT_EQ(names.size(), 6u) << testing::PrintToString(names);
    for (const size_t line : {28, 35, 42, 43, 44, 47}) {
      EXPECT_TRUE(names.contains(
          "(anonymous namespace)::repeat<lambda at lambdas.cpp:" + std::to_string(line) + ">"))
          << line << testing::PrintToString(names);
    }
  }
}

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

uint64_t g_called_from = 0;

/// How many places of a function are in loops that wait.
size_t places_that_spin(ObjectFile& object, const AddressMap& map, void* function) {
  Dl_info info;
  void* entry = nullptr;
  if (dladdr1(function, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr) return 0;
  const auto begin = reinterpret_cast<uint64_t>(function);
  size_t count = 0;
  for (uint64_t at = begin; at < begin + static_cast<const GElf_Sym*>(entry)->st_size; ++at) {
    const auto place = map.find(at);
    if (place && object.symbol(place->offset).spins) ++count;
  }
  return count;
}

// Whichever compiler made the loop. Of what works, no place is taken for a wait.
TEST(SpinLoop, IsToldFromLoopsThatGetOn) {
  constexpr const char* kSpin[] = {"barrier", "flag",   "pause",         "for_a_while", "lock",
                                   "until",   "asleep", "in_whole_naps", "for_work"};
  constexpr const char* kWork[] = {"naps", "whole_nap", "between_naps", "sum",   "search",
                                   "list", "increment", "fill",         "steps", "insertion"};
  std::istringstream libraries(CULPRIT_SPINS_IN);
  for (std::string library; std::getline(libraries, library, ':');) {
    SCOPED_TRACE(library);
    void* const handle = dlopen(library.c_str(), RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
    ObjectFile object(library);
    for (const std::string name : kSpin) {
      void* const function = dlsym(handle, ("spins_" + name).c_str());
      ASSERT_NE(function, nullptr);
      EXPECT_GT(places_that_spin(object, map, function), 0u) << name;
    }
    for (const std::string name : kWork) {
      void* const function = dlsym(handle, ("works_" + name).c_str());
      ASSERT_NE(function, nullptr);
      EXPECT_EQ(places_that_spin(object, map, function), 0u) << name;
    }
    dlclose(handle);
  }
}

TEST(Stubs, AreCalledWhatTheyCall) {
#if defined(__x86_64__)
  elf_version(EV_CURRENT);
  std::istringstream libraries(CULPRIT_LAMBDAS_IN);
  for (std::string library; std::getline(libraries, library, ':');) {
    if (library.find("-O0") == std::string::npos) continue;  // the others call next to nothing
    SCOPED_TRACE(library);
    const Descriptor file(open(library.c_str(), O_RDONLY | O_CLOEXEC));
    const std::unique_ptr<Elf, EndElf> elf(elf_begin(file.number(), ELF_C_READ_MMAP, nullptr));
    ASSERT_NE(elf, nullptr);
    Stubs stubs(elf.get());
    std::set<std::string> called;
    for (uint64_t address = 0; address < 0x4000; address += 4) {
      if (const auto name = stubs.called_at(address)) called.insert(*name);
    }
    EXPECT_TRUE(called.contains("_ZSt25__throw_bad_function_callv"))
        << testing::PrintToString(called);
    EXPECT_FALSE(called.contains("fill_places"));
  }
#endif
}

/// What the instruction before the address that this returns to calls: not this function, which is
/// in the same file.
__attribute__((noinline)) int compare(const void*, const void*) {
  g_called_from = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  return 0;
}

TEST(Stubs, CallsTellWhatTheyCallInOtherFiles) {
#if defined(__x86_64__)
  int two[2] = {};
  std::qsort(two, 2, sizeof *two, compare);  // is in the C library, which calls back
  void* stack[64];
  const int depth = backtrace(stack, 64);
  const AddressMap map = AddressMap::read({GuardedPath("/proc/self") / "maps"});
  std::set<std::string> called;
  for (int i = 0; i < depth; ++i) {
    const auto place = map.find(reinterpret_cast<uint64_t>(stack[i]) - 1);
    if (!place) continue;
    called.insert(ObjectFile(std::string(place->module)).symbol(place->offset).calls);
  }
  EXPECT_TRUE(called.contains("backtrace")) << testing::PrintToString(called);
  const auto within = map.find(g_called_from - 1);
  ASSERT_TRUE(within);
  EXPECT_EQ(ObjectFile(std::string(within->module)).symbol(within->offset).calls, "")
      << "it is called by its address";
#endif
}

/// What the code at an address is called by what tells of a process's generated code.
Symbol generated(const std::string& sources, uint64_t address) {
  Symbol symbol;
  const OpenPlace place{address, &symbol};
  read_symbols(sources, {&place, 1});
  return symbol;
}

TEST(GeneratedCode, IsNamedByPerfMaps) {
  const std::string path = "/tmp/perf-4194305.map";  // no process has such a number
  {
    std::ofstream out(path);
    out << "7f0000001000 40 julia_forces_12\n"
           "0x7f0000001040 0x20 LazyCompile:*step /srv/app.js:12\n"
           "7f0000001000 30 julia_flux_13\n"
           "nonsense\n7f00000020 zz\n7f0000003000 10 _ZN4mesh4Grid5applyEv";
  }
  const GuardedPath folder(std::filesystem::path(testing::TempDir()) / "no_such_folder");
  EXPECT_EQ(find_generated_code(4194305, uint64_t{1} << 62, {}, folder), "")
      << "of an earlier process";
  const std::string sources = find_generated_code(4194305, 0, {}, folder);
  ASSERT_TRUE(is_generated_code(sources));
  const std::pair<uint64_t, std::string> expected[] = {
      {0x7f0000001000, "julia_flux_13"},
      {0x7f000000102f, "julia_flux_13"},
      {0x7f0000001030, "generated code at 0x7f0000001030"},
      {0x7f0000001041, "LazyCompile:*step |srv|app.js:12"},
      {0x7f0000003002, "mesh::Grid::apply"},
  };
  for (const auto& [address, name] : expected) {
    const Symbol symbol = generated(sources, address);
    ASSERT_EQ(symbol.frames.size(), 1u);
    EXPECT_EQ(symbol.frames.front().function, name);
    EXPECT_EQ(symbol.named, name.find("generated") == std::string::npos);
  }
  std::filesystem::remove(path);
}

/// Numbers and texts as they lie in a file.
struct Bytes {
  std::string all;
  template <class Number>
  Bytes& number(Number value) {
    all.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& text(const std::string& text) {
    all.append(text).push_back('\0');
    return *this;
  }
  /// As a record of a dump of code.
  std::string record(uint32_t kind) const {
    Bytes head;
    head.number(kind).number(static_cast<uint32_t>(16 + all.size())).number(uint64_t{0});
    return head.all + all;
  }
};

std::string header_of_dump() {
  Bytes head;
  for (const uint32_t word : {0x4a695444u, 1u, 40u, 62u, 0u, 4194305u}) head.number(word);
  return head.number(uint64_t{0}).number(uint64_t{0}).all;
}

std::string made(uint64_t address, uint64_t size, const std::string& name) {
  Bytes fields;
  fields.number(uint64_t{0}).number(address).number(address).number(size).number(uint64_t{1});
  return fields.text(name).record(0);
}

TEST(GeneratedCode, IsNamedByDumps) {
  Bytes lines;
  lines.number(uint64_t{0x7000}).number(uint64_t{2});
  lines.number(uint64_t{0x7000}).number(42u).number(0u).text("/src/flux.jl");
  lines.number(uint64_t{0x7010}).number(45u).number(0u).text("\xff");
  Bytes moved;
  for (const uint64_t word : {0ul, 0x8000ul, 0x8000ul, 0xa000ul, 0x20ul, 2ul}) moved.number(word);
  const std::string dump = header_of_dump() + lines.record(2) + made(0x7000, 0x20, "flux") +
                           made(0x8000, 0x20, "old") + made(0x8000, 0x20, "step") + moved.record(1);
  const std::string path = std::filesystem::path(testing::TempDir()) / "jit-4194305.dump";
  const auto functions_in = [&](const std::string& bytes) {
    std::ofstream(path) << bytes;
    GeneratedFunctions functions;
    read_jit_dump(path, functions);
    return functions;
  };
  const GeneratedFunctions functions = functions_in(dump);
  ASSERT_EQ(functions.size(), 3u);
  EXPECT_EQ(functions.at(0x7000).name, "flux");
  EXPECT_EQ(functions.at(0x7000).end, 0x7020u);
  EXPECT_EQ(functions.at(0x7000).file, "flux.jl");
  EXPECT_EQ(functions.at(0x7000).lines.at(0x7010), 45u);
  EXPECT_EQ(functions.at(0x8000).name, "step") << "the later counts";
  EXPECT_EQ(functions.at(0xa000).name, "step") << "where it was moved to";
  // Wherever it is cut off, what is whole is read, and nothing else.
  for (size_t length = 0; length <= dump.size(); ++length) {
    EXPECT_LE(functions_in(dump.substr(0, length)).size(), 3u);
  }
  EXPECT_EQ(functions_in(dump.substr(0, dump.size() - 1)).size(), 2u);
  std::filesystem::remove(path);
}

TEST(GeneratedCode, DamagedObjectsHaveNoNames) {
  std::ifstream own("/proc/self/exe");
  std::string bytes(1 << 16, '\0');
  own.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::string path = std::filesystem::path(testing::TempDir()) / "generated.0";
  for (const size_t length : {size_t{0}, size_t{3}, size_t{64}, size_t{100}, bytes.size()}) {
    std::ofstream(path) << bytes.substr(0, length);
    GeneratedFunctions functions;
    read_generated_object(path, functions);
    EXPECT_TRUE(functions.empty()) << length;
  }
  std::filesystem::remove(path);
}

TEST(ObjectFile, MissingFilesGiveModuleAndOffset) {
  const Symbol symbol = ObjectFile("/nowhere/libgone.so").symbol(0x1234);
  EXPECT_FALSE(symbol.named);
  EXPECT_EQ(symbol.frames.front().function, "libgone.so+0x1234");
}

TEST(ObjectFile, PlacesWithoutNamesAreStillDifferentPlaces) {
  ObjectFile gone("/nowhere/libgone.so");
  EXPECT_NE(gone.symbol(0x1234).address, gone.symbol(0x5678).address);
  const std::string sources = "/nowhere/of.map\n";
  EXPECT_NE(generated(sources, 0x1000).address, generated(sources, 0x2000).address);
}

}  // namespace
}  // namespace culprit::assemble::test
