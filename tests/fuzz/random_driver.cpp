// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A fuzz target with a mutator of its own, without clang: changes inputs at random, and plays each
// in a child with little memory and time. It learns nothing from what it covers, so it takes much
// longer than libFuzzer to find what lies deep. `random_driver FOUND SECONDS SEED INPUTS...`
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed);

namespace {

namespace fs = std::filesystem;

constexpr rlim_t kSeconds = 20;           ///< of computing
constexpr unsigned kSecondsAsleep = 300;  ///< on a busy machine, too: it hangs
constexpr rlim_t kBytes = rlim_t{3} << 30;
constexpr size_t kLongest = 4 << 20;

std::mt19937_64 random_numbers;

size_t below(size_t limit) {
  return limit == 0 ? 0 : random_numbers() % limit;
}

[[noreturn]] void play(const std::string& bytes) {
  alarm(kSecondsAsleep);
  const rlimit limit{kBytes, kBytes}, none{0, 0}, time{kSeconds, kSeconds};
  setrlimit(RLIMIT_CPU, &time);
  setrlimit(RLIMIT_DATA, &limit);
  setrlimit(RLIMIT_CORE, &none);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::exit(0);
}

std::string changed(std::string bytes) {
  size_t size = bytes.size();
  bytes.resize(kLongest);
  auto* const data = reinterpret_cast<uint8_t*>(bytes.data());
  for (size_t i = 0; i <= below(5); ++i) {
    size = LLVMFuzzerCustomMutator(data, size, kLongest, static_cast<unsigned>(random_numbers()));
  }
  bytes.resize(size);
  return bytes;
}

std::vector<std::string> inputs_of(int argc, char** argv) {
  std::vector<std::string> inputs;
  for (int i = 4; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::erase_if(inputs, [](const std::string& input) {
    return input.empty() || input.size() > kLongest / 2;
  });
  return inputs;
}

}  // namespace

/// What libFuzzer would do to bytes: small changes, numbers at the edge, pieces moved or repeated.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  constexpr uint64_t kEdges[] = {0,
                                 1,
                                 0x7f,
                                 0xff,
                                 0x7fff,
                                 0xffff,
                                 0x7fffffff,
                                 0xffffffff,
                                 0x7fffffffffffffff,
                                 0xffffffffffffffff};
  if (size == 0) return 0;
  const size_t at = below(size), length = std::min(size - at, 1 + below(64));
  switch (below(6)) {
    case 0:
      data[at] ^= static_cast<uint8_t>(1 << below(8));
      return size;
    case 1: {
      const uint64_t edge = kEdges[below(std::size(kEdges))];
      std::memcpy(data + at, &edge, std::min(size - at, size_t{1} << below(4)));
      return size;
    }
    case 2:
      for (size_t i = 0; i < length; ++i) data[at + i] = static_cast<uint8_t>(random_numbers());
      return size;
    case 3:
      std::memmove(data + below(size - length + 1), data + at, length);
      return size;
    case 4:
      std::memmove(data + at, data + at + length, size - at - length);
      return size - length;
    default:
      if (size + length > max_size) return size;
      std::memmove(data + at + length, data + at, size - at);
      return size + length;
  }
}

int main(int argc, char** argv) {
  std::vector<std::string> inputs = inputs_of(argc, argv);
  if (argc < 5 || inputs.empty()) {
    std::puts("usage: random_driver FOUND SECONDS SEED INPUTS...");
    return 2;
  }
  const fs::path found = argv[1];
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  random_numbers.seed(std::strtoull(argv[3], nullptr, 10));
  fs::create_directories(found);
  size_t played = 0, failures = 0;
  for (; std::chrono::steady_clock::now() < end; ++played) {
    const std::string input = changed(inputs[below(inputs.size())]);
    const pid_t child = fork();
    if (child == 0) play(input);
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      constexpr size_t kMostInputs = 500;  // changes add up
      if (inputs.size() < kMostInputs && below(50) == 0) inputs.push_back(input);
      continue;
    }
    const fs::path kept = found / (std::string(argv[3]) + "." + std::to_string(played));
    std::ofstream(kept, std::ios::binary) << input;
    std::printf("%s: status %d\n", kept.c_str(), status);
    std::fflush(stdout);
    ++failures;
  }
  std::printf("%zu inputs, %zu failed\n", played, failures);
  return failures != 0 ? 1 : 0;
}
