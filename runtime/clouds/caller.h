// This computer's public address, for which SSH is opened.
#pragma once

#include <functional>
#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

// "203.0.113.5/32", from https://checkip.amazonaws.com. If the cloud's API (`endpoint`) is on this computer,
// so are its machines: "127.0.0.1/32".
Result<std::string> caller_cidr(http::Client& client, const std::string& endpoint, const Stop& stop);
using CallerSource = std::function<Result<std::string>(const Stop&)>;
// The address `given`, or else caller_cidr(). `client` must outlive the source.
CallerSource caller_source(http::Client& client, const std::string& endpoint, const std::string& given);
// Parses an address with or without a prefix length. Invalid: neither.
Result<std::string> parse_cidr(const std::string& text);

}  // namespace radl
