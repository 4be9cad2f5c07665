// The Infrastructure Manager's REST API over the driver (docs/service.md lists what differs from the
// reference).
#pragma once

#include <string>

#include "runtime/serve/im_infrastructure.h"
#include "runtime/serve/part.h"
#include "runtime/serve/request_slots.h"

namespace radl::serve {

// What one user may have at most.
struct ImLimits {
  size_t infrastructures = 200;
};

class ImApi : public Part {
 public:
  // Both outlive it. `scheme`: "http" or "https", for the addresses in answers.
  ImApi(Access& access, Registry& registry, std::string scheme, const ImLimits& limits)
      : parts_{access, registry}, scheme_(std::move(scheme)), limits_(limits) {}

  // All requests: it is the last part of the service.
  bool takes(const httpd::RequestHead&) const override { return true; }
  bool runs_programs() const override { return false; }  // compile_document() checks
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;

 private:
  // Answers a whole request; may wait for machines.
  httpd::Answer answer(const httpd::RequestHead& head, const std::string& body, const Caller& caller);
  httpd::Answer admitted(ImCall& call);  // with a slot, or a read
  httpd::Answer route(ImCall& call);
  httpd::Answer list(ImCall& call);
  httpd::Answer create(ImCall& call);
  httpd::Answer take(ImCall& call);  // what another service exported

  const ImParts parts_;
  const std::string scheme_;
  const ImLimits limits_;
  RequestSlots waiting_{8, 16};  // requests that may wait for machines
  RequestSlots starting_{4, 8};  // those that resolve the names of a client's accounts, or compile a document
};

}  // namespace radl::serve
