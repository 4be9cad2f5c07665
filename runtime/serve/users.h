// What the service gives to the work of each of its users: an environment, a home, and credentials.
//
// The service's own user has all that its process has. Another user has an empty environment and a folder of
// their own, FOLDER/users/NAME; what their programs may do beyond that, Settings::trusted says.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/serve/caller.h"
#include "runtime/serve/settings.h"
#include "runtime/serve/vault.h"

namespace radl::serve {

class Users {
 public:
  // `own`: of the service's own user, whose name is `owner`. `trust_all`: all users are trusted as that one
  // is.
  Users(const Settings& own, std::string folder, std::string owner, bool trust_all)
      : own_(own),
        folder_(std::move(folder)),
        owner_(std::move(owner)),
        trust_all_(trust_all),
        vault_(folder_, *own.host->world) {}

  // What it refers to lives as long as this.
  Settings of(const std::string& user);
  bool trusts(const std::string& user) const { return trust_all_ || user == owner_; }
  // The accounts that a request uses: those that it sent, else the stored ones of its user. Auth: accounts
  // that the user may not use.
  Result<std::string> accounts(const Caller& caller, const std::string& sent);
  Vault& vault() { return vault_; }
  const Settings& own() const { return own_; }
  const std::string& owner() const { return owner_; }

 private:
  struct Place {
    driver::Host host;
    World world;
  };

  const Settings own_;
  const std::string folder_, owner_;
  const bool trust_all_;
  Vault vault_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Place>> places_;
};

// Why requests to this host are not made for a user who is not trusted: it is this computer, or a link-local
// address such as a cloud's metadata service (169.254.169.254). `url`: a URL or HOST[:PORT]. Names are
// resolved. Invalid: nothing is found there.
Status check_host_of_user(const std::string& url);

}  // namespace radl::serve
