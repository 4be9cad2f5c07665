// Users' management of their own accounts (docs/service.md): /api/me, /api/session, /api/tokens,
// /api/credentials and, for administrators, /api/audit.
#pragma once

#include <string>
#include <vector>

#include "runtime/serve/access.h"
#include "runtime/serve/audit.h"
#include "runtime/serve/part.h"
#include "runtime/serve/users.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

class AccountApi : public Part {
 public:
  // All arguments must outlive this object.
  AccountApi(Access& access, Users& users, Audit& audit) : access_(access), users_(users), audit_(audit) {}
  bool takes(const httpd::RequestHead& head) const override;
  bool runs_programs() const override { return false; }
  Begun begin(const httpd::RequestHead& head, const Caller& caller) override;
  // [{"method", "path", "scope"}] of all routes, below /api.
  static Json described();

 private:
  struct Route;
  static const std::vector<Route>& routes();
  using Answer = httpd::Answer;
  // `id`: from the path, if its route has one.
  Answer me(const Caller& caller, const std::string& id, const std::string& body);
  Answer end_session(const Caller& caller, const std::string& id, const std::string& body);
  Answer list_tokens(const Caller& caller, const std::string& id, const std::string& body);
  Answer issue_token(const Caller& caller, const std::string& id, const std::string& body);
  Answer revoke_token(const Caller& caller, const std::string& id, const std::string& body);
  Answer list_credentials(const Caller& caller, const std::string& id, const std::string& body);
  Answer put_credentials(const Caller& caller, const std::string& id, const std::string& body);
  Answer remove_credentials(const Caller& caller, const std::string& id, const std::string& body);
  Answer audit(const Caller& caller, const std::string& id, const std::string& body);
  Answer audit_refused(const Caller& caller, const std::string& id, const std::string& body);

  Access& access_;
  Users& users_;
  Audit& audit_;
};

}  // namespace radl::serve
