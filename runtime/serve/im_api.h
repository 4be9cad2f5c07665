// The Infrastructure Manager's REST API over the driver (docs/service.md lists what differs from the
// reference).
#pragma once

#include <string>

#include "runtime/serve/access.h"
#include "runtime/serve/im_call.h"
#include "runtime/serve/part.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

class ImApi : public Part {
 public:
  // Both outlive it. `scheme`: "http" or "https", for the addresses in answers.
  ImApi(Access& access, Registry& registry, std::string scheme)
      : access_(access), registry_(registry), scheme_(std::move(scheme)) {}

  // All requests: it is the last part of the service.
  bool takes(const httpd::RequestHead&) const override { return true; }
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;

 private:
  // Answers a whole request; may wait for machines.
  httpd::Answer answer(const httpd::RequestHead& head, const std::string& body, const Caller& caller);
  httpd::Answer route(ImCall& call);
  httpd::Answer list(ImCall& call);
  httpd::Answer create(ImCall& call);
  httpd::Answer with_infrastructure(ImCall& call, const std::shared_ptr<Infrastructure>& inf);
  httpd::Answer destroy(ImCall& call, const std::shared_ptr<Infrastructure>& inf);

  Access& access_;
  Registry& registry_;
  const std::string scheme_;
};

}  // namespace radl::serve
