// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// The same for teams: regions too short to be worth a team, and memory that is given back each
// time.
#define TRUTH_NO_MPI
#include <omp.h>

#include "truth.h"

enum { REGIONS = 2000, BLOCK = 32 << 20, PAGE = 4096 };

static volatile double result;

TRUTH_LOUD static double one_row(void) {
  double x = 1;
  for (int i = 0; i < 400; ++i) x = x * 1.0000001 + 1e-9;
  return x;
}

TRUTH_LOUD static void top_rows(int threads) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int row = 0; row < 1; ++row) result = one_row();
}

static void short_regions(void) {
  for (int i = 0; i < REGIONS * truth_rounds; ++i) top_rows(2);
}
static void short_regions_mended(void) {
  for (int i = 0; i < REGIONS * truth_rounds; ++i) top_rows(1);
}

TRUTH_LOUD static void assemble(char* kept) {
  char* block = kept != NULL ? kept : malloc(BLOCK);
  for (long i = 0; i < BLOCK; i += PAGE) block[i] = (char)i;
  result = block[PAGE];
  if (kept == NULL) free(block);
}

static void page_faults(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 8 * truth_rounds; ++i) assemble(NULL);
}
static void page_faults_mended(void) {
#pragma omp parallel num_threads(2)
  {
    char* const kept = malloc(BLOCK);
    for (int i = 0; i < 1000 * truth_rounds; ++i) assemble(kept);  // the first has faults, too
    free(kept);
  }
}

static const struct truth_case cases[] = {
    {"short_regions", short_regions},
    {"short_regions_mended", short_regions_mended},
    {"page_faults", page_faults},
    {"page_faults_mended", page_faults_mended},
};

int main(int argc, char** argv) {
  void (*run)(void) = truth_choose(argc, argv, cases, (int)(sizeof cases / sizeof *cases));
  run();
  truth_write_account();
  return 0;
}
