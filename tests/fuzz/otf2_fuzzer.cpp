// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2 archives: the input is unpacked into a folder, opened and analysed. Changes are made to one
// file at a time, so that lengths stay right and the other files sound.
#include <unistd.h>

#include <cstring>
#include <random>

#include "tests/fuzz/archive_pack.h"
#include "tests/fuzz/fuzz_target.h"
#include "trace/otf2/reader.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

using namespace culprit;
namespace fs = std::filesystem;

/// In memory where the system has such a place; goes with the process.
struct Scratch {
  fs::path path = (fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
                  ("culprit-fuzz." + std::to_string(getpid()));
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Scratch scratch;
  fuzz::write_files(fuzz::unpack({data, size}), scratch.path);
  Losses losses;
  const auto source = trace::open_otf2(scratch.path / fuzz::file_name(fuzz::kAnchor), losses);
  if (!source) {
    fuzz::require_sentence(source.error());
  } else {
    fuzz::analyse(*source.value(), losses);
  }
  return 0;
}

#ifdef CULPRIT_WITH_LIBFUZZER
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937 random(seed);
  fuzz::Archive archive = fuzz::unpack({data, size});
  if (archive.empty()) return LLVMFuzzerMutate(data, size, max_size);
  // Events and definitions are what there is to understand; the other files are small.
  static constexpr uint8_t kOften[] = {0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 5, 6, 7, 7, 8, 9, 9};
  uint8_t number = kOften[random() % std::size(kOften)];
  if (!archive.contains(number)) number = archive.begin()->first;
  if (random() % 64 == 0) {
    archive.erase(number);
  } else {
    std::string& content = archive[number];
    const size_t old = content.size(), room = max_size > size ? max_size - size : 0;
    content.resize(old + std::min<size_t>(room, 64));
    auto* bytes = reinterpret_cast<uint8_t*>(content.data());
    content.resize(content.empty() ? 0 : LLVMFuzzerMutate(bytes, old, content.size()));
  }
  const std::string packed = fuzz::pack(archive);
  if (packed.size() > max_size) return size;
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}
#endif
