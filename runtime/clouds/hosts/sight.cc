#include "runtime/clouds/hosts/sight.h"

#include <unistd.h>

#include <cstdio>

#include "runtime/clouds/hosts/access.h"
#include "runtime/clouds/machine_facts.h"
#include "runtime/net/ssh/keys.h"

namespace radl::hosts {
namespace {

// Addresses that are reachable from outside.
Json public_address(const std::string& host) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  char rest = 0;
  if (std::sscanf(host.c_str(), "%u.%u.%u.%u%c", &a, &b, &c, &d, &rest) != 4) return nullptr;
  const bool inside = a == 10 || a == 127 || a == 0 || (a == 172 && b >= 16 && b < 32) ||
                      (a == 192 && b == 168) || (a == 169 && b == 254) || (a == 100 && b >= 64 && b < 128);
  return inside ? Json() : Json(host);
}

Json host_attributes(const Context& context, const Record& record, const Json& facts) {
  Json attributes{{"host", record.way.host},
                  {"port", record.way.port},
                  {"user", record.way.user},
                  {"host_key", record.way.host_key},
                  {"private_ip", facts.value("address", "")},
                  {"public_ip", public_address(record.way.host)},
                  {"vm_id", record.id},
                  {"state", "running"}};
  // A key that is not there is none to name: the host is Broken then.
  if (auto key = ssh::fingerprint_of_file(key_file(context)); key.ok()) attributes["key"] = *key;
  if (auto machine = parse_machine(record.id)) attributes["ssh_name"] = machine->host;
  if (!record.way.ssh_config.empty()) attributes["ssh_config"] = record.way.ssh_config;
  for (const auto& [name, value] : facts.items()) {
    if (name != "address" && name != "user" && name != "disk_free_bytes") attributes[name] = value;
  }
  return attributes;
}

}  // namespace

std::string who(const std::string& address, const Machine& machine) {
  return address.empty() ? machine.name() : address + " (" + machine.name() + ")";
}

Seen host_seen(const Context& context, const Record& record, const Visit& visit, bool by_key) {
  Seen seen;
  seen.address = record.address;
  seen.type = "host";
  seen.id = record.id;
  seen.token = record.token;
  seen.phase = by_key ? ResourcePhase::Ready : ResourcePhase::Broken;
  if (!by_key) seen.detail = "its marker exists, but it does not accept radlc's key";
  seen.spec = {{"machine", record.id},
               {"requires", as_observed(record.spec.value("requires", Json::object()), visit.facts)}};
  seen.attributes = host_attributes(context, record, visit.facts);
  return seen;
}

Result<std::optional<Seen>> key_seen(const Context& context, const Record* record) {
  const bool made = access(key_file(context).c_str(), F_OK) == 0;
  if (!record && !made) return std::optional<Seen>();
  Seen seen;
  seen.type = "key";
  seen.id = kKeyId;
  if (record) {
    seen.address = record->address;
    seen.token = record->token;
    seen.spec = record->spec;
  }
  seen.phase = made ? ResourcePhase::Ready : ResourcePhase::Broken;
  if (!made) {
    seen.detail = "a run was stopped while it created or removed it";
    return std::optional<Seen>(seen);
  }
  auto line = ensure_key(context);
  if (!line) return line.status();
  auto print = ssh::fingerprint_of_line(*line);
  if (!print) return print.status();
  seen.attributes = {{"public_key", *line}, {"key", *print}};
  return std::optional<Seen>(seen);
}

}  // namespace radl::hosts
