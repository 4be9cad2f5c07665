// Chooses the peers and endpoints of a WireGuard interface among a network's members, and its configuration.
// Pure.
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
  std::string cloud;       // members of one cloud can reach each other's private addresses
  std::string public_ip;   // empty: unreachable from outside of its cloud
  std::string private_ip;
};

struct WireguardPeer {
  const WireguardMember* member = nullptr;
  std::vector<std::string> allowed;  // addresses routed through it, its own first
  std::string endpoint;              // "203.0.113.7:51820"; empty: it initiates
  bool keepalive = false;            // keeps NAT mappings open
};

// Members that cannot reach each other communicate through the first one with a public address. If there is
// none, private addresses are tried.
std::vector<WireguardPeer> wireguard_peers(size_t self, const std::vector<WireguardMember>& members,
                                           int port);
// True if it forwards packets for others.
bool is_wireguard_relay(size_t self, const std::vector<WireguardMember>& members);

struct WireguardText {
  std::string head, rest;  // of the file, around the line `PrivateKey = ..`
  std::string peers;       // "KEY ADDRESS/32" in sorted lines: the running interface's peers
  std::string hosts;       // block of /etc/hosts
  bool relays = false;     // forwards packets for others
};
// `address` with its prefix, of `self`. Begins with kWireguardMark.
WireguardText wireguard_text(size_t self, const std::vector<WireguardMember>& members,
                             const std::string& interface, const std::string& network,
                             const std::string& address, int port);
extern const char* const kWireguardMark;

}  // namespace radl::native
