// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that exist only as trampolines, of signatures that use all sorts of argument passing.
#pragma once

struct Large {
  double values[6];
};

extern "C" {
double interposed_mixed(int a, double b, long c, float d, const char* e, double f, char g, long h,
                        int i, double j, double k, double l, double m, double n, double o, long p);
double interposed_variadic(int count, ...);
Large interposed_structure(Large in, int factor);
int interposed_recursive(int depth);
}

/// How often the resolver was asked.
int resolutions();
const char* const* group_names();
unsigned group_count();
