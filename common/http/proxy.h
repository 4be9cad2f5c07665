// Which servers are reached without the proxy of the environment, beyond what libcurl knows.
#pragma once

#include <string>
#include <string_view>

namespace radl::http {

// Whether an entry HOST:PORT of NO_PROXY names the URL's server, or a domain above it. libcurl compares
// entries without a port alone.
bool needs_no_proxy(const std::string& url, std::string_view no_proxy);

// The same for the variable that libcurl reads: no_proxy, else NO_PROXY.
bool needs_no_proxy(const std::string& url);

}  // namespace radl::http
