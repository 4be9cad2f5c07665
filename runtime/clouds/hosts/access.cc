#include "runtime/clouds/hosts/access.h"

#include <unistd.h>

#include "common/files.h"
#include "runtime/net/ssh/keys.h"

namespace radl::hosts {

Result<std::string> ensure_key(const Context& context) {
  if (Status s = make_directories(records_folder(context), 0700); !s.ok()) return s;
  return ssh::ensure_key_file(key_file(context), "radl-" + context.infrastructure);
}

std::unique_ptr<Remote> Access::with_key(const Context& context, const Record& record) {
  ssh::Target target = own_target(context.environment, record.way, key_file(context));
  if (auto machine = parse_machine(record.id)) target.ssh_name = machine->host;
  return connections_.to(target, context.log);
}

std::unique_ptr<Remote> Access::with_key_alone(const Context& context, const Record& record) {
  return connections_.to(own_target(context.environment, record.way, key_file(context)), context.log);
}

Result<std::unique_ptr<UserLogin>> Access::as_user(const Context& context, const Machine& machine,
                                                   const Way& way, const nlohmann::json& spec) const {
  auto credentials = credentials_of(spec.value("credentials", nlohmann::json()), context.secrets);
  if (!credentials) return credentials.status();
  return UserLogin::make(context.environment, machine, way, *credentials, ssh_config_,
                         records_folder(context));
}

Result<Visit> Access::visit_machine(const Context& context, const Record& record, bool& by_key) {
  const Stop stop = context.stop.within(kLogin);
  by_key = access(key_file(context).c_str(), F_OK) == 0;
  Status refused;
  if (by_key) {
    auto line = ensure_key(context);
    if (!line) return line.status();
    auto seen = visit(*with_key(context, record), stop, *line);
    if (seen && !seen->has_key) seen = visit(*with_key_alone(context, record), stop);
    if (seen || !ssh::is_refused_login(seen.status())) return seen;
    refused = seen.status();
  }
  by_key = false;
  auto machine = parse_machine(record.id);
  if (!machine) return machine.status();
  auto users = as_user(context, *machine, record.way, record.spec);
  if (!users) return refused.ok() ? users.status() : refused;
  return visit((*users)->remote(), stop);
}

}  // namespace radl::hosts
