// The Infrastructure Manager's REST API over the driver (docs/service.md lists what differs from the
// reference).
#pragma once

#include <string>

#include "common/http_server/server.h"
#include "runtime/serve/access.h"
#include "runtime/serve/im_call.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

class ImApi {
 public:
  // Both outlive it. `scheme`: "http" or "https", for the addresses in answers.
  ImApi(const Access& access, Registry& registry, std::string scheme)
      : access_(access), registry_(registry), scheme_(std::move(scheme)) {}

  // Whether the request carries the token; nothing: it does. Needs the head alone.
  std::optional<http::Answer> refuse_stranger(const http::RequestHead& head) const;
  // Answers a whole request; may wait for machines.
  http::Answer answer(const http::RequestHead& head, const std::string& body);
  static http::Answer error(const http::RequestHead& head, int status, const std::string& message);

 private:
  http::Answer route(ImCall& call);
  http::Answer list(ImCall& call);
  http::Answer create(ImCall& call);
  http::Answer with_infrastructure(ImCall& call, const std::shared_ptr<Infrastructure>& inf);
  http::Answer destroy(ImCall& call, const std::shared_ptr<Infrastructure>& inf);

  const Access& access_;
  Registry& registry_;
  const std::string scheme_;
};

}  // namespace radl::serve
