// Rejects malformed requests that libmicrohttpd accepts.
//
// libmicrohttpd 0.9.75 accepts ambiguous requests: Content-Length together with Transfer-Encoding,
// lengths that differ, "Content-Length :", two Hosts, folded headers, NUL bytes, lines that end with a
// bare LF (RFC 9112, sections 2.2, 5, 6.3 and 11.2). Behind a proxy such a request can smuggle another
// one past it, and two Hosts defeat a check of Host. The server answers each with 400 and closes the
// connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::httpd {

// A header as libmicrohttpd found it. The views point into the connection's buffer, in which libmicrohttpd
// has replaced every CR and LF at the end of a line with a NUL.
struct HeaderPlace {
  std::string_view name, value;
};

// Returns why the request is malformed; nullopt if it is well formed. `version` is that of the request line,
// in the same buffer. The end of the last header is not checked: a bare LF there is not detected.
std::optional<std::string> malformed(std::string_view method, std::string_view version,
                                     const std::vector<HeaderPlace>& headers);

}  // namespace radl::httpd
