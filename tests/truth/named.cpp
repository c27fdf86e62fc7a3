// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Code whose name compilers make, or leave to libraries: lambdas of all kinds, instances of
// templates, what std::function and algorithms call. One of two alike is late on rank 1, and the
// other is not. The lines on which lambdas begin stand in families/names.py.
#include "truth.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

static const MPI_Comm world = MPI_COMM_WORLD;
// Functions of the same code, that is, are not to become one.
#define APART(name) __asm__ volatile("# " name)
static double late_ms() {
  return rank == 1 ? truth_ms : 0;
}
static double even_ms() {
  return truth_ms / 8;
}

template <class Body>
static void for_each_cell(const Body& body) {
  for (int cell = 0; cell < 4; ++cell) body(cell);
}

static TRUTH_LOUD void call(const std::function<void()>& function) {
  function();
}

static void direct(void) {
  ROUNDS {
    for_each_cell([](int) { spend("even", even_ms() / 4); });
    for_each_cell([](int) {
      APART("direct");
      spend("late", late_ms() / 4);
    });
    TIMED(MPI_Barrier(world));
  }
}

static void generic(void) {
  ROUNDS {
    for_each_cell([](auto) {
      APART("generic");
      spend("late", late_ms() / 4);
    });
    for_each_cell([](auto) { spend("even", even_ms() / 4); });
    TIMED(MPI_Barrier(world));
  }
}

static void nested(void) {
  ROUNDS {
    for_each_cell([](int) {
      for_each_cell([](int) {
        APART("nested");
        spend("late", late_ms() / 16);
      });
      spend("even", even_ms() / 4);
    });
    TIMED(MPI_Barrier(world));
  }
}

static void function(void) {
  ROUNDS {
    call([] { spend("even", even_ms()); });
    call([] {
      APART("function");
      spend("late", late_ms());
    });
    TIMED(MPI_Barrier(world));
  }
}

static const auto at_file_scope = [] {
  APART("outside");
  spend("late", late_ms());
};
static void outside(void) {
  ROUNDS {
    call(at_file_scope);
    TIMED(MPI_Barrier(world));
  }
}

struct Grid {
  double ms;
  void sweep() const {
    for_each_cell([this](int) {
      APART("member");
      spend("late", ms / 4);
    });
  }
};
static void member(void) {
  ROUNDS {
    Grid{late_ms()}.sweep();
    TIMED(MPI_Barrier(world));
  }
}

static void algorithm(void) {
  const std::vector<int> cells(4);
  ROUNDS {
    std::for_each(cells.begin(), cells.end(), [](int) {
      APART("algorithm");
      spend("late", late_ms() / 4);
    });
    std::accumulate(cells.begin(), cells.end(), 0, [](int sum, int cell) {
      spend("even", even_ms() / 4);
      return sum + cell;
    });
    TIMED(MPI_Barrier(world));
  }
}

struct Even {
  static constexpr const char* kName = "even";
  static double ms() { return even_ms(); }
};
struct Late {
  static constexpr const char* kName = "late";
  static double ms() { return late_ms(); }
};
template <class Kernel>
static TRUTH_LOUD void apply() {
  spend(Kernel::kName, Kernel::ms());
}
static void instance(void) {
  ROUNDS {
    apply<Even>();
    apply<Late>();
    TIMED(MPI_Barrier(world));
  }
}

struct Functor {
  TRUTH_LOUD void operator()(int) const { spend("late", late_ms() / 4); }
};
static void functor(void) {
  ROUNDS {
    for_each_cell(Functor());
    TIMED(MPI_Barrier(world));
  }
}

static void thread(void) {
  ROUNDS {
    std::thread helper([] {
      APART("thread");
      spend("late", late_ms());
    });
    TIMED(helper.join());
    TIMED(MPI_Barrier(world));
  }
}

static const struct truth_case cases[] = {
    {"direct", direct},   {"generic", generic}, {"nested", nested},       {"function", function},
    {"outside", outside}, {"member", member},   {"algorithm", algorithm}, {"instance", instance},
    {"functor", functor}, {"thread", thread},
};

TRUTH_MPI_MAIN(cases)
