// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the system says of blocked threads: the note that keeps it, the stack of a process that is
// blocked, and who waits for whom by it.

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "assemble/look/live_stacks.h"
#include "assemble/look/note.h"
#include "assemble/look/proc.h"
#include "fixture.h"
#include "tests/unit/frame_at_nowhere.h"

namespace culprit::assemble::test {
namespace {

using look::ProcessLook;
using look::ThreadLook;
using trace::RawKind;

constexpr uint32_t kFirst = 4242, kSecond = 77;

class WhereaboutsTest : public AssembleTest {
 protected:
  std::filesystem::path process_folder() const { return folder_ / "raw" / "node1.1.a"; }

  /// In a function that the program calls, which waits at a futex beside which `owner` stands.
  ThreadLook waits_in(uint32_t tid, const std::string& call, uint32_t owner) {
    ThreadLook thread;
    thread.tid = tid;
    thread.state = 'S';
    thread.since_ns = kTicksAtZero + 100;
    thread.call = SYS_futex;
    thread.args = {0x1000, FUTEX_WAIT_PRIVATE, 2};
    thread.words[look::kWordsBefore] = 2;
    thread.words[look::kWordsBefore + 1] = owner;
    thread.stack = {code.at("libc:" + call, 1), code.at("locks", 7), code.at("main", 3)};
    return thread;
  }
  /// As string_def has it.
  static std::vector<uint64_t> text(const std::string& words) {
    std::vector<uint64_t> packed((words.size() + 7) / 8);
    std::memcpy(packed.data(), words.data(), words.size());
    return packed;
  }
  ThreadLook joins(uint32_t tid, uint32_t other) {
    ThreadLook thread = waits_in(tid, "pthread_join", 0);
    thread.args[2] = other;
    return thread;
  }

  /// A program of two threads that was killed, and what was noted of it last.
  std::vector<StuckGroup> killed(std::vector<ThreadLook> threads) {
    std::filesystem::remove_all(process_folder());
    {
      auto p = process();
      p->rank(0, 1).process.finalized = 0;
      p->process.pid = kFirst;
      p->thread(0).begin_user(10, trace::RawUserRegion::phase, "solve", in_main({}));
      p->thread(1)
          .put(RawKind::thread_id, 20, 0, 0, {kSecond, 0x7000})
          .sample(30, {"main", "locks"});
      ProcessLook look;
      look.at_ns = kTicksAtZero + 1000;
      look.threads = std::move(threads);
      EXPECT_TRUE(look::write_note(GuardedPath(process_folder()), look));
    }
    return play().stuck;
  }
};

TEST_F(WhereaboutsTest, ANoteSaysWhatWasSeen) {
  std::filesystem::create_directories(process_folder());
  ProcessLook look;
  look.at_ns = 12345;
  look.handles_signals = true;
  look.threads = {waits_in(1, "sem_wait", 5)};
  look.threads[0].object = "/a path/with\nanything";
  look.threads[0].holders = {7, 8};
  look.threads[0].core = 0.25;
  ASSERT_TRUE(look::write_note(GuardedPath(process_folder()), look));
  const auto read = look::read_note(GuardedPath(process_folder()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->folder, "node1.1.a");
  EXPECT_EQ(read->at_ns, 12345u);
  EXPECT_TRUE(read->handles_signals);
  ASSERT_EQ(read->threads.size(), 1u);
  const ThreadLook& thread = read->threads[0];
  EXPECT_EQ(thread.tid, 1u);
  EXPECT_EQ(thread.state, 'S');
  EXPECT_EQ(thread.call, SYS_futex);
  EXPECT_EQ(thread.args, look.threads[0].args);
  EXPECT_EQ(thread.words, look.threads[0].words);
  EXPECT_EQ(thread.stack, look.threads[0].stack);
  EXPECT_EQ(thread.holders, look.threads[0].holders);
  EXPECT_EQ(thread.object, "/a path/with?anything");
  EXPECT_DOUBLE_EQ(thread.core, 0.25);
}

TEST_F(WhereaboutsTest, WhatIsNoNoteIsNotThere) {
  std::filesystem::create_directories(process_folder());
  for (const char* text :
       {"", "something else", "culprit-whereabouts-1\n", "culprit-whereabouts-1\nprocess x 1\n",
        "culprit-whereabouts-1\nprocess 1 0\nthread 1 S 0 0 0 0 202 99999999999 1\n",
        "culprit-whereabouts-1\nprocess 1 0\nthread 1 S 0 0 0 0 202 2 1 1 8 0 0\n"}) {
    std::ofstream(process_folder() / "whereabouts") << text;
    EXPECT_FALSE(look::read_note(GuardedPath(process_folder()))) << text;
  }
}

TEST_F(WhereaboutsTest, TwoThreadsThatHoldEachOthersMutexAreADeadlock) {
  const auto groups = killed({waits_in(kFirst, "pthread_mutex_lock", kSecond),
                              waits_in(kSecond, "pthread_mutex_lock", kFirst)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].deadlock);
  ASSERT_EQ(groups[0].members.size(), 2u);
  EXPECT_EQ(groups[0].members[0].name, "rank 0");
  EXPECT_EQ(groups[0].members[0].call, "pthread_mutex_lock");
  EXPECT_EQ(groups[0].members[0].place, "app.c:7");
  EXPECT_EQ(groups[0].members[0].why, "for a mutex that thread 1 holds");
  EXPECT_EQ(groups[0].members[1].why, "for a mutex that its first thread holds");
}

TEST_F(WhereaboutsTest, WhoseOwnerGoesOnIsNotStuck) {
  ThreadLook computing;
  computing.tid = kSecond;
  computing.state = 'R';
  EXPECT_TRUE(killed({waits_in(kFirst, "pthread_mutex_lock", kSecond), computing}).empty());
}

TEST_F(WhereaboutsTest, AMutexOfAThreadThatHasEndedIsNeverReleased) {
  const auto groups = killed({waits_in(kFirst, "pthread_mutex_lock", kSecond)});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_FALSE(groups[0].deadlock);
  EXPECT_EQ(groups[0].members[0].why, "for a mutex that thread 1 held when it ended");
}

TEST_F(WhereaboutsTest, NobodySignalsAConditionIfAllWait) {
  const auto groups =
      killed({joins(kFirst, kSecond), waits_in(kSecond, "pthread_cond_clockwait", 0)});
  ASSERT_EQ(groups.size(), 0u);  // that mutex is nobody's: it takes it back in a moment
  ThreadLook waiting = waits_in(kSecond, "pthread_cond_wait", 0);
  waiting.args[1] = FUTEX_WAIT_BITSET_PRIVATE;
  const auto stuck = killed({joins(kFirst, kSecond), waiting});
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].members.size(), 2u);
  waiting.args[3] = 0x2000;  // until a time
  EXPECT_TRUE(killed({joins(kFirst, kSecond), waiting}).empty());
}

TEST_F(WhereaboutsTest, RecordsOfWaitsNeedNoNote) {
  const auto waits = [&](RawThread& log, uint64_t time, const char* call, uint32_t owner,
                         uint64_t object) {
    log.put(RawKind::string_def, time, static_cast<uint16_t>(std::strlen(call)), 9, text(call));
    log.put(RawKind::thread_awaits, time, 9, owner, {object, code.at("locks", 7)});
  };
  {
    auto p = process();
    p->rank(0, 1).process.finalized = 0;
    p->process.pid = kFirst;
    waits(p->thread(0), 50, "pthread_join", 0, 0x7000);
    p->thread(1).put(RawKind::thread_id, 20, 0, 0, {kSecond, 0x7000});
    waits(p->thread(1), 40, "pthread_mutex_lock", kFirst, 0x1000);
  }
  const auto groups = play().stuck;
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].deadlock);
  EXPECT_EQ(groups[0].members[0].why, "for thread 1 to end");
  EXPECT_EQ(groups[0].members[0].place, "app.c:7");
  EXPECT_EQ(groups[0].members[1].why, "for a mutex that its first thread holds");
}

TEST_F(WhereaboutsTest, WhatWasRecordedLaterCountsMore) {
  {
    auto p = process();
    p->rank(0, 1).process.finalized = 0;
    p->process.pid = kFirst;
    p->thread(0)
        .begin_user(10, trace::RawUserRegion::phase, "solve", in_main({}))
        .sample(500, in_main({}));
    ProcessLook look;
    look.at_ns = kTicksAtZero + 400;
    look.threads = {waits_in(kFirst, "pthread_mutex_lock", kFirst)};
    EXPECT_TRUE(look::write_note(GuardedPath(process_folder()), look));
  }
  EXPECT_TRUE(play().stuck.empty());
}

[[gnu::noinline]] void block_in_here(int from) {
  char byte = 0;
  for (int i = 0; i < 2; ++i) {
    if (read(from, &byte, 1) < 0) _exit(2);
  }
}

/// A child that blocks in a read below `function`, as the system shows it.
class BlockedChild {
 public:
  explicit BlockedChild(void (*function)(int)) {
    if (pipe(ends_) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      function(ends_[0]);
      _exit(0);
    }
    ThreadLook thread;
    thread.tid = static_cast<uint32_t>(child_);
    for (int tries = 0; tries < 1000 && thread.call != SYS_read; ++tries) {
      registers_ = look::look_at_call(child_, thread);
      if (thread.call != SYS_read) usleep(10000);
    }
  }
  ~BlockedChild() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(ends_[0]);
    close(ends_[1]);
  }
  BlockedChild(const BlockedChild&) = delete;
  BlockedChild& operator=(const BlockedChild&) = delete;

  bool is_seen() const { return registers_.has_value(); }
  std::vector<uint64_t> stack() const {
    return look::LiveStacks(child_).of(registers_->sp, registers_->pc);
  }

 private:
  int ends_[2] = {-1, -1};
  pid_t child_ = -1;
  std::optional<look::Registers> registers_;
};

TEST(LiveStacks, LeadToTheFunctionThatBlocks) {
  const BlockedChild child(block_in_here);
  ASSERT_TRUE(child.is_seen()) << "the system does not let us see";
  const std::vector<uint64_t> stack = child.stack();
  const auto function = reinterpret_cast<uint64_t>(block_in_here);
  const bool found = std::any_of(stack.begin(), stack.end(), [function](uint64_t address) {
    return address > function && address < function + 512;
  });
  EXPECT_TRUE(found) << stack.size() << " frames";
}

#if defined(__x86_64__)
int g_from = -1;
[[gnu::noinline, gnu::optimize("O0")]] void block_with_frame_pointer() {
  block_in_here(g_from);
}

TEST(LiveStacks, SurviveAFrameThatIsNowhere) {
  const BlockedChild child([](int from) {
    g_from = from;
    call_from_nowhere(block_with_frame_pointer);
  });
  ASSERT_TRUE(child.is_seen()) << "the system does not let us see";
  EXPECT_FALSE(child.stack().empty());
}
#endif

}  // namespace
}  // namespace culprit::assemble::test
