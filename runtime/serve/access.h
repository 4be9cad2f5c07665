// Who may speak to the service.
//
// A token is always required, on loopback as well: any user of this computer and any web page that its user
// opens reaches loopback (DNS rebinding: Host is checked; forged requests: Origin and Sec-Fetch-Site are,
// with every method). Nothing is answered with a CORS header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/http_server/head.h"
#include "common/status.h"
#include "runtime/base/world.h"

namespace radl::serve {

class Access {
 public:
  // Reads FOLDER/token; creates it with mode 0600 if it does not exist. Auth: other users can read it.
  static Result<Access> open(const std::string& folder, Random& random);

  // Names of this service in Host: "127.0.0.1:8899". Whatever else a client was led to use is refused.
  void set_hosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }
  // Why the request comes from no client of this service: a Host of others, or a page of another origin.
  std::optional<std::string> refused(const httpd::RequestHead& head) const;
  // Compared in constant time.
  bool is_token(const std::string& secret) const;
  const std::string& token() const { return token_; }

 private:
  std::string token_;
  std::vector<std::string> hosts_;
};

}  // namespace radl::serve
