// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See loopback.h. One thread looks after all connections, and never waits for one of them. What
// comes in is limited in size and time, and whatever goes wrong on a connection ends that
// connection alone.

#include "cli/serve/loopback.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <list>
#include <optional>
#include <vector>

namespace culprit::cli {
namespace {

constexpr size_t kMostHead = 16 << 10;
constexpr size_t kMostClients = 64;
/// For a request to come in, or for the client to take more.
constexpr std::chrono::seconds kPatience{10};

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

std::string message(const WebAnswer& what) {
  const char* words = what.status == 200   ? "OK"
                      : what.status == 403 ? "Forbidden"
                      : what.status == 404 ? "Not Found"
                                           : "Bad Request";
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{}",
      what.status, words, what.type, what.body.size(), what.body);
}

/// The answer to a request with this head.
std::string answer_to(std::string_view head, uint16_t port, std::string_view token,
                      const WebHandler& handler) {
  const ParsedRequest parsed = parse_request(head, port, token);
  if (parsed.status == 200) return message(handler(parsed.request));
  return message({parsed.status, "text/plain", "use the address that culprit view has printed\n"});
}

using Clock = std::chrono::steady_clock;

/// A connection: the head of a request comes in, then the answer goes out.
class Client {
 public:
  explicit Client(int file) : socket_(file) {}

  int file() const { return socket_.file(); }
  bool is_sending() const { return !answer_.empty(); }
  bool has_expired() const { return Clock::now() > deadline_; }

  /// Goes on as far as that is possible without waiting; false at the end.
  template <class Answer>
  bool go_on(const Answer& answer) {
    deadline_ = Clock::now() + kPatience;
    if (!is_sending()) {
      if (!receive()) return false;
      if (head_.find("\r\n\r\n") == std::string::npos) return true;
      answer_ = answer(head_);
    }
    return send_more();
  }

 private:
  bool receive() {
    char buffer[4096];
    const ssize_t size = recv(file(), buffer, sizeof buffer, 0);
    if (size < 0) return may_go_on();
    head_.append(buffer, static_cast<size_t>(size));
    return size > 0 && head_.size() < kMostHead;
  }

  bool send_more() {
    while (sent_ < answer_.size()) {
      const ssize_t size =
          send(file(), answer_.data() + sent_, answer_.size() - sent_, MSG_NOSIGNAL);
      if (size < 0) return may_go_on();
      sent_ += static_cast<size_t>(size);
    }
    return false;
  }

  static bool may_go_on() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  const Socket socket_;
  std::string head_, answer_;
  size_t sent_ = 0;
  Clock::time_point deadline_ = Clock::now() + kPatience;
};

using Clients = std::list<Client>;

/// Those that have something to do go on; those that are done, or were silent for too long, end.
template <class Answer>
void serve_clients(Clients& clients, const std::vector<pollfd>& states, const Answer& answer) {
  auto state = states.begin();
  for (auto client = clients.begin(); client != clients.end(); ++state) {
    const bool stays = state->revents != 0 ? client->go_on(answer) : !client->has_expired();
    client = stays ? std::next(client) : clients.erase(client);
  }
}

void accept_client(int listening, Clients& clients) {
  const int file = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (file < 0) return;
  if (clients.size() == kMostClients) clients.pop_front();
  clients.emplace_back(file);
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
  Clients clients;
  while (interrupted == 0) {
    std::vector<pollfd> states;
    for (const Client& client : clients) {
      states.push_back(
          {client.file(), static_cast<short>(client.is_sending() ? POLLOUT : POLLIN), 0});
    }
    states.push_back({listening.file(), POLLIN, 0});
    if (poll(states.data(), states.size(), 500) < 0) continue;  // interrupted
    serve_clients(clients, states,
                  [&](std::string_view head) { return answer_to(head, port, token, handler); });
    if (states.back().revents != 0) accept_client(listening.file(), clients);
  }
  return {};
}

}  // namespace culprit::cli
