// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Plays the kept inputs of one fuzz target, among them all that ever made it fail. Each runs in a
// child with little memory and time: `regression_test FOLDER...`
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"

namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 10;
constexpr rlim_t kBytes = rlim_t{2} << 30;

std::vector<fs::path> files_of(int argc, char** argv) {
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : fs::directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

[[noreturn]] void play(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  alarm(kSeconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{kBytes, kBytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> files = files_of(argc, argv);
  int failures = 0;
  for (const fs::path& file : files) {
    const pid_t child = fork();
    if (child == 0) play(file);
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    std::printf("%s: status %d\n", file.c_str(), status);
    ++failures;
  }
  std::printf("%zu inputs, %d failed\n", files.size(), failures);
  return failures != 0 || files.empty() ? 1 : 0;
}
