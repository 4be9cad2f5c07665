#include "runtime/clouds/hosts/root.h"

#include "runtime/base/sudo_secret.h"
#include "runtime/clouds/hosts/access.h"
#include "runtime/net/sudo.h"

namespace radl::hosts {

std::string sudo_password_of(const Context& context, const Record& record) {
  const Json credentials = record.spec.value("credentials", Json::object());
  return sudo_password(credentials.value("password", Json()), context.secrets);
}

Status can_become_root(const Context& context, const Record& record, const Json& facts, Remote& users) {
  const std::string sudo = facts.value("sudo", "");
  const std::string refusal = sudo_refusal(sudo, record.way.user);
  if (refusal.empty()) return {};
  auto fails = [&](const std::string& why) {
    context.log(record.address + ": " + why + ": what needs root will fail");
    return Status();
  };
  if (sudo != "password") return fails(refusal);
  const std::string password = sudo_password_of(context, record);
  if (password.empty())
    return fails(
        refusal +
        ", and there is none (disk.0.os.credentials.password, RADL_SUDO_PASSWORD, --ask-sudo-password)");
  auto taken = takes_for_sudo(users, password, context.stop.within(kLogin));
  if (!taken) return std::move(taken).status();
  if (*taken) return {};
  const std::string refused = "sudo does not accept the password of user '" + record.way.user + "'";
  const bool for_sudo = context.secrets->count(kSudoSecret) != 0;
  return for_sudo ? Status(Code::Auth, refused) : fails(refused);
}

}  // namespace radl::hosts
