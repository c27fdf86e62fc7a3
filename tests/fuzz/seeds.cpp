// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Writes what fuzzing begins with into a folder: archives, small synthetic traces of every pattern
// and one with every kind of record; in folders/ experiments, made by hand, and the small real ones
// that are named. `fuzz_seeds FOLDER [EXPERIMENT...]`
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/bench/generate/generate.h"
#include "tests/fuzz/archive_pack.h"
#include "tests/fuzz/folder_seeds.h"
#include "tests/unit/trace/otf2_fixture.h"

namespace {

/// OTF2 clears a whole chunk for each file that it opens, which is most of the time with files as
/// small as these: let chunks be as small as can be. Their sizes stand behind one another, 64 bits.
void shrink_chunks(std::string& anchor) {
  constexpr size_t kSizesAt = 12;
  constexpr uint64_t kSmallest = 256 << 10;
  for (size_t i = 0; i < 16; ++i) {
    anchor.at(kSizesAt + i) = static_cast<char>(kSmallest >> (8 * (i % 8)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  using namespace culprit;
  if (argc < 2) {
    std::puts("usage: fuzz_seeds FOLDER [EXPERIMENT...]");
    return 2;
  }
  const fs::path folder = argv[1];
  fs::create_directories(folder);
  const trace::TemporaryFolder scratch;
  const auto keep = [&](const std::string& name) {
    fuzz::Archive archive = fuzz::read_files(scratch.path() / name);
    shrink_chunks(archive[fuzz::kAnchor]);
    std::ofstream(folder / name, std::ios::binary) << fuzz::pack(archive);
  };
  for (const bench::PatternKind& kind : bench::pattern_kinds()) {
    const std::string name(kind.name);
    bench::generate(scratch.path() / name, kind, {.ranks = 2, .threads = 2, .iterations = 3});
    if (kind.name != "deep_paths") keep(name);
  }
  trace::write_rich_archive(scratch.path() / "rich");
  keep("rich");
  fs::create_directories(folder / "folders");
  fuzz::write_folder_seeds(folder / "folders", scratch.path() / "folders");
  for (int i = 2; i < argc; ++i) {
    fuzz::write_folder_seed(argv[i], folder / "folders", scratch.path() / "real");
  }
}
