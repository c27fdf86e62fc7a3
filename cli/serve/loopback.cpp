// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See loopback.h. What comes in is limited in size and time, and whatever goes wrong on a
// connection ends that connection alone.

#include "cli/serve/loopback.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

namespace culprit::cli {
namespace {

constexpr size_t kMostHead = 16 << 10;
constexpr int kPatience = 10;  ///< seconds for a request to come in, or for the client to take more

volatile std::sig_atomic_t interrupted = 0;

void interrupt(int) {
  interrupted = 1;
}

/// Closed at the end.
class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (file_ >= 0) close(file_);
  }
  int file() const { return file_; }

 private:
  const int file_;
};

/// As long as it takes the same time whatever the difference.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differ = 0;
  for (size_t i = 0; i < a.size(); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> parse_query(std::string_view text) {
  std::map<std::string, std::string> query;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view part = text.substr(0, end);
    const size_t equals = std::min(part.find('='), part.size());
    query[decoded(part.substr(0, equals))] =
        decoded(part.substr(std::min(equals + 1, part.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return query;
}

/// The value of a header; names are in any case.
std::optional<std::string_view> header(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      std::string_view value = line.substr(name.size() + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      while (value.ends_with(' ')) value.remove_suffix(1);
      return value;
    }
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  return std::nullopt;
}

bool is_own_name(std::string_view host, uint16_t port) {
  for (const char* name : {"127.0.0.1", "localhost"}) {
    if (host == fmt::format("{}:{}", name, port)) return true;
  }
  return false;
}

/// The head of a message; empty if none came.
std::string read_head(int file) {
  std::string head;
  while (head.size() < kMostHead && head.find("\r\n\r\n") == std::string::npos) {
    char buffer[4096];
    const ssize_t size = recv(file, buffer, sizeof buffer, 0);
    if (size <= 0) return "";
    head.append(buffer, static_cast<size_t>(size));
  }
  return head;
}

void send_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = send(file, text.data(), text.size(), MSG_NOSIGNAL);
    if (size <= 0) return;
    text.remove_prefix(static_cast<size_t>(size));
  }
}

void answer(int file, const WebAnswer& what) {
  const char* words = what.status == 200   ? "OK"
                      : what.status == 403 ? "Forbidden"
                      : what.status == 404 ? "Not Found"
                                           : "Bad Request";
  send_all(file, fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                             "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                             "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
                             what.status, words, what.type, what.body.size()));
  send_all(file, what.body);
}

void handle(int file, uint16_t port, std::string_view token, const WebHandler& handler) {
  const timeval patience{kPatience, 0};
  setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const ParsedRequest parsed = parse_request(read_head(file), port, token);
  if (parsed.status == 200) return answer(file, handler(parsed.request));
  answer(file, {parsed.status, "text/plain", "use the address that culprit view has printed\n"});
}

/// Listens; -1 if the port cannot be had.
int listen_on(uint16_t& port) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file < 0) return -1;
  const int yes = 1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  if (bind(file, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(file, 16) == 0 &&
      getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
    return file;
  }
  const int why = errno;
  close(file);
  errno = why;
  return -1;
}

}  // namespace

Result<std::string> random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    return Error{"the system has no random numbers for a token"};
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

ParsedRequest parse_request(std::string_view head, uint16_t port, std::string_view token) {
  const size_t end = head.find("\r\n");
  if (end == std::string_view::npos || !head.starts_with("GET /")) return {400, {}};
  std::string_view line = head.substr(4, end - 4);
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || !line.substr(blank + 1).starts_with("HTTP/1.")) {
    return {400, {}};
  }
  const auto host = header(head.substr(end + 2), "host");
  if (!host || !is_own_name(*host, port)) return {403, {}};
  line = line.substr(0, blank);
  const size_t question = std::min(line.find('?'), line.size());
  WebRequest request{decoded(line.substr(0, question)),
                     parse_query(line.substr(std::min(question + 1, line.size())))};
  const auto given = request.query.find("token");
  if (given == request.query.end() || !same_secret(given->second, token)) return {403, {}};
  return {200, std::move(request)};
}

Result<void> serve_loopback(uint16_t port, std::string_view token,
                            const std::function<void(uint16_t)>& ready, const WebHandler& handler) {
  const Socket listening(listen_on(port));
  if (listening.file() < 0) {
    return Error{fmt::format("cannot listen on port {}: {}", port, std::strerror(errno))};
  }
  struct sigaction action{};
  action.sa_handler = interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  ready(port);
  while (interrupted == 0) {
    pollfd waiting{listening.file(), POLLIN, 0};
    if (poll(&waiting, 1, 500) <= 0) continue;  // interrupted, or nobody there
    const Socket client(accept4(listening.file(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.file() >= 0) handle(client.file(), port, token, handler);
  }
  return {};
}

}  // namespace culprit::cli
