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
  std::optional<httpd::Answer> refuse_stranger(const httpd::RequestHead& head) const;
  // Answers a whole request; may wait for machines.
  httpd::Answer answer(const httpd::RequestHead& head, const std::string& body);

 private:
  httpd::Answer route(ImCall& call);
  httpd::Answer list(ImCall& call);
  httpd::Answer create(ImCall& call);
  httpd::Answer with_infrastructure(ImCall& call, const std::shared_ptr<Infrastructure>& inf);
  httpd::Answer destroy(ImCall& call, const std::shared_ptr<Infrastructure>& inf);

  const Access& access_;
  Registry& registry_;
  const std::string scheme_;
};

}  // namespace radl::serve
