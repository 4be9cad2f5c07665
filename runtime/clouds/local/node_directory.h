// A node's folder: what lies where, the record that survives a crash, the server's configuration.
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
  std::string host;                                // 127.x.y.z, or of the infrastructure's network
  int port = 0;
  std::string user, host_key;  // OpenSSH public key line
  std::string hostname;
  bool isolated = false;
  std::string network;  // with isolation: the infrastructure's own one (network.h); empty: shared loopback
  bool egress = true;   // with a network of its own: a way out of it
  bool whole = false;   // it has run: what lies there is no half-made node
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
  // Host key (made once), authorized_keys, sshd_config, scripts.
  Status write_configuration(Record& record, const std::string& public_key,
                             const Environment& environment) const;
  Status remove() const;  // the whole tree; ok when it is not there

 private:
  std::string work_, id_;
};

// "worker[0]" and a token -> "worker-0-1f2e3d4c": unique for the token, readable.
std::string node_id(const std::string& address, const std::string& token);
bool id_is_of_token(const std::string& id, const std::string& token);
// Every node folder of an infrastructure, also those without a record: a run was killed while it made or
// removed them.
std::vector<NodeDirectory> all_nodes(const std::string& work_directory);
// An address in 127.64.0.0 - 127.191.255.255 that no other node of the infrastructure has.
std::string loopback_address(const std::string& infrastructure, const std::string& address,
                             const std::vector<std::string>& taken);
// A port that is free now on that address.
Result<int> free_port(const std::string& host);
// The name that owns this process, and the shell that sshd gives it.
std::string login_name();

}  // namespace radl::local
