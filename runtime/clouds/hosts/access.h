// Logins at the machines of an infrastructure: with its own key, or as the user.
#pragma once

#include <memory>
#include <string>

#include "runtime/clouds/hosts/record.h"
#include "runtime/clouds/hosts/visit.h"
#include "runtime/clouds/hosts/way.h"
#include "runtime/net/ssh/connections.h"

namespace radl::hosts {

// What one login and its script may take.
inline constexpr std::chrono::seconds kLogin{20};

// The public line of the infrastructure's key, which is made unless it is there.
Result<std::string> ensure_key(const Context& context);

class Access {
 public:
  // `connections` outlives this; nullptr: it has its own.
  Access(std::string ssh_config, ssh::Connections* connections)
      : ssh_config_(std::move(ssh_config)), connections_(connections ? *connections : own_) {}

  Result<Way> way_to(const Machine& machine, const Context& context) const {
    return find_way(context.environment, machine, ssh_config_, context.stop.within(kLogin));
  }
  // As the user logs in, with what the spec's `credentials` refer to.
  Result<std::unique_ptr<UserLogin>> as_user(const Context& context, const Machine& machine, const Way& way,
                                             const nlohmann::json& spec) const;
  // With the infrastructure's key, or over a connection that the user's OpenSSH client holds open. Not longer
  // than the context.
  std::unique_ptr<Remote> with_key(const Context& context, const Record& record);
  // Never over the user's: what it runs shows that the key is accepted.
  std::unique_ptr<Remote> with_key_alone(const Context& context, const Record& record);

  // With our key, or, where that is not (or no longer) in place, as the user; `by_key` tells which.
  Result<Visit> visit_machine(const Context& context, const Record& record, bool& by_key);

 private:
  std::string ssh_config_;
  ssh::Connections own_;
  ssh::Connections& connections_;
};

}  // namespace radl::hosts
