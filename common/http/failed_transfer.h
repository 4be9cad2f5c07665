// Why libcurl got no answer, in words, and whether the request may have arrived.
#pragma once

#include <curl/curl.h>

#include "common/http/http.h"
#include "common/status.h"

namespace radl::http {

// Whether sending it a second time does nothing more.
bool may_be_repeated(const Request& r);

// `sent`: something of it went out. What is left unknown for one that must not be repeated is Lost then.
// `proxy`: that it was to go through, "" for none; `text`: libcurl's own, "" for none.
Status failed_transfer(CURLcode code, const Request& r, const std::string& proxy, bool sent,
                       const char* text);

}  // namespace radl::http
