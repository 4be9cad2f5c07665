// Explains why libcurl got no response, and whether the request may have arrived.
#pragma once

#include <curl/curl.h>

#include "common/http/http.h"
#include "common/status.h"

namespace radl::http {

// True if sending the request twice has no further effect.
bool may_be_repeated(const Request& r);

// `sent`: part of the request went out; a request that must not be repeated is then Lost. `proxy`: the proxy
// used, "" for none; `text`: libcurl's own message, "" for none.
Status failed_transfer(CURLcode code, const Request& r, const std::string& proxy, bool sent,
                       const char* text);

}  // namespace radl::http
