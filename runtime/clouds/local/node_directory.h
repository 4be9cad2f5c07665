// A node's folder: its layout, the record that survives a crash, and the server's configuration.
//
//   <work>/id_ed25519            the infrastructure's key
//   <work>/nodes/<id>/node.json  the record, written before anything runs
//                     etc/       sshd_config, host key, authorized_keys; scripts: login, join, boot
//                     home/      the login's HOME
//                     run/       node.log, process.json
//                     view/      with isolation: upper and work folder of the overlay, its own /tmp
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/status.h"

namespace radl::local {

struct Record {
  std::string id, token, infrastructure, address;  // address: "worker[0]"
  std::string host;                                // 127.x.y.z, or an address of the infrastructure's network
  int port = 0;
  std::string user, host_key;  // OpenSSH public key line
  std::string hostname;
  bool isolated = false;
  std::string network;  // with isolation: the infrastructure's own (network.h); empty: shared loopback
  bool egress = true;   // with its own network: outbound access
  bool whole = false;   // it has run, so its files are complete
  nlohmann::json spec = nlohmann::json::object();
};

class NodeDirectory {
 public:
  NodeDirectory(std::string work_directory, std::string id)
      : work_(std::move(work_directory)), id_(std::move(id)) {}

  const std::string& id() const { return id_; }
  const std::string& work() const { return work_; }
  std::string path(const std::string& below = "") const {
    return work_ + "/nodes/" + id_ + (below.empty() ? "" : "/" + below);
  }
  std::string config() const { return path("etc/sshd_config"); }
  std::string log() const { return path("run/node.log"); }

  bool exists() const;
  Status make() const;  // folders, 0700
  Result<Record> load() const;
  Status save(const Record& record) const;
  // Writes host key (created once), authorized_keys, sshd_config and scripts.
  Status write_configuration(Record& record, const std::string& public_key,
                             const Environment& environment) const;
  Status remove() const;  // the whole tree; succeeds if it does not exist

 private:
  std::string work_, id_;
};

// "worker[0]" and a token -> "worker-0-1f2e3d4c": unique per token, readable.
std::string node_id(const std::string& address, const std::string& token);
bool id_is_of_token(const std::string& id, const std::string& token);
// Every node folder of an infrastructure, including those without a record, left by a killed creation or
// removal.
std::vector<NodeDirectory> all_nodes(const std::string& work_directory);
// An address in 127.64.0.0 - 127.191.255.255 that no other node of the infrastructure uses.
std::string loopback_address(const std::string& infrastructure, const std::string& address,
                             const std::vector<std::string>& taken);
// A currently free port on that address.
Result<int> free_port(const std::string& host);
// The name of this process's user, and the shell that sshd starts for it.
std::string login_name();

}  // namespace radl::local
