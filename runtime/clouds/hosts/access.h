// Logins at the machines of an infrastructure: with its own key, or as the user.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/clouds/hosts/record.h"
#include "runtime/clouds/hosts/visit.h"
#include "runtime/clouds/hosts/way.h"

namespace radl::hosts {

// What one login and its script may take.
inline constexpr std::chrono::seconds kLogin{20};

// The public line of the infrastructure's key, which is made unless it is there.
Result<std::string> ensure_key(const Context& context);

class Access {
 public:
  explicit Access(std::string ssh_config) : ssh_config_(std::move(ssh_config)) {}

  Result<Way> way_to(const Machine& machine, const Context& context) const {
    return find_way(machine, ssh_config_, context.stop.within(kLogin));
  }
  // As the user logs in, with what the spec's `credentials` refer to.
  Result<std::unique_ptr<UserLogin>> as_user(const Context& context, const Machine& machine, const Way& way,
                                             const nlohmann::json& spec) const;
  // With the infrastructure's key; kept, and shared by all threads.
  std::shared_ptr<Remote> with_key(const Context& context, const Record& record);
  void forget(const Context& context, const Record& record);

  // With our key, or, where that is not (or no longer) in place, as the user; `by_key` tells which.
  Result<Visit> visit_machine(const Context& context, const Record& record, bool& by_key);

 private:
  std::string ssh_config_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Remote>> remotes_;  // by work folder and machine
};

}  // namespace radl::hosts
