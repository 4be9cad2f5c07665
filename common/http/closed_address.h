// Addresses to which a service makes no requests for users whom it does not trust with its computer: that
// computer itself, link-local addresses, and the metadata services of clouds, which give a virtual machine's
// own credentials to all who ask from it.
//
// A Client whose environment has RADL_CONFINED connects to none of them, whatever name, redirect or catalog
// led there: it checks the address of each connection.
#pragma once

#include <sys/socket.h>

#include <string>

#include "common/environment.h"
#include "common/status.h"

namespace radl::http {

inline constexpr const char* kConfined = "RADL_CONFINED";
inline bool is_confined(const Environment& environment) { return environment.has(kConfined); }

// `address`: of AF_INET or AF_INET6; others are closed.
bool is_closed_address(const sockaddr* address);

// Looks the host of a URL, or of HOST[:PORT], up. Auth: one of its addresses is closed. Invalid: the text is
// malformed, or the name is unknown.
Status check_open_host(const std::string& url);

}  // namespace radl::http
