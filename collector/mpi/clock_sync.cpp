// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See clock_sync.h. The marks are empty files under <experiment>/raw, named
// node.<job>.<node>[.<state>], job and node being hashes. States of a node's process: none yet,
// "ready.<rank>", "met" once rank 0 has claimed it, "left" once it has stopped waiting.
// Assumes that no process leaves MPI_Init before all have entered it, as MPIs do that exchange
// addresses there: then all nodes are marked when rank 0 looks. Otherwise, a node goes without.

#include "collector/mpi/clock_sync.h"

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

#include "collector/environment.h"
#include "collector/recorder.h"
#include "collector/system_file.h"

namespace culprit::collector::mpi::clock_sync {
namespace {

constexpr int kTag = 32749;  // any up to 32767, which all MPIs have
// As many questions as it takes to have one answered at once, which on a busy machine may be none.
constexpr int kFewestQuestions = 10;
constexpr int kMostQuestions = 100;
constexpr double kQuick = 20e-6;  // seconds
constexpr double kTimeForQuestions = 0.01;
constexpr double kRankZerosPatience = 1;  // seconds; less than the others', who count on it
constexpr double kPatience = 2;
constexpr int kMaxNodes = 4096;
constexpr size_t kHashDigits = 16;

char g_mark[PATH_MAX];  ///< of this node, without a state; empty: the job does not take part
bool g_speaks = false;  ///< this process speaks for its node
bool g_has_met = false;
int g_partners[kMaxNodes];  ///< of rank 0
int g_partner_count = 0;

uint64_t hash(const char* text, uint64_t seed = 0xcbf29ce484222325u) {
  for (; *text != '\0'; ++text) {
    seed = (seed ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  }
  return seed;
}

/// Equal where ticks come from one clock.
uint64_t clock_identity(const trace::RawProcess& process) {
  const bool own_namespace = process.clock == trace::RawClock::monotonic_ns;
  char clock[48];
  snprintf(clock, sizeof clock, "/%u/%llx", static_cast<unsigned>(process.clock),
           own_namespace ? static_cast<unsigned long long>(process.time_namespace) : 0);
  return hash(clock, hash(process.boot_id, hash(process.host)));
}

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
  /// Eager at first: mostly it takes no longer than the messages themselves.
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

/// What a question says.
enum Question : uint64_t { never_mind, last, more };

bool send(uint64_t word, int rank) {
  return PMPI_Send(&word, 1, MPI_UINT64_T, rank, kTag, MPI_COMM_WORLD) == MPI_SUCCESS;
}

bool receive(uint64_t& word, int rank) {
  return PMPI_Recv(&word, 1, MPI_UINT64_T, rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

void ask(int rank) {
  uint64_t own = 0, theirs = 0, best = ~uint64_t{0};
  double quickest = kTimeForQuestions;
  const double begun = PMPI_Wtime();
  uint64_t question = more;
  for (int asked = 1; question == more; ++asked) {
    const double time = PMPI_Wtime();
    const bool enough =
        asked >= kFewestQuestions && (quickest < kQuick || time > begun + kTimeForQuestions);
    question = enough || asked == kMostQuestions ? last : more;
    const uint64_t begin = now();
    uint64_t answer = 0;
    if (!send(question, rank) || !receive(answer, rank)) return;
    const uint64_t length = now() - begin;
    quickest = std::min(quickest, PMPI_Wtime() - time);
    if (length >= best) continue;
    best = length;
    own = begin + length / 2;
    theirs = answer;
  }
  if (ThreadLog* log = thread_log()) {
    log->put(RawKind::clock_met, now(), 0, static_cast<uint32_t>(rank), own, theirs, best);
  }
}

/// `question`: a first one, which has arrived already.
void answer(uint64_t question) {
  while (question != never_mind) {
    if (!send(now(), 0) || question == last || !receive(question, 0)) return;
  }
}

/// Rank 0 claims the mark of another rank; true if it may and must speak with it.
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

/// One look at who is ready; returns how many nodes are yet to come.
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
    if (is_own_node(node) || g_partner_count == kMaxNodes) {
      send(never_mind, rank);
      return;
    }
    ask(rank);
    g_partners[g_partner_count++] = rank;
  });
  return marked - done;
}

/// The marks are those of the job's first world: ranks of another one are other processes.
bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  return PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL;
}

/// False if another rank 0 has done it before: one job may run several programs in turn.
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

void wait_to_be_asked(int rank) {
  const Path ready = own_mark("ready", rank);
  uint64_t question = never_mind;
  MPI_Request request;
  if (PMPI_Irecv(&question, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
    return;
  bool promised = make_mark(ready.text);
  int asked = 0;
  for (Waiting waiting(promised ? kPatience : 0);;) {
    if (PMPI_Test(&request, &asked, MPI_STATUS_IGNORE) != MPI_SUCCESS || asked != 0) break;
    if (promised && waiting.over()) promised = !change_mark(ready.text, own_mark("left").text);
    if (!promised && waiting.over()) {
      PMPI_Cancel(&request);
      PMPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    }
    waiting.pause();
  }
  if (asked == 0) return;
  g_has_met = question != never_mind;
  answer(question);
}

}  // namespace

void announce() {
  const trace::RawProcess* process = culprit::collector::process();
  // Without a name for the job, its marks could be taken for another's.
  if (process == nullptr || process->job[0] == '\0' || g_mark[0] != '\0') return;
  const KeepErrno keep;
  const int length =
      snprintf(g_mark, sizeof g_mark, "%s/raw/node.%016llx.%016llx", environment().experiment,
               static_cast<unsigned long long>(hash(process->job)),
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
  if (log) log->put(RawKind::tool_begin, now());
  if (rank == 0) {
    meet_all();
  } else {
    wait_to_be_asked(rank);
  }
  if (log) log->put(RawKind::tool_end, now());
}

void meet_at_end() {
  const KeepErrno keep;
  for (int i = 0; i < g_partner_count; ++i) ask(g_partners[i]);
  g_partner_count = 0;
  uint64_t question = never_mind;
  if (g_has_met && receive(question, 0)) answer(question);
  g_has_met = false;
}

}  // namespace culprit::collector::mpi::clock_sync
