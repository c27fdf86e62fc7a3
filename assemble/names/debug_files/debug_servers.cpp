// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The client calls back several times a second while it waits, which is where its time ends. It
// reads the addresses of servers from the environment, and knows of no other way.
#include "assemble/names/debug_files/debug_servers.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/settings.h"

namespace culprit::assemble {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The functions of the client that are needed, as its header declares them.
struct Client {
  using Handle = void;
  using Progress = int(Handle*, long, long);
  Handle* (*begin)() = nullptr;
  void (*end)(Handle*) = nullptr;
  void (*set_progress)(Handle*, Progress*) = nullptr;
  int (*find)(Handle*, const unsigned char*, int, char**) = nullptr;

  static const Client* loaded() {
    static const Client client = load();
    return client.find != nullptr ? &client : nullptr;
  }

 private:
  /// Never unloaded: what it uses to talk to servers leaves things behind.
  static Client load() {
    void* const library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    Client client;
    const auto get = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool has_all = get(client.begin, "debuginfod_begin") &&
                         get(client.end, "debuginfod_end") &&
                         get(client.set_progress, "debuginfod_set_progressfn") &&
                         get(client.find, "debuginfod_find_debuginfo");
    return has_all ? client : Client{};
  }
};

Clock::time_point g_until;  // the callback has no other way to know it

int ends_when_time_is_up(void*, long, long) {
  return Clock::now() >= g_until ? 1 : 0;
}

fs::path folder_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : fs::path();
}

fs::path cache_of_client() {
  if (const fs::path own = folder_of("DEBUGINFOD_CACHE_PATH"); !own.empty()) return own;
  const fs::path home = folder_of("HOME");
  std::error_code code;
  const fs::path old = home / ".debuginfod_client_cache";
  if (!home.empty() && fs::exists(old, code)) return old;
  const fs::path caches = folder_of("XDG_CACHE_HOME");
  return (caches.empty() ? home / ".cache" : caches) / "debuginfod_client";
}

}  // namespace

DebugServers DebugServers::of_user() {
  DebugServers servers;
  const char* const seconds = std::getenv(variable(Setting::debuginfod));
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  if (seconds != nullptr && urls != nullptr && *urls != '\0') {
    servers.seconds_ = static_cast<unsigned>(std::strtoul(seconds, nullptr, 10));
  }
  return servers;
}

DebugServers::Fetched DebugServers::fetch(const std::vector<std::string>& build_ids) const {
  Fetched fetched;
  const Client* const client = may_be_asked() ? Client::loaded() : nullptr;
  if (client == nullptr) return fetched;
  const std::unique_ptr<void, void (*)(void*)> session(client->begin(), client->end);
  if (!session) return fetched;
  g_until = Clock::now() + std::chrono::seconds(seconds_);
  client->set_progress(session.get(), ends_when_time_is_up);
  for (const std::string& id : build_ids) {
    fetched.out_of_time = Clock::now() >= g_until;
    if (fetched.out_of_time) break;
    const auto* const digits = reinterpret_cast<const unsigned char*>(id.c_str());
    const int file = client->find(session.get(), digits, 0, nullptr);  // 0: as digits
    if (file < 0) continue;
    close(file);
    ++fetched.found;
  }
  fetched.out_of_time |= Clock::now() >= g_until;
  return fetched;
}

fs::path fetched_debug_info(std::string_view build_id) {
  return build_id.empty() ? fs::path() : cache_of_client() / build_id / "debuginfo";
}

}  // namespace culprit::assemble
