// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Prints the transcripts of an experiment's processes, by rank: for writing an expectation.
#include <iostream>

#include "transcript.h"

int main(int argc, char** argv) try {
  if (argc != 2) return 1;
  for (const auto& run : culprit::tests::read_raw(argv[1])) {
    for (const auto& [thread, log] : run.threads) {
      std::cout << "# rank " << run.process.world_rank << " thread " << thread << "\n";
      for (const std::string& line : culprit::tests::transcript(log)) std::cout << line << "\n";
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
