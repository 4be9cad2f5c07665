// Which proxy a server is reached through, by an environment's variables.
#pragma once

#include <string>
#include <string_view>

#include "common/environment.h"

namespace radl::http {

// Whether an entry HOST:PORT of NO_PROXY names the URL's server, or a domain above it. libcurl compares
// entries without a port alone.
bool needs_no_proxy(const std::string& url, std::string_view no_proxy);

// As libcurl reads them: no_proxy, else NO_PROXY; and http_proxy or https_proxy, HTTPS_PROXY, all_proxy,
// ALL_PROXY, the first that is set. "": none.
std::string no_proxy_of(const Environment& environment);
std::string proxy_of(const std::string& url, const Environment& environment);

}  // namespace radl::http
