#include "runtime/steps/native/wireguard_peers.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl::native {
namespace {

constexpr int kKeepaliveSeconds = 25;  // as WireGuard's own documents advise

// Machines that exist already need not be of one site: those with public addresses are called there.
bool share_private_network(const WireguardMember& a, const WireguardMember& b) {
  if (a.cloud != b.cloud || b.private_ip.empty()) return false;
  return !a.cloud.starts_with("hosts") || b.public_ip.empty();
}

bool meet(const WireguardMember& a, const WireguardMember& b) {
  return share_private_network(a, b) || share_private_network(b, a) || !a.public_ip.empty() ||
         !b.public_ip.empty();
}

const WireguardMember* relay_of(const std::vector<WireguardMember>& members) {
  auto found =
      std::find_if(members.begin(), members.end(), [](const auto& one) { return !one.public_ip.empty(); });
  return found == members.end() ? nullptr : &*found;
}

std::string with_port(const std::string& address, int port) {
  if (address.empty()) return "";
  const bool v4 = address.find(':') == std::string::npos;
  return v4 ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

}  // namespace

const char* const kWireguardMark = "# Made by radlc";

std::vector<WireguardPeer> wireguard_peers(size_t self, const std::vector<WireguardMember>& members,
                                           int port) {
  const WireguardMember& own = members[self];
  const WireguardMember* relay = relay_of(members);
  std::vector<WireguardPeer> peers;
  std::vector<std::string> beyond;  // reached through the relay
  for (const WireguardMember& other : members) {
    if (&other == &own) continue;
    if (relay != nullptr && !meet(own, other)) {
      beyond.push_back(other.address);
      continue;
    }
    WireguardPeer peer{&other, {other.address}, "", false};
    const bool near = share_private_network(own, other);
    if (near || (other.public_ip.empty() && own.public_ip.empty()))
      peer.endpoint = with_port(other.private_ip, port);
    else
      peer.endpoint = with_port(other.public_ip, port);
    peer.keepalive = !peer.endpoint.empty() && !near && own.public_ip.empty();
    peers.push_back(std::move(peer));
  }
  for (WireguardPeer& peer : peers) {
    if (peer.member == relay) peer.allowed.insert(peer.allowed.end(), beyond.begin(), beyond.end());
  }
  return peers;
}

bool is_wireguard_relay(size_t self, const std::vector<WireguardMember>& members) {
  if (relay_of(members) != &members[self]) return false;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t k = i + 1; k < members.size(); ++k) {
      if (!meet(members[i], members[k])) return true;
    }
  }
  return false;
}

WireguardText wireguard_text(size_t self, const std::vector<WireguardMember>& members,
                             const std::string& interface, const std::string& network,
                             const std::string& address, int port) {
  WireguardText text;
  text.head =
      fmt::format("{} for the network '{}': changes are lost\n[Interface]\nAddress = {}\nListenPort = {}\n",
                  kWireguardMark, network, address, port);
  text.relays = is_wireguard_relay(self, members);
  if (text.relays) text.rest += "PostUp = sysctl -q -w net.ipv4.conf.%i.forwarding=1\n";
  std::vector<std::string> allowed;
  for (const WireguardPeer& peer : wireguard_peers(self, members, port)) {
    text.rest += fmt::format("\n# {}\n[Peer]\nPublicKey = {}\nAllowedIPs = ", peer.member->node,
                             peer.member->public_key);
    for (const std::string& one : peer.allowed) {
      text.rest += fmt::format("{}{}/32", &one == &peer.allowed.front() ? "" : ", ", one);
      allowed.push_back(fmt::format("{} {}/32\n", peer.member->public_key, one));
    }
    text.rest += "\n";
    if (!peer.endpoint.empty()) text.rest += fmt::format("Endpoint = {}\n", peer.endpoint);
    if (peer.keepalive) text.rest += fmt::format("PersistentKeepalive = {}\n", kKeepaliveSeconds);
  }
  std::sort(allowed.begin(), allowed.end());
  for (const std::string& line : allowed) text.peers += line;
  text.hosts = fmt::format("# BEGIN radlc {}\n", interface);
  for (const WireguardMember& member : members) {
    if (!member.name.empty()) text.hosts += fmt::format("{} {}\n", member.address, member.name);
  }
  text.hosts += fmt::format("# END radlc {}\n", interface);
  return text;
}

}  // namespace radl::native
