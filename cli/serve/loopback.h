// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A web server for one person on the same machine (behind ssh: through a forwarded port). It
// listens on the loopback interface alone. It answers only GET, only to clients that know the
// token, and only if they ask for a host by a name of the loopback interface: another name may be
// an attempt to get here from a page elsewhere. Each request has a connection of its own. Browsers
// open connections that they do not use yet; no connection that waits, for a request to come or an
// answer to go, delays another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::cli {

struct WebRequest {
  std::string path;  ///< "/part"
  std::map<std::string, std::string> query;
};

struct WebAnswer {
  int status = 200;
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

using WebHandler = std::function<WebAnswer(const WebRequest&)>;

/// 128 random bits as hexadecimal digits.
Result<std::string> random_token();

/// Serves until SIGINT or SIGTERM. `port` 0: any. `ready` is called with the port, once. Error if
/// the port cannot be had.
Result<void> serve_loopback(uint16_t port, std::string_view token,
                            const std::function<void(uint16_t)>& ready, const WebHandler& handler);

}  // namespace culprit::cli
