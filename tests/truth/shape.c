// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// How ranks are wired: rings, shifts along a line, halos in one to three dimensions, gathers with
// an answer, chains; two causes at once, wrappers around MPI, recursion, what comes before and
// after all else.
#include "truth.h"

#define LARGE (1 << 18)
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int box[8 * LARGE], out[8 * LARGE];

TAKES_TIME(late)
TAKES_TIME(first_cause)
TAKES_TIME(second_cause)
TAKES_TIME(compute)
TAKES_TIME(read_input)
TAKES_TIME(write_output)
TAKES_TIME(assign_work)

// --- exchanges with two neighbours ---

static int right(void) {
  return (rank + 1) % size;
}
static int left(void) {
  return (rank + size - 1) % size;
}

static void by_sendrecv(int to, int from, int count) {
  TIMED(MPI_Sendrecv(out, count, MPI_INT, to, 0, box, count, MPI_INT, from, 0, WORLD, IGNORE));
}

static void ring_sendrecv(void) {
  ROUNDS {
    if (rank == 0) late(truth_ms);
    TIMED(MPI_Sendrecv(out, 1, MPI_INT, right(), 0, box, 1, MPI_INT, left(), 0, WORLD, IGNORE));
  }
}

static void ring_large(void) {
  ROUNDS {
    if (rank == 0) late(truth_ms);
    TIMED(MPI_Sendrecv(out, LARGE, MPI_INT, right(), 0, box, LARGE, MPI_INT, left(), 0, WORLD,
                       IGNORE));
  }
}

static void ring_replace(void) {
  ROUNDS {
    if (rank == 0) late(truth_ms);
    TIMED(MPI_Sendrecv_replace(box, 1, MPI_INT, right(), 0, left(), 0, WORLD, IGNORE));
  }
}

static void ring_isend(void) {
  ROUNDS {
    MPI_Request request;
    if (rank == 0) late(truth_ms);
    MPI_Isend(out, 1, MPI_INT, right(), 0, WORLD, &request);
    TIMED(MPI_Recv(box, 1, MPI_INT, left(), 0, WORLD, IGNORE));
    TIMED(MPI_Wait(&request, IGNORE));
  }
}

static void ring_waitall(void) {
  ROUNDS {
    MPI_Request requests[2];
    if (rank == 0) late(truth_ms);
    MPI_Irecv(box, 1, MPI_INT, left(), 0, WORLD, &requests[0]);
    MPI_Isend(out, 1, MPI_INT, right(), 0, WORLD, &requests[1]);
    TIMED(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
}

static void ring_neighbours(void) {
  MPI_Comm ring;
  MPI_Cart_create(WORLD, 1, (int[]){size}, (int[]){1}, 0, &ring);
  ROUNDS {
    if (rank == 0) late(truth_ms);
    TIMED(MPI_Neighbor_alltoall(out, 1, MPI_INT, box, 1, MPI_INT, ring));
  }
  MPI_Comm_free(&ring);
}

// Each rank is late in its turn: the function is to blame, on all ranks alike.
static void ring_moving(void) {
  ROUNDS {
    if (round % size == rank) late(truth_ms);
    by_sendrecv(right(), left(), 1);
  }
}

TRUTH_LOUD static void exchange_halo(void) {
  by_sendrecv(right(), left(), 1);
}
TRUTH_LOUD static void communicate(void) {
  exchange_halo();
}

static void ring_wrapper(void) {
  ROUNDS {
    if (rank == 0) late(truth_ms);
    communicate();
  }
}

// --- halos on a grid ---

static void by_requests(const int* neighbours, int count, int length) {
  MPI_Request requests[12];
  for (int i = 0; i < count; ++i) {
    MPI_Irecv(box + i, length, MPI_INT, neighbours[i], i ^ 1, WORLD, &requests[i]);
  }
  for (int i = 0; i < count; ++i) {
    MPI_Isend(out + i, length, MPI_INT, neighbours[i], i, WORLD, &requests[count + i]);
  }
  TIMED(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
}

static void by_shifts(const int* neighbours, int count, int length) {
  for (int i = 0; i < count; i += 2) {
    by_sendrecv(neighbours[i + 1], neighbours[i], length);
    by_sendrecv(neighbours[i], neighbours[i + 1], length);
  }
}

// A grid of `dimensions`, open at its edges; rank `who` is late.
static void halo(int dimensions, int who, int length, void (*exchange)(const int*, int, int)) {
  int extents[3] = {0, 0, 0}, neighbours[6];
  MPI_Comm grid;
  MPI_Dims_create(size, dimensions, extents);
  MPI_Cart_create(WORLD, dimensions, extents, (int[]){0, 0, 0}, 0, &grid);
  for (int d = 0; d < dimensions; ++d) {
    MPI_Cart_shift(grid, d, 1, &neighbours[2 * d], &neighbours[2 * d + 1]);
  }
  ROUNDS {
    if (rank == who) late(truth_ms);
    exchange(neighbours, 2 * dimensions, length);
  }
  MPI_Comm_free(&grid);
}

static void line_sendrecv(void) {
  halo(1, 1, 1, by_shifts);
}
static void line_waitall(void) {
  halo(1, 1, 1, by_requests);
}
static void halo2_sendrecv(void) {
  halo(2, 2, 1, by_shifts);
}
static void halo2_waitall(void) {
  halo(2, 2, 1, by_requests);
}
static void halo2_large(void) {
  halo(2, 2, 20000, by_requests);
}
static void halo3_sendrecv(void) {
  halo(3, 5, 1, by_shifts);
}
static void halo3_waitall(void) {
  halo(3, 5, 1, by_requests);
}

// Even ranks send first, odd ones receive first, along a line.
static void odd_even(void) {
  const int partners[2] = {rank % 2 == 0 ? rank + 1 : rank - 1,
                           rank % 2 == 0 ? rank - 1 : rank + 1};
  ROUNDS {
    if (rank == 2) late(truth_ms);
    for (int i = 0; i < 2; ++i) {
      const int partner = partners[i];
      if (partner < 0 || partner >= size) continue;
      if (rank % 2 == 0) MPI_Send(out, 1, MPI_INT, partner, 0, WORLD);
      TIMED(MPI_Recv(box, 1, MPI_INT, partner, 0, WORLD, IGNORE));
      if (rank % 2 != 0) MPI_Send(out, 1, MPI_INT, partner, 0, WORLD);
    }
  }
}

// --- one for all ---

static void gather_waitall_bcast(void) {
  MPI_Request requests[8];
  ROUNDS {
    if (rank == 2) late(truth_ms);
    if (rank == 0) {
      for (int i = 1; i < size; ++i) MPI_Irecv(box + i, 1, MPI_INT, i, 0, WORLD, &requests[i - 1]);
      TIMED(MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE));
    } else {
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    }
    TIMED(MPI_Bcast(box, 1, MPI_INT, 0, WORLD));
  }
}

static void gather_recv_bcast(void) {
  ROUNDS {
    if (rank == 2) late(truth_ms);
    if (rank == 0) {
      for (int i = 1; i < size; ++i) TIMED(MPI_Recv(box, 1, MPI_INT, i, 0, WORLD, IGNORE));
    } else {
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    }
    TIMED(MPI_Bcast(box, 1, MPI_INT, 0, WORLD));
  }
}

// Workers ask, the master takes its time for each answer.
static void master_worker(void) {
  MPI_Status status;
  ROUNDS {
    if (rank == 0) {
      for (int i = 1; i < size; ++i) {
        TIMED(MPI_Recv(box, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, &status));
        assign_work(truth_ms);
        MPI_Send(out, 1, MPI_INT, status.MPI_SOURCE, 1, WORLD);
      }
    } else {
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
      TIMED(MPI_Recv(box, 1, MPI_INT, 0, 1, WORLD, IGNORE));
    }
  }
}

// --- chains ---

static void chain(void) {
  ROUNDS {
    if (rank == 0) late(truth_ms);
    if (rank > 0) TIMED(MPI_Recv(box, 1, MPI_INT, rank - 1, 0, WORLD, IGNORE));
    if (rank < size - 1) MPI_Send(out, 1, MPI_INT, rank + 1, 0, WORLD);
  }
}

// From pair to pair: 0 and 1 meet, then 1 and 2, then 2 and 3.
static void chain_barriers(void) {
  MPI_Comm pairs[8];
  for (int i = 0; i + 1 < size; ++i) {
    MPI_Comm_split(WORLD, rank == i || rank == i + 1 ? 0 : MPI_UNDEFINED, 0, &pairs[i]);
  }
  ROUNDS {
    if (rank == 0) late(truth_ms);
    if (rank > 0) TIMED(MPI_Barrier(pairs[rank - 1]));
    if (rank < size - 1) TIMED(MPI_Barrier(pairs[rank]));
  }
}

// --- two causes, 2 : 1 ---

static void two_ranks(void) {
  ROUNDS {
    if (rank == 1) {
      first_cause(2 * truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 2) {
      second_cause(truth_ms);
      MPI_Send(out, 1, MPI_INT, 3, 0, WORLD);
    } else {
      TIMED(MPI_Recv(box, 1, MPI_INT, rank == 0 ? 1 : 2, 0, WORLD, IGNORE));
    }
    // Those who are done early are not anybody's victims: they have work of their own.
    if (rank == 2 || rank == 3) compute(truth_ms);
  }
}

static void two_functions(void) {
  ROUNDS {
    if (rank == 1) {
      first_cause(2 * truth_ms);
      second_cause(truth_ms);
    }
    TIMED(MPI_Barrier(WORLD));
  }
}

static void two_turns(void) {
  ROUNDS {
    if (rank == 1) first_cause(2 * truth_ms);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
    if (rank == 2) second_cause(truth_ms);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
  }
}

// --- call paths ---

TRUTH_LOUD static void wrap_barrier(void) {
  TIMED(MPI_Barrier(WORLD));
}

static void wrapped_barrier(void) {
  ROUNDS {
    if (rank == 1) compute(truth_ms);
    wrap_barrier();
  }
}

static void between_wrappers(void) {
  wrap_barrier();
  if (rank == 1) read_input(truth_ms);
  wrap_barrier();
}

TRUTH_LOUD static void descend(int depth) {
  spend("descend", truth_ms);
  if (depth > 0) descend(depth - 1);
  __asm__ volatile("" ::: "memory");
}

static void recursion(void) {
  ROUNDS {
    if (rank == 1) descend(7);
    TIMED(MPI_Barrier(WORLD));
  }
}

// The same function from two callers; only one of them, on rank 1, has more of it than the others.
TRUTH_LOUD static void solve(double ms) {
  compute(ms);
  __asm__ volatile("" ::: "memory");
}
TRUTH_LOUD static void precondition(double ms) {
  compute(ms);
  __asm__ volatile("" ::: "memory");
}

static void two_callers(void) {
  ROUNDS {
    solve(truth_ms / 2);
    precondition(rank == 1 ? truth_ms * 3 / 2 : truth_ms / 2);
    TIMED(MPI_Barrier(WORLD));
  }
}

// --- before, after, and between all else ---

static void slow_input(void) {
  if (rank == 0) read_input(truth_ms);
  TIMED(MPI_Bcast(box, 1, MPI_INT, 0, WORLD));
  ROUNDS {
    compute(20);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
  }
}

static void slow_output(void) {
  ROUNDS {
    compute(20);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
  }
  if (rank == 1) write_output(truth_ms);
}

static void after_barrier(void) {
  ROUNDS {
    TIMED(MPI_Barrier(WORLD));
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      TIMED(MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE));
    }
  }
}

static void balanced(void) {
  ROUNDS {
    compute(truth_ms);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
  }
}

static void balanced_ring(void) {
  ROUNDS {
    compute(truth_ms);
    by_sendrecv(right(), left(), 1);
  }
}

// Everybody has work, rank 1 a quarter more.
static void imbalance(void) {
  ROUNDS {
    compute(rank == 1 ? truth_ms * 1.25 : truth_ms);
    TIMED(MPI_Allreduce(out, box, 1, MPI_INT, MPI_SUM, WORLD));
  }
}

static const struct truth_case cases[] = {
    {"ring_sendrecv", ring_sendrecv},
    {"ring_large", ring_large},
    {"ring_replace", ring_replace},
    {"ring_isend", ring_isend},
    {"ring_waitall", ring_waitall},
    {"ring_neighbours", ring_neighbours},
    {"ring_moving", ring_moving},
    {"ring_wrapper", ring_wrapper},
    {"line_sendrecv", line_sendrecv},
    {"line_waitall", line_waitall},
    {"halo2_sendrecv", halo2_sendrecv},
    {"halo2_waitall", halo2_waitall},
    {"halo2_large", halo2_large},
    {"halo3_sendrecv", halo3_sendrecv},
    {"halo3_waitall", halo3_waitall},
    {"odd_even", odd_even},
    {"gather_waitall_bcast", gather_waitall_bcast},
    {"gather_recv_bcast", gather_recv_bcast},
    {"master_worker", master_worker},
    {"chain", chain},
    {"chain_barriers", chain_barriers},
    {"two_ranks", two_ranks},
    {"two_functions", two_functions},
    {"two_turns", two_turns},
    {"wrapped_barrier", wrapped_barrier},
    {"between_wrappers", between_wrappers},
    {"recursion", recursion},
    {"two_callers", two_callers},
    {"slow_input", slow_input},
    {"slow_output", slow_output},
    {"after_barrier", after_barrier},
    {"balanced", balanced},
    {"balanced_ring", balanced_ring},
    {"imbalance", imbalance},
};

TRUTH_MPI_MAIN(cases)
