// Which members of a network an interface of WireGuard's speaks to directly, at which address, and its
// configuration. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace radl::native {

struct WireguardMember {
  std::string node;        // "worker[0]"
  std::string address;     // in the network, "10.213.0.2"
  std::string public_key;  // base64
  std::string name;        // "front-0.lan"; may be empty
  std::string cloud;       // members of one cloud reach each other's private addresses
  std::string public_ip;   // empty: it cannot be called from outside of its cloud
  std::string private_ip;
};

struct WireguardPeer {
  const WireguardMember* member = nullptr;
  std::vector<std::string> allowed;  // addresses that are reached through it, its own first
  std::string endpoint;              // "203.0.113.7:51820"; empty: it calls
  bool keepalive = false;            // so that what is between keeps the way back open
};

// Members that cannot call each other speak through the first one with a public address. Where there is none,
// private addresses are tried.
std::vector<WireguardPeer> wireguard_peers(size_t self, const std::vector<WireguardMember>& members,
                                           int port);
// Others speak through it: it passes packets on.
bool is_wireguard_relay(size_t self, const std::vector<WireguardMember>& members);

struct WireguardText {
  std::string head, rest;  // of the file; the line `PrivateKey = ..` stands between them
  std::string peers;       // "KEY ADDRESS/32" in lines, sorted: what the running interface has
  std::string hosts;       // block of /etc/hosts
  bool relays = false;     // passes packets of others on
};
// `address` with its prefix, of `self`. Begins with kWireguardMark.
WireguardText wireguard_text(size_t self, const std::vector<WireguardMember>& members,
                             const std::string& interface, const std::string& network,
                             const std::string& address, int port);
extern const char* const kWireguardMark;

}  // namespace radl::native
