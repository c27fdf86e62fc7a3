/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the program `survive` share. Each case is a function with a name; cases are
 * gathered in tables, one a file. */
#pragma once

/* Called when libraries are unloaded (last.c). */
extern "C" void (*survive_last)(void);

namespace survive {

struct Case {
  const char* name;
  void (*run)();
};

/* Each ends with an entry without a name. */
extern const Case kEndings[];
extern const Case kProcesses[];
extern const Case kThreads[];
extern const Case kResources[];
extern const Case kSignals[];
extern const Case kClaims[];
extern const Case kConfined[];
extern const Case kExchange[];
extern const Case kFinalize[];

/* The arguments that the program was started with, and whether it uses MPI. */
extern char** g_argv;
extern bool g_uses_mpi;

/* Two threads of a parallel region compute for some 20 ms each. */
void compute();
/* The same for the calling thread alone. */
void burn(int milliseconds);
/* One line on stdout, at once. */
void say(const char* what);

}  // namespace survive
