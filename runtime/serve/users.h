// What the service gives to the work of each of its users: an environment, a home, and credentials.
//
// The service's own user has all that its process has. Another user has an empty environment, a folder of
// their own, FOLDER/users/NAME, and no credentials of the computer (common/machine_identity.h). A user who is
// not trusted (Settings::trusted) is also confined: no requests to closed addresses
// (common/http/closed_address.h), no nodes on this computer.
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
  const std::string& folder() const { return folder_; }  // of the service

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

// Whether nodes of a cloud (its type, or CloudId::text()) are on the service's computer or are reached with
// the keys of its user: only trusted users have nodes there.
bool is_on_this_computer(const driver::Host& host, const std::string& cloud);

}  // namespace radl::serve
