// The address that this computer is seen under from outside: what SSH is opened for.
#pragma once

#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

// "203.0.113.5/32", as https://checkip.amazonaws.com tells it; a server of a cloud's API on this computer
// (`endpoint`) means machines of this computer: "127.0.0.1/32".
Result<std::string> caller_cidr(http::Client& client, const std::string& endpoint, const Stop& stop);
// A single address, or one with a prefix length. Invalid: neither.
Result<std::string> parse_cidr(const std::string& text);

}  // namespace radl
