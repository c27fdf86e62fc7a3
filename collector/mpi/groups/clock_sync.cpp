// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See clock_sync.h. The marks are empty files under <experiment>/raw, named
// node.<job>.<node>[.<state>], job and node being hashes. States of a node's process: none yet,
// "ready.<rank>", "met" once rank 0 has claimed it, "left" once it has stopped waiting. Assumes
// that no process leaves MPI_Init before all have entered it, as is true of MPIs that exchange
// addresses there: then all nodes are marked when rank 0 looks. Otherwise, a node goes without.

#include "collector/mpi/groups/clock_sync.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fnv.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"

namespace culprit::collector::mpi::clock_sync {
namespace {

constexpr int kTag = 32749;  // any tag up to 32767 is allowed in all MPIs
// As many questions as it takes to get one quick answer, which on a busy machine may never come.
constexpr int kFewestQuestions = 10;
constexpr int kMostQuestions = 100;
constexpr double kQuick = 20e-6;  // seconds
constexpr double kTimeForQuestions = 0.01;
constexpr double kRankZerosPatience = 1;  // seconds; shorter than the other ranks' patience, which
                                          // rely on it
constexpr double kPatience = 2;
constexpr double kPatienceOfTheClaimed = 10;
constexpr double kPatienceForAnAnswer = 30;  // seconds; longer than a claimed rank waits
constexpr double kPatienceAtTheEnd = 60;     // seconds; other ranks may still be at work
constexpr int kMaxNodes = 4096;
constexpr size_t kHashDigits = 16;

char g_mark[PATH_MAX];  ///< of this node, without a state; empty: the job does not take part
bool g_speaks = false;  ///< this process speaks for its node

/// Two processes that compare their clocks, on a communicator of their own: on one of the
/// program's, its receives from any source could take our messages.
struct Pair {
  MPI_Comm comm;
  int other;  ///< the partner's rank in MPI_COMM_WORLD
  bool exists;
};
constexpr int kAsker = 0, kAnswerer = 1;  // ranks in the pair's communicator

Pair g_pairs[kMaxNodes];  ///< the pairs of rank 0
int g_pair_count = 0;
Pair g_with_rank_0;

const char* own_name() {
  return strrchr(g_mark, '/') + 1;
}

/// Length of "node.<job>.", the same for all nodes.
size_t job_length() {
  return strlen(own_name()) - kHashDigits;
}

bool make_mark(const char* path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
  return file >= 0;
}

bool change_mark(const char* from, const char* to) {
  return rename(from, to) == 0;
}

struct Path {
  char text[PATH_MAX + 64];
};

Path own_mark(const char* state, int rank = -1) {
  Path path;
  snprintf(path.text, sizeof path.text, rank < 0 ? "%s.%s" : "%s.%s.%d", g_mark, state, rank);
  return path;
}

/// Calls `see(node, state)` for each mark of this job, `node` being a hash in hexadecimal.
template <class See>
void look_at_marks(See see) {
  Path folder;
  snprintf(folder.text, sizeof folder.text, "%.*s", static_cast<int>(own_name() - g_mark), g_mark);
  DIR* const marks = opendir(folder.text);
  if (marks == nullptr) return;
  const size_t skipped = job_length();
  while (const dirent* entry = readdir(marks)) {
    const char* name = entry->d_name;
    if (strncmp(name, own_name(), skipped) != 0) continue;
    const char* node = name + skipped;
    if (strlen(node) < kHashDigits) continue;
    see(node, node[kHashDigits] == '.' ? node + kHashDigits + 1 : "");
  }
  closedir(marks);
}

bool is_own_node(const char* node) {
  return strncmp(node, own_name() + job_length(), kHashDigits) == 0;
}

bool are_other_nodes() {
  bool others = false;
  look_at_marks([&](const char* node, const char*) { others = others || !is_own_node(node); });
  return others;
}

class Waiting {
 public:
  explicit Waiting(double seconds) : end_(PMPI_Wtime() + seconds) {}
  bool over() const { return PMPI_Wtime() > end_; }
  /// Polls eagerly at first: mostly the wait takes no longer than the messages themselves.
  void pause() {
    if (++pauses_ < 200) {
      sched_yield();
      return;
    }
    const timespec shortly = {0, 100'000};
    nanosleep(&shortly, nullptr);
  }

 private:
  double end_;
  int pauses_ = 0;
};

/// The meaning of a question.
enum Question : uint64_t { never_mind, last, more };

bool send(uint64_t word, int rank, MPI_Comm comm) {
  return PMPI_Send(&word, 1, MPI_UINT64_T, rank, kTag, comm) == MPI_SUCCESS;
}

/// Ends a receive that seems to have no sender; true if the message has come after all.
bool withdraw(MPI_Request& request) {
  MPI_Status status;
  int cancelled = 0;
  PMPI_Cancel(&request);
  return PMPI_Wait(&request, &status) == MPI_SUCCESS &&
         PMPI_Test_cancelled(&status, &cancelled) == MPI_SUCCESS && cancelled == 0;
}

bool receive(uint64_t& word, int rank, MPI_Comm comm, double patience) {
  MPI_Request request;
  if (PMPI_Irecv(&word, 1, MPI_UINT64_T, rank, kTag, comm, &request) != MPI_SUCCESS) return false;
  int here = 0;
  for (Waiting waiting(patience); !waiting.over(); waiting.pause()) {
    if (PMPI_Test(&request, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (here != 0) return true;
  }
  return withdraw(request);
}

/// Asks for the other clock. `patience`: seconds to wait for the first answer. False if an answer
/// did not come: it may still be under way, so the pair must not be used again.
bool ask(const Pair& pair, double patience) {
  uint64_t own = 0, theirs = 0, best = ~uint64_t{0};
  double quickest = kTimeForQuestions;
  double begun = 0;
  uint64_t question = more;
  for (int asked = 1; question == more; ++asked) {
    const double time = PMPI_Wtime();
    if (asked == 2) begun = time;
    const bool enough =
        asked >= kFewestQuestions && (quickest < kQuick || time > begun + kTimeForQuestions);
    question = enough || asked == kMostQuestions ? last : more;
    const uint64_t begin = now();
    uint64_t answer = 0;
    if (!send(question, kAnswerer, pair.comm)) return false;
    if (!receive(answer, kAnswerer, pair.comm, asked == 1 ? patience : kPatience)) return false;
    const uint64_t length = now() - begin;
    quickest = std::min(quickest, PMPI_Wtime() - time);
    if (length >= best) continue;
    best = length;
    own = begin + length / 2;
    theirs = answer;
  }
  if (ThreadLog* log = thread_log()) {
    log->put(now(), raw::clock_met{.rank = static_cast<uint32_t>(pair.other),
                                   .ticks = own,
                                   .other = theirs,
                                   .took = best});
  }
  return true;
}

/// Answers questions. `patience`: seconds to wait for the first one.
void answer(const Pair& pair, double patience) {
  uint64_t question = more;
  while (question == more) {
    if (!receive(question, kAsker, pair.comm, patience)) return;
    if (!send(now(), kAsker, pair.comm)) return;
    patience = kPatience;
  }
}

/// Makes the pair's communicator. Collective: both processes are known to call this.
Pair make_pair(int other, int asker, int answerer) {
  Pair pair = {};
  MPI_Group world, two;
  const int ranks[] = {asker, answerer};
  if (PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS) return pair;
  if (PMPI_Group_incl(world, 2, ranks, &two) == MPI_SUCCESS) {
    pair.exists = PMPI_Comm_create_group(MPI_COMM_WORLD, two, kTag, &pair.comm) == MPI_SUCCESS;
    PMPI_Group_free(&two);
  }
  PMPI_Group_free(&world);
  pair.other = other;
  if (pair.exists) PMPI_Comm_set_errhandler(pair.comm, MPI_ERRORS_RETURN);
  return pair;
}

/// Called by rank 0 for a rank whose mark it has claimed and which waits for its message: compares
/// clocks with that rank.
void invite(int rank) {
  uint64_t accepted = 0;
  if (!send(more, rank, MPI_COMM_WORLD)) return;
  if (!receive(accepted, rank, MPI_COMM_WORLD, kPatienceForAnAnswer)) return;
  const Pair pair = make_pair(rank, 0, rank);
  if (pair.exists && ask(pair, kPatience)) g_pairs[g_pair_count++] = pair;
}

/// Rank 0 claims the mark of another rank; true if it may and must send that rank a message.
bool claim(const char* node, const char* state, int& rank) {
  constexpr char kReady[] = "ready.";
  if (strncmp(state, kReady, sizeof kReady - 1) != 0) return false;
  rank = atoi(state + sizeof kReady - 1);
  Path from, to;
  const int folder = static_cast<int>(own_name() - g_mark);
  const int stem = static_cast<int>(job_length());
  snprintf(from.text, sizeof from.text, "%.*s%.*s%s", folder, g_mark, stem, own_name(), node);
  snprintf(to.text, sizeof to.text, "%.*s%.*s%.*s.met", folder, g_mark, stem, own_name(),
           static_cast<int>(kHashDigits), node);
  return rank > 0 && change_mark(from.text, to.text);
}

/// Looks once for ranks that are ready; returns the number of nodes that are not done yet.
int meet_the_ready() {
  int marked = 0, done = 0;
  look_at_marks([&](const char* node, const char* state) {
    if (*state == '\0') {
      ++marked;
      return;
    }
    int rank = 0;
    const bool claimed = claim(node, state, rank);
    if (claimed || strcmp(state, "met") == 0 || strcmp(state, "left") == 0) ++done;
    if (!claimed) return;
    if (is_own_node(node) || g_pair_count == kMaxNodes) {
      send(never_mind, rank, MPI_COMM_WORLD);
      return;
    }
    invite(rank);
  });
  return marked - done;
}

/// The marks are those of the job's first world: ranks of another one are other processes.
bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  return PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

/// False if another rank 0 has already done it: one job may run several programs in turn.
bool begin_meeting() {
  Path path;
  snprintf(path.text, sizeof path.text, "%.*srank0",
           static_cast<int>(own_name() - g_mark + static_cast<ptrdiff_t>(job_length())), g_mark);
  return make_mark(path.text);
}

void meet_all() {
  if (!begin_meeting()) return;
  if (g_speaks) make_mark(own_mark("met").text);
  for (Waiting waiting(kRankZerosPatience); meet_the_ready() > 0 && !waiting.over();) {
    waiting.pause();
  }
}

/// Takes the mark back; false if rank 0 has claimed it, and so is about to send a message. After
/// any other error of the file system no message will come.
bool take_back(const char* ready) {
  if (change_mark(ready, own_mark("left").text)) return true;
  return access(own_mark("met").text, F_OK) != 0;
}

/// Waits for rank 0's message; `never_mind` if it does not come or asks for nothing.
uint64_t wait_for_word(const char* ready, bool promised) {
  uint64_t word = never_mind;
  MPI_Request request;
  if (PMPI_Irecv(&word, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD, &request) != MPI_SUCCESS) {
    return never_mind;
  }
  const Waiting at_most(kPatienceOfTheClaimed);
  for (Waiting waiting(promised ? kPatience : 0);; waiting.pause()) {
    int here = 0;
    if (PMPI_Test(&request, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS) return never_mind;
    if (here != 0) return word;
    if (!waiting.over()) continue;
    if (promised && !at_most.over() && !take_back(ready)) continue;
    return withdraw(request) ? word : never_mind;
  }
}

void wait_to_be_asked(int rank) {
  const Path ready = own_mark("ready", rank);
  const bool promised = make_mark(ready.text);
  if (wait_for_word(ready.text, promised) == never_mind) return;
  if (!send(more, 0, MPI_COMM_WORLD)) return;
  g_with_rank_0 = make_pair(0, 0, rank);
  if (g_with_rank_0.exists) answer(g_with_rank_0, kPatience);
}

}  // namespace

void announce() {
  const trace::RawProcess* process = culprit::collector::process();
  // Without a name for the job, its marks could be taken for another's.
  if (process == nullptr || process->job[0] == '\0' || g_mark[0] != '\0') return;
  const KeepErrno keep;
  const int length =
      snprintf(g_mark, sizeof g_mark, "%s/raw/node.%016llx.%016llx", environment().experiment,
               static_cast<unsigned long long>(fnv1a(process->job)),
               static_cast<unsigned long long>(clock_identity(*process)));
  if (length < 0 || static_cast<size_t>(length) >= sizeof g_mark) {
    g_mark[0] = '\0';
    return;
  }
  g_speaks = make_mark(g_mark);
}

void meet_at_start() {
  if (g_mark[0] == '\0') return;
  const KeepErrno keep;
  int rank = 0;
  if (is_spawned() || PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return;
  if ((rank != 0 && !g_speaks) || !are_other_nodes()) return;
  ThreadLog* log = thread_log();
  if (log) log->put(now(), raw::tool_begin{});
  if (rank == 0) {
    meet_all();
  } else {
    wait_to_be_asked(rank);
  }
  if (log) log->put(now(), raw::tool_end{});
}

void meet_at_end() {
  const KeepErrno keep;
  for (int i = 0; i < g_pair_count; ++i) ask(g_pairs[i], kPatienceAtTheEnd);
  g_pair_count = 0;
  if (g_with_rank_0.exists) answer(g_with_rank_0, kPatienceAtTheEnd);
  g_with_rank_0 = {};
}

}  // namespace culprit::collector::mpi::clock_sync
