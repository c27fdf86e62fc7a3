// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages between two or more ranks, by every call that sends, receives, waits, probes or polls.
// Rank 1 is the late one: as a sender, where nothing else is said.
#include "truth.h"

#define LARGE (1 << 18)  // ints: more than any eager limit
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static int box[8 * LARGE], out[LARGE];

TAKES_TIME(late)
TAKES_TIME(late_receiver)

// --- blocking ---

static void recv_late(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      TIMED(MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE));
    }
  }
}

static void recv_any(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, round, WORLD);
    } else if (rank == 0) {
      TIMED(MPI_Recv(box, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE));
    }
  }
}

static void recv_large(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      TIMED(MPI_Send(out, LARGE, MPI_INT, 0, 0, WORLD));
    } else if (rank == 0) {
      TIMED(MPI_Recv(box, LARGE, MPI_INT, 1, 0, WORLD, IGNORE));
    }
  }
}

static void sendrecv_pair(void) {
  ROUNDS {
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Sendrecv(out, 1, MPI_INT, 1 - rank, 0, box, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORE));
  }
}

static void sendrecv_replace(void) {
  ROUNDS {
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Sendrecv_replace(box, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, WORLD, IGNORE));
  }
}

static void ssend(void) {
  ROUNDS {
    if (rank == 1) {
      late_receiver(truth_ms);
      TIMED(MPI_Recv(box, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    } else if (rank == 0) {
      TIMED(MPI_Ssend(out, 1, MPI_INT, 1, 0, WORLD));
    }
  }
}

static void rendezvous(void) {
  ROUNDS {
    if (rank == 1) {
      late_receiver(truth_ms);
      TIMED(MPI_Recv(box, LARGE, MPI_INT, 0, 0, WORLD, IGNORE));
    } else if (rank == 0) {
      TIMED(MPI_Send(out, LARGE, MPI_INT, 1, 0, WORLD));
    }
  }
}

static void ping_pong(void) {
  ROUNDS {
    if (rank == 0) {
      MPI_Send(out, 1, MPI_INT, 1, 0, WORLD);
      TIMED(MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE));
    } else if (rank == 1) {
      TIMED(MPI_Recv(box, 1, MPI_INT, 0, 0, WORLD, IGNORE));
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    }
  }
}

// --- with requests ---

static void irecv_wait(void) {
  ROUNDS {
    MPI_Request request;
    if (rank == 1) {
      late(truth_ms);
      MPI_Isend(out, 1, MPI_INT, 0, 0, WORLD, &request);
    } else {
      MPI_Irecv(box, 1, MPI_INT, 1, 0, WORLD, &request);
    }
    TIMED(MPI_Wait(&request, IGNORE));
  }
}

static void issend_wait(void) {
  ROUNDS {
    if (rank == 1) {
      late_receiver(truth_ms);
      TIMED(MPI_Recv(box, 1, MPI_INT, 0, 0, WORLD, IGNORE));
    } else if (rank == 0) {
      MPI_Request request;
      MPI_Issend(out, 1, MPI_INT, 1, 0, WORLD, &request);
      TIMED(MPI_Wait(&request, IGNORE));
    }
  }
}

static void rendezvous_wait(void) {
  ROUNDS {
    if (rank == 1) {
      late_receiver(truth_ms);
      TIMED(MPI_Recv(box, LARGE, MPI_INT, 0, 0, WORLD, IGNORE));
    } else if (rank == 0) {
      MPI_Request request;
      MPI_Isend(out, LARGE, MPI_INT, 1, 0, WORLD, &request);
      TIMED(MPI_Wait(&request, IGNORE));
    }
  }
}

// Rank 0 gets one message of each other rank, which get an answer: nobody runs ahead.
static void gather_requests(void (*wait)(int, MPI_Request*)) {
  MPI_Request requests[8];
  ROUNDS {
    if (rank == 0) {
      for (int i = 1; i < size; ++i) {
        MPI_Irecv(box + i, 1, MPI_INT, i, 0, WORLD, &requests[i - 1]);
      }
      wait(size - 1, requests);
      for (int i = 1; i < size; ++i) MPI_Send(out, 1, MPI_INT, i, 1, WORLD);
    } else {
      if (rank == 1) late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
      TIMED(MPI_Recv(box, 1, MPI_INT, 0, 1, WORLD, IGNORE));
    }
  }
}

static void by_waitall(int count, MPI_Request* requests) {
  TIMED(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void by_wait_each(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) TIMED(MPI_Wait(&requests[i], IGNORE));
}

static void by_waitany(int count, MPI_Request* requests) {
  for (int i = 0, index; i < count; ++i) TIMED(MPI_Waitany(count, requests, &index, IGNORE));
}

static void by_waitsome(int count, MPI_Request* requests) {
  int indices[8];
  for (int done = 0, some; done < count; done += some) {
    TIMED(MPI_Waitsome(count, requests, &some, indices, MPI_STATUSES_IGNORE));
  }
}

static void by_test(int count, MPI_Request* requests) {
  for (int i = 0, done; i < count; ++i) {
    done = 0;
    TIMED(while (!done) MPI_Test(&requests[i], &done, IGNORE));
  }
}

static void by_testall(int count, MPI_Request* requests) {
  int done = 0;
  TIMED(while (!done) MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
}

static void by_testany(int count, MPI_Request* requests) {
  for (int i = 0, index, done; i < count; ++i) {
    done = 0;
    TIMED(while (!done) MPI_Testany(count, requests, &index, &done, IGNORE));
  }
}

static void by_testsome(int count, MPI_Request* requests) {
  int indices[8];
  for (int done = 0, some; done < count; done += some) {
    some = 0;
    TIMED(while (some == 0) MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE));
  }
}

static void waitall(void) {
  gather_requests(by_waitall);
}
static void wait_each(void) {
  gather_requests(by_wait_each);
}
static void waitany(void) {
  gather_requests(by_waitany);
}
static void waitsome(void) {
  gather_requests(by_waitsome);
}
static void test(void) {
  gather_requests(by_test);
}
static void testall(void) {
  gather_requests(by_testall);
}
static void testany(void) {
  gather_requests(by_testany);
}
static void testsome(void) {
  gather_requests(by_testsome);
}

static void persistent(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Send_init(out, 1, MPI_INT, 0, 0, WORLD, &request);
  } else {
    MPI_Recv_init(box, 1, MPI_INT, 1, 0, WORLD, &request);
  }
  ROUNDS {
    if (rank == 1) late(truth_ms);
    MPI_Start(&request);
    TIMED(MPI_Wait(&request, IGNORE));
  }
  MPI_Request_free(&request);
}

// Both ways at once, between neighbours of two.
static void startall(void) {
  MPI_Request requests[2];
  MPI_Send_init(out, 1, MPI_INT, 1 - rank, 0, WORLD, &requests[0]);
  MPI_Recv_init(box, 1, MPI_INT, 1 - rank, 0, WORLD, &requests[1]);
  ROUNDS {
    if (rank == 1) late(truth_ms);
    MPI_Startall(2, requests);
    TIMED(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// --- probes ---

static void probe(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      MPI_Status status;
      TIMED(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status));
      MPI_Recv(box, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD, IGNORE);
    }
  }
}

static void mprobe(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      MPI_Message message;
      TIMED(MPI_Mprobe(1, 0, WORLD, &message, IGNORE));
      MPI_Mrecv(box, 1, MPI_INT, &message, IGNORE);
    }
  }
}

static void iprobe(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      int found = 0;
      TIMED(while (!found) MPI_Iprobe(1, 0, WORLD, &found, IGNORE));
      MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE);
    }
  }
}

// Who sleeps between tests does nothing else.
static void iprobe_asleep(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      int found = 0;
      TIMED(while (!found) {
        MPI_Iprobe(1, 0, WORLD, &found, IGNORE);
        if (!found) usleep(200);
      });
      MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE);
    }
  }
}

// Two functions ask in turn, each for a message of its own.
static void in_turn(void) {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      MPI_Send(out, 1, MPI_INT, 0, 1, WORLD);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
    } else if (rank == 0) {
      MPI_Request request;
      int found = 0, done = 0;
      MPI_Irecv(&box[1], 1, MPI_INT, 1, 1, WORLD, &request);
      TIMED(while (!found || !done) {
        if (!found) MPI_Iprobe(1, 0, WORLD, &found, IGNORE);
        if (!done) MPI_Test(&request, &done, IGNORE);
      });
      MPI_Recv(box, 1, MPI_INT, 1, 0, WORLD, IGNORE);
    }
  }
}

#if MPI_VERSION >= 4
static void partitioned(void) {
  enum { PARTS = 4 };
  MPI_Request request;
  if (rank == 1) {
    MPI_Psend_init(out, PARTS, 8, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request);
  } else {
    MPI_Precv_init(box, PARTS, 8, MPI_INT, 1, 0, WORLD, MPI_INFO_NULL, &request);
  }
  ROUNDS {
    MPI_Start(&request);
    if (rank == 1) {
      for (int i = 0; i < PARTS - 1; ++i) MPI_Pready(i, request);
      late(truth_ms);
      MPI_Pready(PARTS - 1, request);
    }
    TIMED(MPI_Wait(&request, IGNORE));
  }
  MPI_Request_free(&request);
}
#endif

static const struct truth_case cases[] = {
    {"recv", recv_late},
    {"recv_any", recv_any},
    {"recv_large", recv_large},
    {"sendrecv_pair", sendrecv_pair},
    {"sendrecv_replace", sendrecv_replace},
    {"ssend", ssend},
    {"rendezvous", rendezvous},
    {"ping_pong", ping_pong},
    {"irecv_wait", irecv_wait},
    {"issend_wait", issend_wait},
    {"rendezvous_wait", rendezvous_wait},
    {"waitall", waitall},
    {"wait_each", wait_each},
    {"waitany", waitany},
    {"waitsome", waitsome},
    {"test", test},
    {"testall", testall},
    {"testany", testany},
    {"testsome", testsome},
    {"persistent", persistent},
    {"startall", startall},
    {"probe", probe},
    {"mprobe", mprobe},
    {"iprobe", iprobe},
    {"iprobe_asleep", iprobe_asleep},
    {"in_turn", in_turn},
#if MPI_VERSION >= 4
    {"partitioned", partitioned},
#endif
};

TRUTH_MPI_MAIN(cases)
