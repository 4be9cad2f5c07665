// Whether a host is this computer itself.
#pragma once

#include <string>

#include "common/http/url.h"

namespace radl::http {

// True for "localhost", "::1" and IPv4 literals of 127.0.0.0/8; false for any other name, such as
// "127.0.0.1.example.com". `host`: as Url::host.
bool is_loopback(const std::string& host);
// Whether what is sent there reaches nobody else: over https, or within this computer.
bool keeps_secrets(const Url& url);

}  // namespace radl::http
