// A part of the service: it answers the requests under some paths, all of whose callers are admitted
// (access.h). The service asks its parts in their order, and the first that takes a request answers it.
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
  // Whether its requests that change something run programs on this computer without a check of its own:
  // only trusted users may send them (Users::trusts()).
  virtual bool runs_programs() const { return true; }
  // As httpd::Handler::begin(). The service adds its security headers to the answer, unless the answer has
  // its own Content-Security-Policy or Cache-Control.
  virtual Begun begin(const httpd::RequestHead& head, const Caller& caller) = 0;
};

// An error in the form of the path: below /api/ that of the own API (own_call.h), elsewhere IM's (im_call.h),
// which has no hint.
httpd::Answer refusal(const httpd::RequestHead& head, int status, const std::string& why,
                      const std::string& hint = {});

// An exchange that reads the whole body, at most `most` bytes, and then answers. 413 for a longer one.
Begun with_body(const httpd::RequestHead& head, size_t most,
                std::function<httpd::Answer(const std::string& body)> answer);

}  // namespace radl::serve
