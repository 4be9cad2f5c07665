// Recognizes hosts that are this computer.
#pragma once

#include <string>

#include "common/http/url.h"

namespace radl::http {

// True for "localhost", "::1" and IPv4 literals in 127.0.0.0/8. False for any other name, such as
// "127.0.0.1.example.com". `host`: as Url::host.
bool is_loopback(const std::string& host);
// True if only the server can read what is sent there: over https, or within this computer.
bool keeps_secrets(const Url& url);

}  // namespace radl::http
