// What a user manages of their own account (docs/service.md): /api/me, /api/session, /api/tokens,
// /api/credentials and, for administrators, /api/audit.
#pragma once

#include "runtime/serve/access.h"
#include "runtime/serve/audit.h"
#include "runtime/serve/part.h"
#include "runtime/serve/users.h"

namespace radl::serve {

class AccountApi : public Part {
 public:
  // All outlive it.
  AccountApi(Access& access, Users& users, Audit& audit) : access_(access), users_(users), audit_(audit) {}
  bool takes(const httpd::RequestHead& head) const override;
  bool runs_programs() const override { return false; }
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;

 private:
  httpd::Answer answer(const httpd::RequestHead& head, const Caller& caller, const std::string& body);
  httpd::Answer tokens(const std::string& method, const Caller& caller, const std::string& id,
                       const std::string& body);
  httpd::Answer credentials(const std::string& method, const Caller& caller, const std::string& body);

  Access& access_;
  Users& users_;
  Audit& audit_;
};

}  // namespace radl::serve
