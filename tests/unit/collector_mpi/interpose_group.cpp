// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A group of trampolines and its resolver, which does its best to spoil every register that a call
// may clobber before the arguments reach their function.

#include "interpose_group.h"

#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "collector/interpose/trampolines.h"

CULPRIT_TRAMPOLINES(testing)

namespace {

std::atomic<int> resolved{0};

double mixed(int a, double b, long c, float d, const char* e, double f, char g, long h, int i,
             double j, double k, double l, double m, double n, double o, long p) {
  return a + b + static_cast<double>(c) + d + static_cast<double>(strlen(e)) + f + g +
         static_cast<double>(h) + i + j + k + l + m + n + o + static_cast<double>(p);
}

double variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += va_arg(list, double);
  va_end(list);
  return sum;
}

Large structure(Large in, int factor) {
  for (double& value : in.values) value *= factor;
  return in;
}

int recursive(int depth) {
  return depth == 0 ? 0 : 1 + interposed_recursive(depth - 1);
}

void* const kTargets[] = {reinterpret_cast<void*>(&mixed), reinterpret_cast<void*>(&variadic),
                          reinterpret_cast<void*>(&structure), reinterpret_cast<void*>(&recursive)};

}  // namespace

int resolutions() {
  return resolved;
}
const char* const* group_names() {
  return culprit_names_testing;
}
unsigned group_count() {
  return culprit_count_testing;
}

void* culprit_resolve_testing(unsigned index) {
  ++resolved;
  char scratch[256];
  snprintf(scratch, sizeof scratch, "%f %f %f %d %d %d %d %d %d", std::sin(1.0 * index),
           std::cos(2.0 * index), 3.0, 1, 2, 3, 4, 5, 6);
  return kTargets[index];
}
