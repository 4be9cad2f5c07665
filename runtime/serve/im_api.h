// The Infrastructure Manager's REST API on top of the driver (docs/service.md lists the differences from the
// reference).
#pragma once

#include <string>

#include "runtime/serve/im_infrastructure.h"
#include "runtime/serve/part.h"
#include "runtime/serve/request_slots.h"

namespace radl::serve {

// Limits per user.
struct ImLimits {
  size_t infrastructures = 200;
};

class ImApi : public Part {
 public:
  // Both must outlive this object. `scheme`: "http" or "https", for URLs in responses.
  ImApi(Access& access, Registry& registry, std::string scheme, const ImLimits& limits)
      : parts_{access, registry}, scheme_(std::move(scheme)), limits_(limits) {}

  // Takes all requests: it is the last part of the service.
  bool takes(const httpd::RequestHead&) const override { return true; }
  bool runs_programs() const override { return false; }  // compile_document() checks it
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;

 private:
  // Handles a complete request; may wait for machines.
  httpd::Answer answer(const httpd::RequestHead& head, const std::string& body, const Caller& caller);
  httpd::Answer admitted(ImCall& call);  // with a slot, or for a read
  httpd::Answer route(ImCall& call);
  httpd::Answer list(ImCall& call);
  httpd::Answer create(ImCall& call);
  httpd::Answer take(ImCall& call);  // imports an infrastructure exported by another service

  const ImParts parts_;
  const std::string scheme_;
  const ImLimits limits_;
  RequestSlots waiting_{8, 16};  // requests that may wait for machines
  RequestSlots starting_{4, 8};  // those that resolve the names of a client's accounts, or compile a document
};

}  // namespace radl::serve
