// Marks, rules, states and answers of OpenStack, read without a cloud.
#include <gtest/gtest.h>

#include <random>

#include "runtime/clouds/openstack/creations.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/group_rules.h"
#include "runtime/clouds/openstack/marks.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "runtime/clouds/openstack/server.h"

namespace radl::openstack {
namespace {

TEST(OpenStackMarks, AreReadBackInEachForm) {
  const Mark mark{"my infra-12ab34cd", "worker[0]", "00112233445566778899aabbccddeeff"};
  Context context{.environment = environment_of_process()};
  context.infrastructure = mark.infrastructure;
  EXPECT_EQ(from_metadata(to_metadata(mark)).address, "worker[0]");
  EXPECT_TRUE(from_metadata(to_metadata(mark)).ours(context));
  EXPECT_EQ(token_in_name(to_name(mark), mark.infrastructure), mark.token);
  EXPECT_EQ(token_in_name(to_name(mark), "another-12ab34cd"), "") << "somebody else's";
  const Mark plain{"infra-12ab34cd", "network.lan", mark.token};
  EXPECT_EQ(from_line(to_line(plain)).token, plain.token);
  EXPECT_EQ(from_line(to_line(plain)).address, plain.address);
  for (char c : to_name(mark)) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '-') << c;
}

TEST(OpenStackMarks, ForeignResourcesHaveNoMark) {
  for (const char* line :
       {"", "radlc", "radlc ", "radlc a", "radlc a b", "somebody's own words", "radlc-x-y-z"}) {
    EXPECT_EQ(from_line(line).token, "") << line;
    EXPECT_EQ(token_in_name(line, "infra"), "") << line;
  }
}

TEST(OpenStackRules, ARuleThatWasWrittenIsReadBack) {
  for (const char* text :
       {"tcp 22 from 203.0.113.5/32", "tcp 8000-8010 from 0.0.0.0/0", "udp 53 from 10.0.0.0/8",
        "icmp from 10.0.0.0/8", "all from this group", "tcp 443 from 2001:db8::/32"}) {
    auto rule = parse_rule(text, "own", "198.51.100.1/32");
    ASSERT_TRUE(rule) << text;
    Json body = rule_body(*rule, "own", "ingress", false)["security_group_rule"];
    body["id"] = "1";
    const auto read = rules_in(Json::array({body}), "ingress");
    ASSERT_EQ(read.size(), 1u) << text;
    EXPECT_EQ(read[0].rule.text("own"), text);
  }
}

TEST(OpenStackRules, ThatLetOutAreReadApartFromThoseThatLetIn) {
  const Json list = Json::parse(R"([
    {"id": "1", "direction": "egress", "ethertype": "IPv4", "protocol": null, "remote_ip_prefix": null},
    {"id": "2", "direction": "egress", "ethertype": "IPv6", "protocol": null, "remote_ip_prefix": null},
    {"id": "3", "direction": "egress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 443,
     "port_range_max": 443, "remote_ip_prefix": "10.0.0.0/8"},
    {"id": "4", "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22,
     "port_range_max": 22, "remote_ip_prefix": "10.0.0.0/8"}])");
  std::vector<InboundRule> outbound;
  for (const GroupRule& one : rules_in(list, "egress")) outbound.push_back(one.rule);
  EXPECT_EQ(outbound_changes(outbound).texts(outbound, "own"),
            std::vector<std::string>{"tcp 443 to 10.0.0.0/8"});
  outbound.erase(outbound.begin());
  EXPECT_TRUE(outbound_changes(outbound).lacking) << "of IPv4";
  EXPECT_EQ(rules_in(list, "ingress").size(), 1u);
  const Json body = rule_body(all_out(), "own", "egress", false)["security_group_rule"];
  EXPECT_EQ(body.at("direction"), "egress");
  EXPECT_FALSE(body.contains("protocol"));
}

TEST(OpenStackRules, NumbersAnyAndNullAreUnderstoodAndEgressIsLeftOut) {
  const auto rules = rules_in(Json::parse(R"([
    {"id":"1","direction":"ingress","protocol":"6","port_range_min":22,"port_range_max":22,"remote_ip_prefix":null,"ethertype":"IPv4"},
    {"id":"2","direction":"ingress","protocol":null,"remote_group_id":"g"},
    {"id":"3","direction":"egress","protocol":null}])"),
                              "ingress");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].rule.text("own"), "tcp 22 from 0.0.0.0/0");
  EXPECT_EQ(rules[1].rule.text("own"), "all from g");
}

TEST(OpenStackServers, StatesAreWhatTheExecutorWaitsFor) {
  auto phase = [](const char* status, const char* task) {
    ServerNow now;
    now.status = status;
    now.task = task;
    return phase_of_server(now);
  };
  EXPECT_EQ(phase("BUILD", "spawning"), ResourcePhase::Pending);
  EXPECT_EQ(phase("ACTIVE", ""), ResourcePhase::Ready);
  EXPECT_EQ(phase("ACTIVE", "deleting"), ResourcePhase::Leaving);
  EXPECT_EQ(phase("SHUTOFF", ""), ResourcePhase::Stopped);
  EXPECT_EQ(phase("SHUTOFF", "powering-on"), ResourcePhase::Pending);
  EXPECT_EQ(phase("ERROR", ""), ResourcePhase::Broken);
  EXPECT_EQ(phase("VERIFY_RESIZE", ""), ResourcePhase::Ready);
  EXPECT_EQ(phase("a state of the future", ""), ResourcePhase::Pending);
}

// Other people's answers: whatever they hold, they are read or left.
TEST(OpenStackAnswers, OfAnyFormDoNoHarm) {
  std::mt19937 random(7);
  const std::string seed =
      R"({"id":"1","name":"x","flavor":{"original_name":"a","vcpus":1},"metadata":{"radlc:token":"t"},
    "fixed_ips":[{"ip_address":"10.0.0.1"}],"security_groups":["a"],"status":"ACTIVE","extra_specs":{"pci_passthrough:alias":"a:1,b:x"}})";
  for (int round = 0; round < 20000; ++round) {
    std::string text = seed;
    for (int change = 0; change < 3; ++change) {
      const char* bytes = "{}[]\":,0-9e\\nulltrue";
      text[random() % text.size()] = bytes[random() % 20];
    }
    const Json item = parse_json(text);
    (void)server_in(item, {});
    (void)port_in(item);
    (void)flavor_in(item);
    (void)rules_in(Json::array({item}), "ingress");
    (void)from_metadata(member(item, "metadata"));
  }
}

TEST(OpenStackCreations, ALostAnswerIsLookedForAndSentAgainOnlyWhenNothingCameOfIt) {
  Creations creations;
  int sent = 0;
  bool there = false;
  auto lost = [&] {
    ++sent;
    return Asked::unknown({Code::Lost, "lost"});
  };
  auto find = [&]() -> Result<std::optional<std::string>> {
    return there ? std::optional<std::string>("id-1") : std::nullopt;
  };
  const auto long_time = std::chrono::hours(1);
  EXPECT_EQ(creations.once("t", long_time, lost, find).answer, Asked::Answer::Unknown);
  EXPECT_EQ(creations.once("t", long_time, lost, find).answer, Asked::Answer::Unknown);
  EXPECT_EQ(sent, 1) << "not before it has settled";
  there = true;
  EXPECT_EQ(creations.once("t", long_time, lost, find).id, "id-1");
  EXPECT_EQ(sent, 1);
  there = false;
  auto made = [&] {
    ++sent;
    return Asked::accepted("id-2");
  };
  EXPECT_EQ(creations.once("u", std::chrono::milliseconds(0), lost, find).answer, Asked::Answer::Unknown);
  EXPECT_EQ(creations.once("u", std::chrono::milliseconds(0), made, find).id, "id-2")
      << "nothing had come of it";
  EXPECT_EQ(creations.once("u", std::chrono::milliseconds(0), made, find).id, "id-2");
  EXPECT_EQ(sent, 3);
}

}  // namespace
}  // namespace radl::openstack
