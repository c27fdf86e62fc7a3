// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See rendezvous.h. Everything rests on three steps that file systems, NFS too, do in one: mkdir,
// link and rename. A name left behind by a job that was killed, whose token came again, is
// recognised by this rank's own start mark: no rank starts twice in one job.

#include "cli/launch/rendezvous.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "base/files/guarded_path.h"
#include "base/fnv.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLongestMark = 4096;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr auto kStep = std::chrono::milliseconds(20);
/// How long other ranks let rank 0 go first, so that folders rarely have to be made in vain.
constexpr auto kHeadStart = std::chrono::milliseconds(300);

std::string hash_of(const std::string& text) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(fnv1a(text)));
  return digits;
}

GuardedPath log_of(const fs::path& experiment) {
  return GuardedPath(experiment) / "log";
}

GuardedPath mark(const fs::path& experiment, uint32_t rank, const char* what) {
  return log_of(experiment) / ("rank-" + std::to_string(rank) + "." + what);
}

/// Registers this rank in a folder of its job; false if it has been there before.
bool enter(const Job& job, const fs::path& experiment) {
  return mark(experiment, job.rank, "start").create(std::to_string(getpid()) + "\n").ok();
}

/// Makes ready what others must find in a new folder: marks first, since experiment.json invites
/// them.
Result<void> furnish(const fs::path& experiment, const ExperimentInfo& info) {
  if (auto made = log_of(experiment).make_folder(); !made) return made.error();
  return write_info(experiment, info);
}

/// Waits a little for a folder's maker to say whose it is.
bool belongs_to(const Job& job, const fs::path& experiment) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    if (const auto info = read_info(experiment)) return info.value().job == job.token;
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kStep);
  }
}

Result<MeetingPlace> meet_in(const Job& job, const fs::path& wanted, const ExperimentInfo& info) {
  auto created = create_experiment(wanted, "");
  const fs::path folder = fs::absolute(wanted).lexically_normal();
  if (created) {
    if (auto done = furnish(folder, info); !done) return done.error();
  } else if (!is_own_folder(folder) || !belongs_to(job, folder)) {
    return created.error();
  }
  if (!enter(job, folder)) return Error{"'" + wanted.string() + "' already contains another run"};
  return MeetingPlace{folder, {}};
}

/// A folder's name as publish() writes it: one beside the pointer, never a path to elsewhere.
bool is_experiment_name(const std::string& name) {
  return name.starts_with("culprit.") && name.find('/') == name.npos;
}

/// Joins the folder that `pointer` names; nullopt if there is none, or an outdated one, which goes.
std::optional<MeetingPlace> join(const Job& job, const fs::path& pointer) {
  const auto name = read_regular_file(pointer, Owner::self);
  if (!name) return std::nullopt;
  const fs::path folder = pointer.parent_path() / *name;
  if (is_experiment_name(*name) && is_own_folder(folder) && enter(job, folder)) {
    return MeetingPlace{folder, pointer};
  }
  // Outdated. Another rank may have replaced it meanwhile: move it aside and look again.
  const fs::path aside = pointer.string() + "." + std::to_string(getpid());
  std::error_code code;
  fs::rename(pointer, aside, code);
  if (!code && read_regular_file(aside, Owner::self) != name)
    (void)!link(aside.c_str(), pointer.c_str());
  fs::remove(aside, code);
  return std::nullopt;
}

/// Publishes `folder`; false if another rank was first.
bool publish(const fs::path& folder, const fs::path& pointer) {
  const GuardedPath draft = log_of(folder) / "pointer";
  if (!draft.create(folder.filename().string())) return false;
  const bool first = link(draft.path().c_str(), pointer.c_str()) == 0;
  draft.remove();
  return first;
}

Result<MeetingPlace> meet_beside(const Job& job, const fs::path& pointer,
                                 const ExperimentInfo& info) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    if (auto place = join(job, pointer)) return *place;
    std::error_code none;
    if (fs::exists(fs::symlink_status(pointer, none)) && !is_own_file(pointer)) {
      return Error{"'" + pointer.string() +
                   "' is not a file of yours, so the ranks of this job cannot agree by it on an "
                   "experiment folder: remove it, or name a folder with -o"};
    }
    if (job.rank != 0 && std::chrono::steady_clock::now() - begin < kHeadStart) {
      std::this_thread::sleep_for(kStep);
      continue;
    }
    auto folder = create_experiment({}, info.program);
    if (!folder) return folder.error();
    if (auto done = furnish(*folder, info); !done) return done.error();
    const bool published = publish(*folder, pointer);
    if (published && enter(job, *folder)) return MeetingPlace{*folder, pointer};
    std::error_code ignored;
    if (!published) fs::remove_all(*folder, ignored);
  } while (std::chrono::steady_clock::now() - begin < kPatience);
  return Error{"the ranks of this job cannot agree on an experiment folder in '" +
               pointer.parent_path().string() + "': name one with -o"};
}

}  // namespace

Result<MeetingPlace> meet(const Job& job, const fs::path& wanted, const ExperimentInfo& info) {
  if (!wanted.empty()) return meet_in(job, wanted, info);
  return meet_beside(job, fs::current_path() / (".culprit." + hash_of(job.token)), info);
}

bool is_of_another_job(const Job& job, const fs::path& wanted) {
  if (wanted.empty()) return false;
  const auto info = read_info(wanted);
  return info && info.value().job != job.token;
}

bool is_last(const Job& job, const MeetingPlace& place, int status) {
  // Making the mark changes the folder, so that NFS looks at it afresh for the marks of others.
  static_cast<void>(
      mark(place.experiment, job.rank, "done").replace(std::to_string(status) + "\n").ok());
  for (uint32_t rank = 0; rank < job.size; ++rank) {
    if (!mark(place.experiment, rank, "done").is_file()) return false;
  }
  return (log_of(place.experiment) / "finish").create(std::to_string(job.rank) + "\n").ok();
}

int worst_status(const Job& job, const MeetingPlace& place) {
  int worst = 0;
  for (uint32_t rank = 0; rank < job.size; ++rank) {
    const auto file = mark(place.experiment, rank, "done").open();
    const auto text = file && file->owner() == geteuid() ? file->read(kLongestMark) : std::nullopt;
    if (text) worst = std::max(worst, std::atoi(text->c_str()));
  }
  return worst;
}

void part(const MeetingPlace& place) {
  std::error_code ignored;
  if (!place.pointer.empty()) fs::remove(place.pointer, ignored);
}

}  // namespace culprit::cli
