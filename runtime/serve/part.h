// A part of the service: handles requests under some paths, from authorized callers (access.h). The service
// asks its parts in order; the first that takes a request handles it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "common/http_server/server.h"
#include "runtime/serve/caller.h"

namespace radl::serve {

using Begun = std::variant<httpd::Answer, std::unique_ptr<httpd::Exchange>>;

class Part {
 public:
  virtual ~Part() = default;
  virtual bool takes(const httpd::RequestHead& head) const = 0;
  // True if its modifying requests run programs on this computer without a further check, so that only
  // trusted users may send them (Users::trusts()).
  virtual bool runs_programs() const { return true; }
  // As httpd::Handler::begin(). The service adds its security headers to the response, unless it has its own
  // Content-Security-Policy or Cache-Control.
  virtual Begun begin(const httpd::RequestHead& head, const Caller& caller) = 0;
};

// An error in the path's format: below /api/ the own API's (own_call.h), elsewhere IM's (im_call.h), which
// has no hint.
httpd::Answer refusal(const httpd::RequestHead& head, int status, const std::string& why,
                      const std::string& hint = {});

// An exchange that reads the whole body, up to `most` bytes, and then responds. 413 if it is longer.
Begun with_body(const httpd::RequestHead& head, size_t most,
                std::function<httpd::Answer(const std::string& body)> answer);

}  // namespace radl::serve
