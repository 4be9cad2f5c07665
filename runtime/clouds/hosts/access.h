// Logins to an infrastructure's machines: with its own key, or as the user.
#pragma once

#include <memory>
#include <string>

#include "runtime/clouds/hosts/record.h"
#include "runtime/clouds/hosts/visit.h"
#include "runtime/clouds/hosts/way.h"
#include "runtime/net/ssh/connections.h"

namespace radl::hosts {

// Time limit for a login and its script.
inline constexpr std::chrono::seconds kLogin{20};

// The public key line of the infrastructure's key. Creates the key if missing.
Result<std::string> ensure_key(const Context& context);

class Access {
 public:
  // `connections` must outlive this object; nullptr: uses its own.
  Access(std::string ssh_config, ssh::Connections* connections)
      : ssh_config_(std::move(ssh_config)), connections_(connections ? *connections : own_) {}

  Result<Way> way_to(const Machine& machine, const Context& context) const {
    return find_way(context.environment, machine, ssh_config_, context.stop.within(kLogin));
  }
  // Logs in as the user, with the spec's `credentials`.
  Result<std::unique_ptr<UserLogin>> as_user(const Context& context, const Machine& machine, const Way& way,
                                             const nlohmann::json& spec) const;
  // Logs in with the infrastructure's key, or uses an open connection of the user's OpenSSH client. Must not
  // outlive the context.
  std::unique_ptr<Remote> with_key(const Context& context, const Record& record);
  // Never uses the user's connection, so a successful command proves that the key is accepted.
  std::unique_ptr<Remote> with_key_alone(const Context& context, const Record& record);

  // Logs in with radlc's key or, if that is not (or no longer) installed, as the user; `by_key` tells which.
  Result<Visit> visit_machine(const Context& context, const Record& record, bool& by_key);

 private:
  std::string ssh_config_;
  ssh::Connections own_;
  ssh::Connections& connections_;
};

}  // namespace radl::hosts
