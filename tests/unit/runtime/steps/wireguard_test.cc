// Networks that WireGuard joins: who calls whom at which address, and what the interface's file says.
#include <gtest/gtest.h>

#include "runtime/steps/jobs/network.h"
#include "runtime/steps/native/wireguard_peers.h"

namespace radl::native {
namespace {

std::vector<std::string> calls(const std::vector<WireguardMember>& members, size_t self) {
  std::vector<std::string> lines;
  for (const WireguardPeer& peer : wireguard_peers(self, members, 51820)) {
    std::string line = peer.member->node + " at " + (peer.endpoint.empty() ? "nothing" : peer.endpoint);
    if (peer.keepalive) line += " kept";
    for (const std::string& one : peer.allowed) line += " " + one;
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

const WireguardMember kFront{"front[0]",      "10.213.0.1", "F=",        "front.lan",
                             "ec2/eu-west-1", "52.1.2.3",   "172.31.0.5"};
const WireguardMember kNear{"near[0]", "10.213.0.2", "N=", "near.lan", "ec2/eu-west-1", "", "172.31.0.6"};
const WireguardMember kFar{"far[0]",           "10.213.0.3", "R=",      "far.lan",
                           "gce/europe-west1", "34.1.2.3",   "10.0.0.2"};
const WireguardMember kHome{"home[0]", "10.213.0.4", "H=", "home.lan", "hosts", "", "192.168.1.20"};

TEST(WireguardPeers, OneCloudMeetsAtPrivateAddressesAndCloudsAtPublicOnes) {
  const std::vector<WireguardMember> members = {kFront, kNear, kFar};
  EXPECT_EQ(calls(members, 0),
            (Lines{"near[0] at 172.31.0.6:51820 10.213.0.2", "far[0] at 34.1.2.3:51820 10.213.0.3"}));
  EXPECT_EQ(calls(members, 1),
            (Lines{"front[0] at 172.31.0.5:51820 10.213.0.1", "far[0] at 34.1.2.3:51820 kept 10.213.0.3"}));
  EXPECT_EQ(calls(members, 2),
            (Lines{"front[0] at 52.1.2.3:51820 10.213.0.1", "near[0] at nothing 10.213.0.2"}))
      << "a machine without a public address calls, and is not called";
}

TEST(WireguardPeers, MachinesThatCannotCallEachOtherSpeakThroughOneThatCanBeCalled) {
  const std::vector<WireguardMember> members = {kFront, kNear, kHome};
  EXPECT_EQ(calls(members, 2), (Lines{"front[0] at 52.1.2.3:51820 kept 10.213.0.1 10.213.0.2"}));
  EXPECT_EQ(calls(members, 1), (Lines{"front[0] at 172.31.0.5:51820 10.213.0.1 10.213.0.4"}));
  EXPECT_TRUE(is_wireguard_relay(0, members));
  EXPECT_FALSE(is_wireguard_relay(1, members));
  EXPECT_FALSE(is_wireguard_relay(0, {kFront, kNear, kFar})) << "all of them meet";
}

TEST(WireguardPeers, WithoutAnyPublicAddressPrivateOnesAreTried) {
  const std::vector<WireguardMember> members = {kNear, kHome};
  EXPECT_EQ(calls(members, 0), (Lines{"home[0] at 192.168.1.20:51820 kept 10.213.0.4"}));
  EXPECT_FALSE(is_wireguard_relay(0, members));
}

// Machines that exist already may stand anywhere.
TEST(WireguardPeers, HostsWithPublicAddressesAreCalledThere) {
  WireguardMember office = kHome;
  office.node = "office[0]", office.address = "10.213.0.5", office.public_ip = "198.51.100.9";
  EXPECT_EQ(calls({kHome, office}, 0), (Lines{"office[0] at 198.51.100.9:51820 kept 10.213.0.5"}));
  EXPECT_EQ(calls({kHome, office}, 1), (Lines{"home[0] at 192.168.1.20:51820 10.213.0.4"}));
}

TEST(WireguardPeers, AnIpv6EndpointIsBracketed) {
  WireguardMember far = kFar;
  far.public_ip = "2001:db8::7";
  EXPECT_EQ(calls({kFront, far}, 0), Lines{"far[0] at [2001:db8::7]:51820 10.213.0.3"});
}

TEST(WireguardText, IsTheWholeFileButForThePrivateKey) {
  const WireguardText text =
      wireguard_text(0, {kFront, kNear, kHome}, "wg-lan", "lan", "10.213.0.1/16", 51820);
  EXPECT_EQ(text.head,
            "# Made by radlc for the network 'lan': changes are lost\n[Interface]\nAddress = 10.213.0.1/16\n"
            "ListenPort = 51820\n");
  EXPECT_EQ(text.rest,
            "PostUp = sysctl -q -w net.ipv4.conf.%i.forwarding=1\n"
            "\n# near[0]\n[Peer]\nPublicKey = N=\nAllowedIPs = 10.213.0.2/32\nEndpoint = 172.31.0.6:51820\n"
            "\n# home[0]\n[Peer]\nPublicKey = H=\nAllowedIPs = 10.213.0.4/32\n");
  EXPECT_EQ(text.peers, "H= 10.213.0.4/32\nN= 10.213.0.2/32\n");
  EXPECT_EQ(text.hosts,
            "# BEGIN radlc wg-lan\n10.213.0.1 front.lan\n10.213.0.2 near.lan\n10.213.0.4 home.lan\n"
            "# END radlc wg-lan\n");
}

TEST(JobAddresses, AreThoseOfANetworkThatWireguardJoins) {
  ir::Node node;
  node.interfaces = {{.index = 0, .network = "public"}, {.index = 1, .network = "lan"}};
  NodeHandle handle;
  handle.node = &node;
  handle.attributes = {{"private_ip", "172.31.0.5"}};
  EXPECT_EQ(jobs::address_of(handle), "172.31.0.5");
  node.interfaces[1].wireguard_ip = "10.213.0.1";
  EXPECT_EQ(jobs::address_of(handle), "10.213.0.1");
}

}  // namespace
}  // namespace radl::native
