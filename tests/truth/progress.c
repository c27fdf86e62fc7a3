// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that are begun in time and go on only when a rank that computes calls MPI again. Which
// of them do depends on the MPI library: where one does not, the others wait at the barrier behind
// it for as long, so that in either case all others wait for what the late rank computes.
#include "truth.h"

TAKES_TIME(late)

enum { kLarge = 1 << 18, kSmall = 4 };
static double data[kLarge], other[kLarge];

static void end_round(void) {
  TIMED(MPI_Barrier(MPI_COMM_WORLD));
}

// The receiver has asked for a large message and computes.
static void send_to_busy(void) {
  ROUNDS {
    if (rank == 1) {
      MPI_Request request;
      MPI_Irecv(data, kLarge, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
      late(truth_ms);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      TIMED(MPI_Send(data, kLarge, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
    }
    end_round();
  }
}

static void isend_to_busy(void) {
  ROUNDS {
    MPI_Request request;
    if (rank == 1) {
      MPI_Irecv(data, kLarge, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
      late(truth_ms);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Isend(data, kLarge, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
      TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    end_round();
  }
}

// The sender has sent a large message and computes.
static void receive_from_busy(void) {
  ROUNDS {
    if (rank == 1) {
      MPI_Request request;
      MPI_Isend(data, kLarge, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
      late(truth_ms);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      TIMED(MPI_Recv(data, kLarge, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    end_round();
  }
}

// Both exchange; rank 1 computes before it waits, rank 0 waits for both halves at once.
static void exchange_with_busy(void) {
  ROUNDS {
    MPI_Request requests[2];
    MPI_Irecv(other, kLarge, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, kLarge, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    end_round();
  }
}

// As the first, but the late rank tests every hundredth of its time.
static void send_to_testing(void) {
  ROUNDS {
    if (rank == 1) {
      MPI_Request request;
      int done;
      MPI_Irecv(data, kLarge, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
      for (int i = 0; i < 100; ++i) {
        late(truth_ms / 100);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      TIMED(MPI_Send(data, kLarge, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD));
    }
    end_round();
  }
}

// Non-blocking collective operations that all begin together.
static void await_with_late(MPI_Request* request) {
  if (rank == 1) late(truth_ms);
  TIMED(MPI_Wait(request, MPI_STATUS_IGNORE));
  end_round();
}

static void iallreduce(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Iallreduce(data, other, kSmall, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

static void iallreduce_large(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Iallreduce(data, other, kLarge / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

static void ibarrier(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

static void ialltoall(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Ialltoall(data, kSmall, MPI_DOUBLE, other, kSmall, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

static void ibcast(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Ibcast(data, kLarge, MPI_DOUBLE, 1, MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

static void ireduce(void) {
  ROUNDS {
    MPI_Request request;
    MPI_Ireduce(data, other, kSmall, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    await_with_late(&request);
  }
}

// Another rank tests for the end instead of waiting.
static void iallreduce_test(void) {
  ROUNDS {
    MPI_Request request;
    int done = 0;
    MPI_Iallreduce(data, other, kSmall, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 1) late(truth_ms);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    end_round();
  }
}

// One-sided: the target computes, and takes no part.
static MPI_Win window;

static void access_busy_target(int flush, int fetch) {
  MPI_Win_create(data, sizeof data, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  ROUNDS {
    end_round();
    if (rank == 1) {
      late(truth_ms);
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
      if (fetch) {
        MPI_Get_accumulate(other, kSmall, MPI_DOUBLE, other + kSmall, kSmall, MPI_DOUBLE, 1, 0,
                           kSmall, MPI_DOUBLE, MPI_SUM, window);
      } else {
        MPI_Accumulate(other, kSmall, MPI_DOUBLE, 1, 0, kSmall, MPI_DOUBLE, MPI_SUM, window);
      }
      if (flush) TIMED(MPI_Win_flush(1, window));
      TIMED(MPI_Win_unlock(1, window));
    }
    end_round();
  }
  MPI_Win_free(&window);
}

static void flush_busy(void) {
  access_busy_target(1, 0);
}
static void unlock_busy(void) {
  access_busy_target(0, 0);
}
static void fetch_busy(void) {
  access_busy_target(1, 1);
}

// Nobody is late, transfers are: messages of 2 MB one after the other.
static void slow_transfers(void) {
  ROUNDS {
    MPI_Request requests[2];
    MPI_Irecv(other, kLarge, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, kLarge, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static const struct truth_case cases[] = {
    {"send_to_busy", send_to_busy},
    {"isend_to_busy", isend_to_busy},
    {"receive_from_busy", receive_from_busy},
    {"exchange_with_busy", exchange_with_busy},
    {"send_to_testing", send_to_testing},
    {"iallreduce", iallreduce},
    {"iallreduce_large", iallreduce_large},
    {"ibarrier", ibarrier},
    {"ialltoall", ialltoall},
    {"ibcast", ibcast},
    {"ireduce", ireduce},
    {"iallreduce_test", iallreduce_test},
    {"flush_busy", flush_busy},
    {"unlock_busy", unlock_busy},
    {"fetch_busy", fetch_busy},
    {"slow_transfers", slow_transfers},
};

TRUTH_MPI_MAIN(cases)
