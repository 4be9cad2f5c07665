// Selects the proxy for a server from environment variables.
#pragma once

#include <string>
#include <string_view>

#include "common/environment.h"

namespace radl::http {

// True if an entry HOST:PORT of NO_PROXY matches the URL's server or a parent domain. libcurl itself handles
// only entries without a port.
bool needs_no_proxy(const std::string& url, std::string_view no_proxy);

// In libcurl's order: no_proxy, else NO_PROXY; and the first that is set of http_proxy or https_proxy,
// HTTPS_PROXY, all_proxy, ALL_PROXY. "": none.
std::string no_proxy_of(const Environment& environment);
std::string proxy_of(const std::string& url, const Environment& environment);

}  // namespace radl::http
