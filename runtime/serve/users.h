// The surroundings of each user's work in the service: environment, home, and credentials.
//
// The service's own user has everything that its process has. Other users have an empty environment, their
// own folder FOLDER/users/NAME, and no credentials of the computer (common/machine_identity.h). Users who are
// not trusted (Settings::trusted) are also confined: no requests to closed addresses
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
  // `own`: settings of the service's own user `owner`. `trust_all`: trust all users like that one.
  Users(const Settings& own, std::string folder, std::string owner, bool trust_all)
      : own_(own),
        folder_(std::move(folder)),
        owner_(std::move(owner)),
        trust_all_(trust_all),
        vault_(folder_, *own.host->world) {}

  // The result refers to this object, which must outlive it.
  Settings of(const std::string& user);
  bool trusts(const std::string& user) const { return trust_all_ || user == owner_; }
  // Returns the accounts for a request: those that it sent, else the stored ones of its user. Auth: the user
  // may not use these accounts.
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

// True if nodes of a cloud (its type, or CloudId::text()) are on the service's computer, or are reached with
// the keys of its user. Only trusted users may have such nodes.
bool is_on_this_computer(const driver::Host& host, const std::string& cloud);

}  // namespace radl::serve
