// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each name is opened from the descriptor of the folder before, which is what openat2() would do in
// one call, on kernels and under filters that do not have it, too. A folder that is moved meanwhile
// stays the one that was opened.
#include "base/files/guarded_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace culprit {
namespace {

/// To go on from: needs no right to list it.
constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;
constexpr size_t kMostNames = 1'000'000;

/// False, with `errno`, for a name that would lead to another folder.
bool is_plain(const std::string& name) {
  const bool plain = !name.empty() && name != "." && name != ".." &&
                     name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  if (!plain) errno = ENOENT;
  return plain;
}

Descriptor enter(int folder, const std::string& name) {
  if (!is_plain(name)) return Descriptor();
  return Descriptor(openat(folder, name.c_str(), kFolder | O_NOFOLLOW));
}

Descriptor make_new(const Descriptor& folder, const std::string& name) {
  constexpr int kNew = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
  return Descriptor(openat(folder.number(), name.c_str(), kNew, 0666));
}

/// False, with `errno`, if not all of it arrived.
bool write_whole(const Descriptor& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t done = write(file.number(), content.data(), content.size());
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;
    if (done <= 0) return false;
    content.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

Error cannot(std::string_view what, const std::filesystem::path& path, int code) {
  const std::string why = code == EEXIST ? "it exists already" : std::strerror(code);
  return Error{std::string(what) + " '" + path.string() + "': " + why};
}

/// The file type of the entry; 0: there is none.
mode_t type_of(const Descriptor& parent, const std::string& name) {
  struct stat found = {};
  const bool there = parent && is_plain(name) &&
                     fstatat(parent.number(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  return there ? found.st_mode & S_IFMT : 0;
}

}  // namespace

std::string unguessable() {
  unsigned char bytes[16] = {};
  CULPRIT_CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  std::string digits;
  for (const unsigned char byte : bytes) {
    constexpr char kHex[] = "0123456789abcdef";
    digits += {kHex[byte >> 4], kHex[byte & 15]};
  }
  return digits;
}

GuardedPath::GuardedPath(const std::filesystem::path& folder)
    : root_(std::make_shared<const Descriptor>(::open(folder.c_str(), kFolder))), path_(folder) {}

GuardedPath GuardedPath::of_file(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  GuardedPath found = GuardedPath(folder.empty() ? "." : folder) / file.filename().string();
  found.path_ = file;
  return found;
}

GuardedPath GuardedPath::operator/(std::string_view name) const {
  GuardedPath below = *this;
  below.names_.emplace_back(name);
  below.path_ /= name;
  return below;
}

/// The folder that this lies in.
Descriptor GuardedPath::parent() const {
  if (names_.empty() || !*root_) return Descriptor();
  Descriptor folder(fcntl(root_->number(), F_DUPFD_CLOEXEC, 0));
  for (size_t i = 0; folder && i + 1 < names_.size(); ++i) {
    folder = enter(folder.number(), names_[i]);
  }
  return folder;
}

Descriptor GuardedPath::open_as(int flags) const {
  const Descriptor folder = parent();
  if (!folder || !is_plain(names_.back())) return Descriptor();
  return Descriptor(openat(folder.number(), names_.back().c_str(),
                           flags | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

bool GuardedPath::exists() const {
  return names_.empty() ? static_cast<bool>(*root_) : type_of(parent(), names_.back()) != 0;
}

bool GuardedPath::is_folder() const {
  return names_.empty() ? static_cast<bool>(*root_) : type_of(parent(), names_.back()) == S_IFDIR;
}

bool GuardedPath::is_file() const {
  return !names_.empty() && type_of(parent(), names_.back()) == S_IFREG;
}

std::vector<std::string> GuardedPath::list() const {
  constexpr int kList = O_RDONLY | O_DIRECTORY;
  const int folder =
      names_.empty() ? openat(root_->number(), ".", kList | O_CLOEXEC) : open_as(kList).release();
  std::vector<std::string> names;
  DIR* const listing = folder < 0 ? nullptr : fdopendir(folder);
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    if (names.size() == kMostNames) break;
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<RegularFile> GuardedPath::open() const {
  return RegularFile::of(open_as(O_RDONLY));
}

std::optional<std::string> GuardedPath::read(uint64_t most) const {
  const auto file = open();
  return file ? file->read(most) : std::nullopt;
}

Draft::~Draft() {
  if (folder_) unlinkat(folder_.number(), draft_.c_str(), 0);
}

bool Draft::write(std::string_view content) {
  return write_whole(file_, content);
}

Result<void> Draft::publish() {
  const std::string name = path_.filename().string();
  if (!file_.close() ||
      renameat(folder_.number(), draft_.c_str(), folder_.number(), name.c_str()) != 0) {
    return cannot("cannot write", path_, errno);
  }
  folder_.close();
  return {};
}

Result<Draft> GuardedPath::draft() const {
  Descriptor folder = parent();
  if (!folder || !is_plain(names_.back())) return cannot("cannot write", path_, errno);
  std::string name = "." + unguessable() + ".tmp";
  Descriptor file = make_new(folder, name);
  if (!file) return cannot("cannot write", path_, errno);
  return Draft(std::move(folder), std::move(file), std::move(name), path_);
}

Result<void> GuardedPath::replace(std::string_view content) const {
  auto draft = this->draft();
  if (!draft) return draft.error();
  if (!draft->write(content)) return cannot("cannot write", path_, errno);
  return draft->publish();
}

Result<void> GuardedPath::create(std::string_view content) const {
  const Descriptor folder = parent();
  if (!folder || !is_plain(names_.back())) return cannot("cannot create", path_, errno);
  Descriptor file = make_new(folder, names_.back());
  if (!file) return cannot("cannot create", path_, errno);
  if (write_whole(file, content) && file.close()) return {};
  const int code = errno;
  unlinkat(folder.number(), names_.back().c_str(), 0);
  return cannot("cannot write", path_, code);
}

void GuardedPath::overwrite(std::string_view content) const {
  struct stat found = {};
  const Descriptor file = open_as(O_WRONLY);
  if (!file) return static_cast<void>(create(content).ok());
  const bool own = fstat(file.number(), &found) == 0 && S_ISREG(found.st_mode) &&
                   found.st_uid == geteuid() && found.st_nlink == 1;
  if (own) write_whole(file, content);
}

Result<void> GuardedPath::make_folder() const {
  const Descriptor folder = parent();
  if (folder && is_plain(names_.back()) &&
      mkdirat(folder.number(), names_.back().c_str(), 0777) == 0) {
    return {};
  }
  return cannot("cannot create the folder", path_, errno);
}

Result<void> GuardedPath::rename_folder(std::string_view to) const {
  const Descriptor folder = parent();
  const std::string name(to);
  if (folder && is_plain(names_.back()) && is_plain(name) &&
      renameat(folder.number(), names_.back().c_str(), folder.number(), name.c_str()) == 0) {
    return {};
  }
  return cannot("cannot rename", path_, errno);
}

void GuardedPath::remove() const {
  const Descriptor folder = parent();
  if (folder && is_plain(names_.back())) unlinkat(folder.number(), names_.back().c_str(), 0);
}

}  // namespace culprit
