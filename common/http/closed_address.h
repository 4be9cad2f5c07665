// Addresses that a service never contacts for untrusted users: its own computer, link-local
// addresses, and cloud metadata services, which give a virtual machine's credentials to every local
// caller.
//
// A Client whose environment has RADL_CONFINED connects to none of them. It checks the address of
// each connection, so no name, redirect or catalog can get around it.
#pragma once

#include <sys/socket.h>

#include <string>

#include "common/environment.h"
#include "common/status.h"

namespace radl::http {

inline constexpr const char* kConfined = "RADL_CONFINED";
inline bool is_confined(const Environment& environment) { return environment.has(kConfined); }

// `address` must be AF_INET or AF_INET6; other families count as closed.
bool is_closed_address(const sockaddr* address);

// Resolves the host of a URL or of HOST[:PORT]. Auth: one of its addresses is closed. Invalid: the text is
// malformed or the name is unknown.
Status check_open_host(const std::string& url);

}  // namespace radl::http
