#include "runtime/clouds/hosts/design.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/text.h"
#include "runtime/clouds/hosts/machine.h"
#include "runtime/clouds/machine_facts.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/tag_rules.h"
#include "runtime/clouds/wishes.h"

namespace radl::hosts {
namespace {

Status cannot(const ir::Node& node, const std::string& why) {
  return invalid(fmt::format("{}: {}", node.address, why));
}

// Two nodes cannot be one machine. `machine` is of `node`, which comes after those looked at.
Status alone(const ir::Node& node, const Machine& machine, const std::map<std::string, std::string>& taken) {
  auto other = taken.find(machine.name());
  if (other == taken.end()) return {};
  return cannot(node, fmt::format("disk.0.image.url: {} is {} already", machine.name(), other->second));
}

Status meets_survey(const ir::Node& node, const Machine& machine, const Survey& survey) {
  if (survey.taken_at == 0 || !survey.facts.contains("machines")) return {};
  const Json& machines = survey.facts["machines"];
  auto facts = machines.find(machine.text());
  if (facts == machines.end()) return {};
  if (std::string owner = facts->value("taken_by", ""); !owner.empty())
    return cannot(node, fmt::format("{} is taken by infrastructure '{}'", machine.name(), owner));
  std::vector<std::string> wrong = unmet(checked_requirements(node), *facts);
  return wrong.empty() ? Status() : cannot(node, fmt::format("{}: {}", machine.name(), unmet_text(wrong)));
}

std::vector<std::string> notes_of(const ir::Node& node, const DesignInput& input) {
  constexpr std::string_view kUsed[] = {"disk.0.image.url", "disk.0.os.credentials.", "net_interface.",
                                        "prevent_destroy"};
  std::vector<std::string> notes;
  auto note = [&](const std::string& text) {
    notes.push_back(fmt::format("system '{}': {}", node.system, text));
  };
  std::string unused;
  const std::vector<std::string> ignored = features_without_effect(node);
  for (const auto& [feature, wanted] : node.requirements) {
    const auto begins = [&of = feature](std::string_view prefix) { return of.starts_with(prefix); };
    bool used = is_checked(feature) || std::any_of(std::begin(kUsed), std::end(kUsed), begins);
    const bool own = feature == "disk.0.os.credentials.private_key" || begins("disk.0.os.credentials.new.");
    if (!own && std::find(ignored.begin(), ignored.end(), feature) != ignored.end()) used = false;
    if (!used) unused += (unused.empty() ? "" : ", ") + feature;
  }
  if (!unused.empty()) note("cloud hosts has no use for " + unused);
  if (node.secrets.count("new.password") || node.secrets.count("new.private_key"))
    note("the login's password and key stay as they are");
  if (!node.interfaces.empty() && !node.interfaces[0].host_name.starts_with("vnode-"))
    note("cloud hosts does not change the host name of an existing machine");
  for (const ir::Interface& interface : node.interfaces) {
    if (!interface.fixed_ip.empty() && !image_urls(node).empty())
      notes.push_back(fmt::format("{}: address {} is ignored: an existing machine keeps its addresses",
                                  node.address, interface.fixed_ip));
  }
  for (const ir::Network* network : networks_of(input, node)) {
    const auto features =
        features_without_effect(*network, {"cidr", "create", "dnsserver", "gateway", "provider_id",
                                           "proxy_host", "proxy_key", "router", "sg_name"});
    if (!features.empty())
      notes.push_back(
          fmt::format("network '{}': cloud hosts has no use for {}", network->name, join(features, ", ")));
    if (!network->ports.empty())
      notes.push_back(fmt::format("network '{}': outports are ignored: existing machines keep their firewall",
                                  network->name));
  }
  return notes;
}

Wanted host_wanted(const CloudId& cloud, const ir::Node& node, const Machine& machine) {
  Wanted wanted;
  wanted.address = wanted.node = node.address;
  wanted.type = "host";
  wanted.spec = host_spec(node, machine.text());
  wanted.references = {key_address(cloud)};
  Offer itself;
  itself.name = machine.name();
  wanted.summary = node_summary(node, cloud.text(), itself);
  wanted.seconds = 1;
  return wanted;
}

}  // namespace

Json host_spec(const ir::Node& node, const std::string& machine) {
  Json spec{{"machine", machine}, {"requires", checked_requirements(node)}};
  for (const char* name : {"password", "private_key"}) {
    auto secret = node.secrets.find(name);
    if (secret != node.secrets.end()) spec["credentials"][name] = secret->second;
  }
  return spec;
}

Status can_be_had(const ir::Node& node, const DesignInput& input) {
  auto machine = machine_of(node);
  if (!machine) return cannot(node, machine.status().message());
  if (Status free = check_names_are_free(node); !free.ok()) return free;
  for (const auto& [feature, wanted] : node.requirements) {
    if (feature.starts_with("stop."))
      return cannot(node, feature + ": cloud hosts never switches off an existing machine");
  }
  auto os = node.requirements.find("disk.0.os.name");
  if (os != node.requirements.end() &&
      !unmet({{"disk.0.os.name", checked_requirements(node)["disk.0.os.name"]}}, {{"os", "linux"}}).empty())
    return cannot(node, "disk.0.os.name: cloud hosts supports machines that run Linux");
  std::map<std::string, std::string> taken;
  for (const ir::Node* other : input.nodes) {
    if (other->address == node.address) break;
    if (auto its = machine_of(*other)) taken.emplace(its->name(), other->address);
  }
  if (Status s = alone(node, *machine, taken); !s.ok()) return s;
  return meets_survey(node, *machine, input.survey);
}

Result<Design> design_hosts(const CloudId& cloud, const DesignInput& input) {
  Design design;
  if (input.nodes.empty()) return design;
  Wanted key;
  key.address = key_address(cloud);
  key.type = "key";
  key.spec = {{"type", "ed25519"}};
  key.summary = "ed25519 key pair for SSH";
  design.resources.push_back(std::move(key));
  std::map<std::string, std::string> taken;
  std::set<std::string> noted;
  for (const ir::Node* node : input.nodes) {
    auto machine = machine_of(*node);
    if (!machine) return cannot(*node, machine.status().message());
    if (Status s = alone(*node, *machine, taken); !s.ok()) return s;
    if (Status s = meets_survey(*node, *machine, input.survey); !s.ok()) return s;
    taken.emplace(machine->name(), node->address);
    design.resources.push_back(host_wanted(cloud, *node, *machine));
    for (std::string& note : notes_of(*node, input)) {
      if (noted.insert(note).second) design.notes.push_back(std::move(note));
    }
  }
  return design;
}

Impact impact_of(const std::string& type, const Json& before, const Json& after) {
  auto machine = [](const Json& spec) { return spec.is_object() ? spec.value("machine", Json()) : Json(); };
  if (type == "host" && machine(before) != machine(after))
    return {Impact::Kind::Replace, "it is another machine, or another login"};
  return {Impact::Kind::InPlace, ""};
}

}  // namespace radl::hosts
