// What libmicrohttpd accepts and this server does not.
//
// libmicrohttpd 0.9.75 takes requests that two readers understand in two ways: a Content-Length beside
// Transfer-Encoding, lengths that differ, "Content-Length :", two Hosts, folded headers, NUL bytes, lines
// that end with a bare LF (RFC 9112, sections 2.2, 5, 6.3 and 11.2). Behind a proxy such a request smuggles
// another one past it; two Hosts defeat a check of Host. Each is answered with 400, and the connection is
// closed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::httpd {

// One header as libmicrohttpd found it. The texts lie in the connection's own buffer, in which every CR and
// LF that ended a line has become a NUL.
struct HeaderPlace {
  std::string_view name, value;
};

// Why the request is refused; nothing: it is well formed. `version` is the one of the request line, in the
// same buffer. A bare LF after the last header alone is not seen.
std::optional<std::string> malformed(std::string_view method, std::string_view version,
                                     const std::vector<HeaderPlace>& headers);

}  // namespace radl::httpd
