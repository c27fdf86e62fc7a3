/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A detached task (built by gcc): LLVM's runtime ignores the clause in such programs and crashes
   when the event comes, so they must stay on libgomp. */
#include <omp.h>
#include <stdio.h>

int main(void) {
  int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
    done = 1;
    omp_fulfill_event(event);
#pragma omp taskwait
  }
  printf("%d\n", done);
  return 0;
}
