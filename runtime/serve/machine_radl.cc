#include "runtime/serve/machine_radl.h"

#include <algorithm>

#include "compiler/check/document.h"
#include "compiler/compat/json/radl_json.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/parser.h"
#include "runtime/plan/ordinals.h"

namespace radl::serve {
namespace {

Result<Json> document_json(const std::string& radl) {
  SourceMap sources;
  Diagnostics findings;
  const auto tree = parse(sources.add("document.radl", radl), findings);
  if (tree->dialect == ast::Dialect::Radl2) return Json::array();  // RADL-JSON has no form for it
  const sema::Document document = sema::build_document({tree.get()}, findings);
  if (findings.has_errors()) return Status(Code::Invalid, "the document cannot be read");
  return Json::parse(sema::to_radl_json(document));
}

const Json* find(const Json& parts, const std::string& type, const std::string& id) {
  const auto found = std::ranges::find_if(
      parts, [&](const Json& part) { return part.value("class", "") == type && part.value("id", "") == id; });
  return found == parts.end() ? nullptr : &*found;
}

void set_known(Json& system, const std::string& name, const Json& attributes, const std::string& attribute) {
  const auto found = attributes.find(attribute);
  if (found != attributes.end() && !found->is_null()) system[name] = *found;
}

// The interface in a network with a way out has the public address, the others the private one.
void set_addresses(Json& system, const Json& parts, const Json& attributes) {
  for (int i = 0;; ++i) {
    const std::string prefix = "net_interface." + std::to_string(i) + ".";
    const auto network = system.find(prefix + "connection");
    if (network == system.end()) return;
    const Json* its = find(parts, "network", network->get<std::string>());
    const bool is_public = its && its->value("outbound", "no") == "yes";
    set_known(system, prefix + "ip", attributes, is_public ? "public_ip" : "private_ip");
    if (is_public && !system.contains(prefix + "ip")) set_known(system, prefix + "ip", attributes, "host");
  }
}

void set_facts(Json& system, const Json& parts, const ResourceRecord& node) {
  system["instance_id"] = node.id;
  system["provider.type"] = node.cloud.substr(0, node.cloud.find_first_of(":/"));
  set_known(system, "disk.0.os.credentials.username", node.attributes, "user");
  set_known(system, "instance_type", node.spec, "type");
  set_addresses(system, parts, node.attributes);
}

// Clients log in at the port that an outport of a public network maps to 22.
void set_port(Json& network, const Json& attributes) {
  const auto port = attributes.find("port");
  if (network.value("outbound", "no") != "yes" || port == attributes.end() || !port->is_number() ||
      *port == 22)
    return;
  const std::string there = network.value("outports", "");
  network["outports"] = there + (there.empty() ? "" : ",") + std::to_string(port->get<int>()) + "/tcp-22/tcp";
}

}  // namespace

Result<std::string> radl_text(const Json& radl) {
  SourceMap sources;
  Diagnostics findings;
  const auto text = sema::from_radl_json(sources.add("machine.json", radl.dump()), findings);
  if (!text) return Status(Code::Internal, "the machine has no form in RADL");
  return *text;
}

Result<Json> machine_radl(const std::string& radl, const Snapshot& snapshot, const std::string& address,
                          const std::string& state, const std::string& key) {
  auto parts = document_json(radl);
  if (!parts.ok()) return parts.status();
  std::string name, rest;
  int ordinal = 0;
  if (!split_ordinal(address, name, ordinal, rest)) return Status(Code::Invalid, address + ": not a machine");
  const Json* found = find(*parts, "system", name);
  Json system = found ? *found : Json{{"class", "system"}, {"id", name}};
  const auto node = snapshot.resources.find(address);
  if (node != snapshot.resources.end()) set_facts(system, *parts, node->second);
  system["state"] = state;
  if (!key.empty()) system["disk.0.os.credentials.private_key"] = key;

  Json out = Json::array();
  for (const Json& part : *parts) {
    if (part.value("class", "") != "network") continue;
    const auto joined = std::ranges::any_of(system.items(), [&](const auto& item) {
      return item.key().starts_with("net_interface.") && item.key().ends_with(".connection") &&
             item.value() == part.at("id");
    });
    if (!joined) continue;
    out.push_back(part);
    if (node != snapshot.resources.end()) set_port(out.back(), node->second.attributes);
  }
  out.push_back(std::move(system));
  Json deploy = {{"class", "deploy"}, {"system", name}, {"vm_number", 1}};
  if (node != snapshot.resources.end()) deploy["cloud"] = node->second.cloud;
  out.push_back(std::move(deploy));
  return out;
}

}  // namespace radl::serve
