#include "runtime/clouds/local/sight.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/clouds/local/network.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/clouds/local/shared_record.h"
#include "runtime/net/ssh/keys.h"

namespace radl::local {
namespace {

constexpr const char* kCutShort = "a run was stopped while it created or removed it";

Result<Json> node_attributes(const Context& context, const NodeDirectory& node, const Record& record,
                             bool runs) {
  // Of a node that was released the key may be gone.
  auto key = ssh::fingerprint_of_file(key_file(context));
  if (!key && access(key_file(context).c_str(), F_OK) == 0) return key.status();
  Json isolation = Json::array();
  if (record.isolated) isolation = {"files", "hostname", "processes"};
  if (!record.network.empty()) isolation.push_back("network");
  Json attributes{{"host", record.host},
                  {"port", record.port},
                  {"user", record.user},
                  {"host_key", record.host_key},
                  {"private_ip", record.host},
                  {"public_ip", nullptr},
                  {"vm_id", record.id},
                  {"hostname", record.hostname},
                  {"home", node.path("home")},
                  {"local_directory", node.path()},
                  {"isolation", std::move(isolation)},
                  {"state", runs ? "running" : "stopped"}};
  if (key) attributes["key"] = *key;
  if (!record.isolated) attributes["confined_to"] = node.path("home");
  return attributes;
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
}

Result<Seen> node_seen(const Context& context, const NodeDirectory& node) {
  Seen seen;
  seen.type = "node";
  seen.id = node.id();
  auto record = node.load();
  if (!record && record.status().code() != Code::NotFound) return record.status();
  if (!record || !record->whole) {
    seen.phase = ResourcePhase::Broken;
    seen.detail = kCutShort;
  }
  if (!record) return seen;
  seen.address = record->address;
  seen.token = record->token;
  seen.spec = record->spec;
  const bool runs = node_runs(node);
  auto attributes = node_attributes(context, node, *record, runs);
  if (!attributes) return attributes.status();
  seen.attributes = std::move(*attributes);
  if (record->whole) seen.phase = runs ? ResourcePhase::Ready : ResourcePhase::Stopped;
  return seen;
}

// The token of the query that the node was made with: its id tells, also where there is no record (yet, or
// any more).
std::string token_of_node(const Query& query, const std::string& id) {
  auto token = std::find_if(query.tokens.begin(), query.tokens.end(),
                            [&](const std::string& each) { return id_is_of_token(id, each); });
  return token == query.tokens.end() ? "" : *token;
}

Status look_at_nodes(const Context& context, const Query& query, std::vector<Seen>& all) {
  for (const NodeDirectory& node : all_nodes(context.work_directory)) {
    const std::string token = token_of_node(query, node.id());
    const bool by_id = among(query.ids, node.id());
    if (!by_id && !query.everything && token.empty()) continue;
    auto seen = node_seen(context, node);
    if (!seen) return seen.status();
    const bool released = seen->token.empty() && !seen->address.empty();
    if (released && !by_id) continue;
    if (!released && seen->token.empty()) seen->token = token;
    if (by_id || query.everything || seen->token == token) all.push_back(std::move(*seen));
  }
  return {};
}

Seen shared_seen(const SharedRecord& record, bool made, Json attributes) {
  return {record.address,
          record.type,
          record.id,
          record.token,
          made ? ResourcePhase::Ready : ResourcePhase::Broken,
          record.spec,
          std::move(attributes),
          made ? "" : kCutShort};
}

Status look_at_key(const Context& context, const SharedRecord* record, std::vector<Seen>& all) {
  const bool made = access(key_file(context).c_str(), F_OK) == 0;
  if (!record && !made) return {};
  Json attributes = Json::object();
  if (made) {
    auto line = ssh::ensure_key_file(key_file(context), "radl-" + context.infrastructure);
    if (!line) return line.status();
    auto print = ssh::fingerprint_of_line(*line);
    if (!print) return print.status();
    attributes = {{"public_key", *line}, {"key", *print}};
  }
  const SharedRecord unnamed{kKeyId, "key", "", "", Json::object()};
  all.push_back(shared_seen(record ? *record : unnamed, made, std::move(attributes)));
  return {};
}

}  // namespace

std::string key_file(const Context& context) { return context.work_directory + "/id_ed25519"; }

Result<std::vector<Seen>> look_around(const Context& context, const Query& query) {
  std::vector<Seen> all;
  if (Status s = look_at_nodes(context, query, all); !s.ok()) return s;
  auto shared = load_shared(context.work_directory);
  if (!shared) return shared.status();
  auto network = load_network(context.work_directory);
  if (!network) return network.status();
  Json cidr = Json::object();
  if (*network) cidr["cidr"] = (*network)->cidr();
  const SharedRecord* key = nullptr;
  bool networks = false;
  for (const SharedRecord& record : *shared) {
    networks |= record.type == "network";
    if (record.id == kKeyId) key = &record;
    if (record.type != "network") continue;
    if ((query.everything && !record.token.empty()) || among(query.ids, record.id) ||
        among(query.tokens, record.token))
      all.push_back(shared_seen(record, network->has_value(), cidr));
  }
  if (!networks && *network && (*network)->own()) {
    const SharedRecord unnamed{(*network)->name, "network", "", "", Json::object()};
    if (query.everything || among(query.ids, unnamed.id)) all.push_back(shared_seen(unnamed, true, cidr));
  }
  const bool released = key && key->token.empty();
  if ((query.everything && !released) || among(query.ids, kKeyId) ||
      (key && among(query.tokens, key->token))) {
    if (Status s = look_at_key(context, key, all); !s.ok()) return s;
  }
  return all;
}

}  // namespace radl::local
