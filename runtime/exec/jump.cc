#include "runtime/exec/jump.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/files.h"
#include "common/shell_quote.h"
#include "runtime/net/ssh/key_places.h"

namespace radl {
namespace {

using Json = nlohmann::json;

constexpr const char* kJump = "radlc-jump";

std::string text_in(const Json& attributes, const char* name) {
  auto found = attributes.find(name);
  return found != attributes.end() && found->is_string() ? found->get<std::string>() : "";
}

// Networks, whose machines reach each other; the group for this computer's address is none.
std::set<std::string> networks_of(const ResourceRecord& node) {
  std::set<std::string> networks;
  for (const Json& group : node.spec.value("groups", Json::array())) {
    if (group.is_string() && group.get<std::string>().starts_with("network."))
      networks.insert(group.get<std::string>());
  }
  return networks;
}

// A path as an ssh_config has it: % begins a token there.
std::string config_path(const std::string& path) {
  std::string out = "\"";
  for (char c : path) out.append(c == '%' ? 2 : 1, c);
  return out + "\"";
}

}  // namespace

bool is_private(const ResourceRecord& node) {
  return node.is_node() && text_in(node.attributes, "public_ip").empty() &&
         !text_in(node.attributes, "private_ip").empty() && !text_in(node.attributes, "vpc").empty();
}

std::optional<ResourceRecord> jump_for(const Snapshot& snapshot, const ResourceRecord& node) {
  if (!is_private(node)) return std::nullopt;
  const std::string vpc = text_in(node.attributes, "vpc");
  const std::set<std::string> networks = networks_of(node);
  for (const auto& [address, other] : snapshot.resources) {
    if (!other.is_node() || other.cloud != node.cloud || address == node.address) continue;
    if (text_in(other.attributes, "public_ip").empty() || text_in(other.attributes, "vpc") != vpc) continue;
    const std::set<std::string> theirs = networks_of(other);
    const bool meet = std::any_of(theirs.begin(), theirs.end(),
                                  [&](const std::string& network) { return networks.count(network) > 0; });
    if (meet) return other;
  }
  return std::nullopt;
}

Result<Json> attributes_through(const ResourceRecord& node, const ResourceRecord& jump,
                                const std::string& work_directory, const Environment& environment) {
  const std::string host_key = text_in(jump.attributes, "host_key"), host = text_in(jump.attributes, "host"),
                    user = text_in(jump.attributes, "user"), print = text_in(jump.attributes, "key");
  if (host_key.empty() || host.empty())
    return Status(Code::Retry, fmt::format("{} is reached through {}, which has not been reached yet",
                                           node.address, jump.address));
  const std::string base = work_directory + "/jump." + node.address, known = base + ".known_hosts";
  std::string config =
      fmt::format("Host {}\n  HostName {}\n  Port {}\n", kJump, host, jump.attributes.value("port", 22));
  if (!user.empty()) config += fmt::format("  User {}\n", user);
  if (!print.empty()) {
    auto key = ssh::find_key(print, ssh::key_places(environment, work_directory));
    if (!key.ok()) return key.status();
    if (!key->file.empty()) config += "  IdentityFile " + config_path(key->file) + "\n";
    if (!key->in_agent) config += "  IdentitiesOnly yes\n";
  }
  config += fmt::format(
      "  BatchMode yes\n  StrictHostKeyChecking yes\n  HostKeyAlias {0}\n  UserKnownHostsFile {1}\n"
      "  GlobalKnownHostsFile /dev/null\n  ConnectTimeout 10\nHost {2}\n  ProxyJump {0}\n",
      kJump, config_path(known), text_in(node.attributes, "host"));
  Status written = write_file_atomic(known, fmt::format("{} {}\n", kJump, host_key), 0600);
  if (written.ok()) written = write_file_atomic(base + ".conf", config, 0600);
  if (!written.ok()) return written;
  Json attributes = node.attributes;
  attributes["ssh_config"] = base + ".conf";
  return attributes;
}

Result<Json> attributes_to_reach(const Snapshot& snapshot, const ResourceRecord& node,
                                 const std::string& work_directory, const Environment& environment) {
  auto jump = jump_for(snapshot, node);
  return jump ? attributes_through(node, *jump, work_directory, environment) : Result<Json>(node.attributes);
}

Result<std::string> host_key_seen_from(Remote& jump, const ResourceRecord& node, const Stop& stop) {
  const std::string host = text_in(node.attributes, "host");
  ExecOptions options;
  options.stop = stop;
  auto ran = exec_for_data(jump,
                           fmt::format("ssh-keyscan -T 5 -p {} -t ed25519,ecdsa,rsa -- {} 2>/dev/null",
                                       node.attributes.value("port", 22), shell_quote(host)),
                           options);
  if (!ran.ok()) return ran.status();
  if (ran->exit_status == 127)
    return invalid("the jump host has no ssh-keyscan: install openssh-client there");
  std::istringstream lines(ran->out);
  std::string best;
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.find(' ');
    if (line.starts_with('#') || blank == std::string::npos) continue;
    const std::string key = line.substr(blank + 1);
    if (best.empty() || key.starts_with("ssh-ed25519 ")) best = key;
  }
  if (best.empty())
    return Status(Code::Retry, host + " does not answer with SSH yet, seen from its jump host");
  return best;
}

}  // namespace radl
