#include "runtime/ansible/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/shell_quote.h"
#include "runtime/net/ssh/target.h"

namespace radl::recipes {
namespace {

std::string known_hosts_name(const std::string& host, int port) {
  return port == 22 ? host : fmt::format("[{}]:{}", host, port);
}

std::string text(const Json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string private_ip(const NodeHandle& node) {
  std::string ip = text(node.attributes, "private_ip");
  return ip.empty() ? text(node.attributes, "public_ip") : ip;
}

std::string first_ip(const NodeHandle& node) {
  std::string ip = text(node.attributes, "public_ip");
  return ip.empty() ? private_ip(node) : ip;
}

// As a variable's name: letters, digits and _.
std::string plain(const std::string& name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

struct Name {
  std::string host, domain;
  std::string full() const { return host + "." + domain; }
};

Name name_of(const NodeHandle& node, size_t interface) {
  const auto& all = node.node->interfaces;
  Name name;
  if (interface < all.size()) name = {all[interface].host_name, all[interface].domain};
  // What the provider really gave it.
  std::string given = interface == 0 ? text(node.attributes, "hostname") : "";
  if (size_t dot = given.find('.'); !given.empty())
    name = {given.substr(0, dot), dot == std::string::npos ? name.domain : given.substr(dot + 1)};
  if (name.host.empty() && interface == 0) name.host = fmt::format("vnode-{}", node.node->number);
  if (name.domain.empty()) name.domain = "localdomain";
  return name;
}

Json number(double value) {
  if (value == static_cast<double>(static_cast<long long>(value))) return static_cast<long long>(value);
  return value;
}

void add_requirements(const std::map<std::string, ir::Requirement>& requirements, Json& into) {
  for (const auto& [feature, requirement] : requirements) {
    std::string key = feature;
    std::replace(key.begin(), key.end(), '.', '_');
    if (requirement.equals)
      into[key] = *requirement.equals;
    else if (requirement.min)
      into[key + "_min"] = number(*requirement.min);
    else if (requirement.max)
      into[key + "_max"] = number(*requirement.max);
  }
}

// The RADL document as the reference gives it to recipes: systems, networks, deploys; dots in keys become
// '_'.
Json radl_objects(const ir::Program& program) {
  Json all = Json::array();
  for (const auto& network : program.networks) {
    Json object{{"class", "network"}, {"id", network.name}};
    for (const auto& [name, value] : network.features->items()) {
      std::string key = name;
      std::replace(key.begin(), key.end(), '.', '_');
      object[key] = ir::secrets_in(value).empty() ? value : Json("");
    }
    all.push_back(object);
  }
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& node : program.nodes) {
    auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == node.system; });
    if (known != counts.end()) {
      ++known->second;
      continue;
    }
    counts.emplace_back(node.system, 1);
    Json object{{"class", "system"}, {"id", node.system}};
    std::map<std::string, ir::Requirement> open = node.requirements;
    std::erase_if(open, [](const auto& want) {
      return want.second.equals && !ir::secrets_in(*want.second.equals).empty();
    });
    add_requirements(open, object);
    all.push_back(object);
  }
  for (const auto& [system, count] : counts)
    all.push_back({{"class", "deploy"}, {"system", system}, {"vm_number", count}});
  return all;
}

// The first machine with a public network, else the first: what the reference would configure from.
const NodeHandle& master_of(const InventoryInput& input) {
  for (const auto& node : *input.nodes) {
    for (const auto& interface : node.node->interfaces) {
      for (const auto& network : input.program->networks) {
        if (network.name == interface.network && network.is_public) return node;
      }
    }
  }
  return input.nodes->front();
}

// "" if only the agent has it; Ansible uses the agent itself.
std::string key_file_of(const InventoryInput& input, const std::string& fingerprint) {
  if (fingerprint.empty()) return "";
  auto found = ssh::find_key(fingerprint, input.keys);
  return found ? found->file : "";
}

Json host_variables(const InventoryInput& input, const NodeHandle& node) {
  const ir::Node& n = *node.node;
  Name name = name_of(node, 0);
  std::string cloud = text(node.attributes, "cloud_type");
  Json v{{"IM_NODE_HOSTNAME", name.host},
         {"IM_NODE_DOMAIN", name.domain},
         {"IM_NODE_FQDN", name.full()},
         {"IM_NODE_NUM", std::to_string(n.number)},
         {"IM_NODE_VMID", text(node.attributes, "vm_id")},
         {"IM_NODE_CLOUD_TYPE", cloud.empty() ? "local" : cloud},
         {"IM_NODE_PRIVATE_IP", private_ip(node)},
         {"IM_NODE_TLS_CERTIFICATES", ""}};
  if (std::string server = text(node.attributes, "cloud_server"); !server.empty())
    v["IM_NODE_CLOUD_SERVER"] = server;
  if (std::string ip = text(node.attributes, "public_ip"); !ip.empty()) v["IM_NODE_PUBLIC_IP"] = ip;
  for (size_t i = 0; i < n.interfaces.size(); ++i) {
    std::string prefix = fmt::format("IM_NODE_NET_{}", n.interfaces[i].index);
    std::string ip = i == 0 ? first_ip(node) : private_ip(node);
    if (auto all = node.attributes.find("ips"); all != node.attributes.end() && i < all->size())
      ip = (*all)[i].get<std::string>();
    v[prefix + "_IP"] = ip;
    Name own = name_of(node, i);
    if (own.host.empty()) continue;
    v[prefix + "_HOSTNAME"] = own.host;
    v[prefix + "_DOMAIN"] = own.domain;
    v[prefix + "_FQDN"] = own.full();
  }
  for (const auto& application : n.applications) {
    for (const std::string& prefix :
         {"IM_APP_" + upper(plain(application.name)), "IM_" + plain(application.name)}) {
      if (!application.path.empty()) v[prefix + "_PATH"] = application.path;
      if (!application.version.empty()) v[prefix + "_VERSION"] = application.version;
    }
  }
  const std::string host = text(node.attributes, "host"), user = text(node.attributes, "user"),
                    key = key_file_of(input, text(node.attributes, "key"));
  int port = node.attributes.value("port", 22);
  v["ansible_host"] = v["ansible_ssh_host"] = host;
  v["ansible_port"] = v["ansible_ssh_port"] = port;
  v["ansible_user"] = v["ansible_ssh_user"] = user;
  if (!key.empty()) v["ansible_ssh_private_key_file"] = key;
  // Behind a jump host, `host` is a name in that file, not the name of the pinned host key.
  if (std::string config = ssh::ssh_config_file(input.keys.environment, text(node.attributes, "ssh_config"));
      !config.empty()) {
    v["ansible_ssh_common_args"] = fmt::format("-F {} -o HostKeyAlias={}", shell_quote(config),
                                               shell_quote(known_hosts_name(host, port)));
  }
  auto password = n.secrets.find("password");
  if (key.empty() && password != n.secrets.end() && input.secrets && ir::is_secret(password->second)) {
    auto value = input.secrets->find(password->second->at("$secret").get<std::string>());
    if (value != input.secrets->end()) v["ansible_password"] = v["ansible_ssh_pass"] = value->second;
  }
  if (!text(node.attributes, "confined_to").empty()) v["ansible_shell_type"] = "radl_sh";
  if (node.address == input.address) {
    if (!input.access.sudo_password.empty()) v["ansible_become_password"] = input.access.sudo_password;
    if (!input.access.python.empty()) v["ansible_python_interpreter"] = input.access.python;
    if (input.access.is_root && !input.access.has_sudo) v["ansible_become_method"] = "su";
    // A folder of this computer cannot become anybody else.
    if (!input.access.is_root && !input.access.has_sudo) v["ansible_become"] = false;
  }
  return v;
}

}  // namespace

std::string host_name(const NodeHandle& node) {
  return fmt::format("{}_{}", first_ip(node), node.node->number);
}

Json make_inventory(const InventoryInput& input) {
  Name master = name_of(master_of(input), 0);
  Json variables{{"IM_MASTER_HOSTNAME", master.host},
                 {"IM_MASTER_DOMAIN", master.domain},
                 {"IM_MASTER_FQDN", master.full()},
                 {"IM_INFRASTRUCTURE_ID", input.infrastructure},
                 {"IM_INFRASTRUCTURE_RADL", radl_objects(*input.program)},
                 {"IM_INFRASTRUCTURE_AUTH", ""}};
  Json hosts = Json::object(), children = Json::object(), no_windows = Json::object();
  std::map<std::string, int> counts;
  for (const auto& node : *input.nodes) {
    std::string name = host_name(node);
    hosts[name] = host_variables(input, node);
    children[node.node->system]["hosts"][name] = Json::object();
    no_windows[name] = Json::object();
    ++counts[node.node->system];
  }
  for (const auto& [system, count] : counts)
    variables["IM_" + upper(plain(system)) + "_NUM_VMS"] = std::to_string(count);
  children["allnowindows"]["hosts"] = no_windows;
  return {{"all", {{"vars", variables}, {"hosts", hosts}, {"children", children}}}};
}

std::string known_hosts(const std::vector<NodeHandle>& nodes) {
  std::string lines;
  for (const auto& node : nodes) {
    std::string host = text(node.attributes, "host"), key = text(node.attributes, "host_key");
    int port = node.attributes.value("port", 22);
    if (host.empty() || key.empty()) continue;
    lines += fmt::format("{} {}\n", known_hosts_name(host, port), key);
  }
  return lines;
}

}  // namespace radl::recipes
