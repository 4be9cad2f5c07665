// What of EC2 needs no EC2: rules in words, places, images, consoles, designs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "runtime/clouds/caller.h"
#include "runtime/clouds/console.h"
#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/ec2/quotas.h"
#include "runtime/clouds/ec2/rules.h"
#include "runtime/clouds/ec2/together.h"
#include "runtime/clouds/memory.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/port_rules.h"
#include "runtime/clouds/shown.h"
#include "runtime/clouds/tags.h"
#include "tests/support/runtime_programs.h"
#include "tests/support/scripted_server.h"

namespace radl::ec2 {
namespace {

const CloudId kCloud{"ec2", "", "us-east-1"};

ir::Node node_with(std::map<std::string, std::string> features) {
  ir::Node node;
  node.address = "worker[0]";
  node.system = "worker";
  for (const auto& [name, value] : features) node.requirements[name].equals = value;
  return node;
}

Result<Design> designed(const ir::Program& program) {
  static const Catalog catalog = built_in_catalog();
  static const Survey survey;
  DesignInput input{program, {}, survey, catalog};
  for (const ir::Node& node : program.nodes) input.nodes.push_back(&node);
  return design_resources(kCloud, input);
}

const Wanted* find(const Design& design, const std::string& address) {
  for (const Wanted& wanted : design.resources)
    if (wanted.address == address) return &wanted;
  return nullptr;
}

Design with_machines(const std::string& type, const std::string& market, double cpu, int count) {
  Design design;
  for (int i = 0; i < count; ++i) {
    Wanted wanted;
    wanted.node = wanted.address = "worker[" + std::to_string(i) + "]";
    Offer offer;
    offer.name = type;
    offer.facts.market = market;
    offer.facts.cpu = cpu;
    wanted.offers = {offer};
    design.resources.push_back(wanted);
  }
  return design;
}

TEST(Api, PagesThatGoRoundInACircleEnd) {
  std::atomic<int> n{0};
  test::ScriptedServer server([&](const std::string&) {
    return test::http_answer(200, "",
                             "<DescribeInstancesResponse><reservationSet/><nextToken>" +
                                 std::to_string(++n % 2) + "</nextToken></DescribeInstancesResponse>");
  });
  http::Client http{environment_of_process()};
  aws::QueryClient client(
      http, nullptr, {.name = "ec2", .version = "1", .region = "us-east-1", .endpoint = server.url("/")});
  const Status status =
      Api(client).each(Context{}, "DescribeInstances", {}, "reservationSet", [](pugi::xml_node) {});
  EXPECT_EQ(status.code(), Code::Corrupt) << status.text();
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Ec2Quotas, AQuotaErrorShowsBothFigures) {
  Survey survey;
  survey.facts["quotas"] = {{"L-1216C47A", 32}, {"L-34B43A08", 640}, {"L-DB2E81BA", 0}};
  const auto notes = quota_notes(kCloud, with_machines("m5.2xlarge", "on-demand", 8, 5), survey);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("40 vCPUs of on-demand standard instances"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("the account's quota is 32"), std::string::npos) << notes[0];
  EXPECT_TRUE(quota_notes(kCloud, with_machines("m5.2xlarge", "on-demand", 8, 4), survey).empty());
  EXPECT_TRUE(quota_notes(kCloud, with_machines("m5.2xlarge", "spot", 8, 5), survey).empty());
  EXPECT_EQ(quota_notes(kCloud, with_machines("g4dn.xlarge", "on-demand", 4, 1), survey).size(), 1u);
}

TEST(Ec2Quotas, WithoutThemNothingIsSaidAndWhyNotIs) {
  EXPECT_TRUE(quota_notes(kCloud, with_machines("m5.2xlarge", "on-demand", 8, 500), Survey()).empty());
  Survey refused;
  refused.facts["quotas_unknown"] = "servicequotas ListServiceQuotas: AccessDeniedException";
  EXPECT_NE(quota_notes(kCloud, Design(), refused).at(0).find("AccessDeniedException"), std::string::npos);
}

TEST(Ec2Quotas, AMachineTakesItsVcpusOfItsKind) {
  InstanceType type;
  type.name = "m5.2xlarge";
  type.cpu = 8;
  Survey survey;
  survey.facts["quotas"] = {{"L-1216C47A", 32}, {"L-34B43A08", 640}};
  const std::vector<QuotaUse> uses = quota_uses(type, Market::OnDemand, survey);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[0].each, 8);
  EXPECT_EQ(uses[0].room, 32);
  EXPECT_NE(uses[0].name.find("L-1216C47A"), std::string::npos);
  EXPECT_EQ(quota_uses(type, Market::Spot, survey).at(0).room, 640);
  type.name = "g4dn.xlarge";
  EXPECT_TRUE(quota_uses(type, Market::OnDemand, survey).empty()) << "nobody said";
}

TEST(Ec2Quotas, EachTypeBelongsToItsKind) {
  for (const char* type :
       {"t3.micro", "m7i.large", "c5n.18xlarge", "im4gn.large", "i4i.large", "a1.medium", "d3en.xlarge"})
    EXPECT_EQ(vcpu_quota(type, false).code, "L-1216C47A") << type;
  EXPECT_EQ(vcpu_quota("p3.2xlarge", true).code, "L-7212CCBC");
  EXPECT_EQ(vcpu_quota("p5.48xlarge", true).code, "");
  EXPECT_EQ(vcpu_quota("vt1.3xlarge", false).code, "L-DB2E81BA");
  for (const char* type :
       {"inf1.xlarge", "trn1.2xlarge", "hpc6a.48xlarge", "mac1.metal", "x1.16xlarge", "u-6tb1.metal"})
    EXPECT_EQ(vcpu_quota(type, false).code, "") << type;
}

TEST(Ec2Rules, ReadBackAsTheyWereWritten) {
  for (const char* text :
       {"tcp 22 from 203.0.113.5/32", "tcp 8000-8010 from 0.0.0.0/0", "udp 53 from 10.0.0.0/8",
        "icmp from 10.0.0.0/8", "all from this group", "tcp 443 from 2001:db8::/32", "all from sg-1"}) {
    auto rule = parse_rule(text, "sg-own", "198.51.100.1/32");
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(rule->text("sg-own"), text);
  }
  EXPECT_EQ(parse_rule(kSshFromThisComputer, "sg-own", "198.51.100.1/32")->cidr, "198.51.100.1/32");
  EXPECT_FALSE(parse_rule("tcp x from 10.0.0.0/8", "sg-own", ""));
  EXPECT_FALSE(parse_rule("nonsense", "sg-own", ""));
}

TEST(Ec2Rules, AreReadFromWhatEc2Answers) {
  pugi::xml_document document;
  document.load_string(
      R"(<ipPermissions><item><ipProtocol>tcp</ipProtocol><fromPort>80</fromPort><toPort>90</toPort>
    <ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item><item><cidrIp>10.0.0.0/8</cidrIp></item></ipRanges>
    <groups><item><groupId>sg-2</groupId></item></groups></item>
    <item><ipProtocol>-1</ipProtocol><groups><item><groupId>sg-own</groupId></item></groups></item></ipPermissions>)");
  std::vector<std::string> texts;
  for (const InboundRule& rule : rules_in(document.document_element())) texts.push_back(rule.text("sg-own"));
  EXPECT_EQ(texts, (std::vector<std::string>{"tcp 80-90 from 0.0.0.0/0", "tcp 80-90 from 10.0.0.0/8",
                                             "tcp 80-90 from sg-2", "all from this group"}));
}

TEST(Ec2Rules, WhatGoesOutIsShownWhereItIsNotEverything) {
  auto shown = [](const std::vector<InboundRule>& outbound) {
    return outbound_changes(outbound).texts(outbound, "sg-own");
  };
  EXPECT_TRUE(shown({all_out()}).empty());
  EXPECT_TRUE(shown({all_out(), {"all", -1, -1, "::/0", ""}}).empty()) << "of a VPC with IPv6";
  EXPECT_EQ(shown({}), std::vector<std::string>{kNothingOut});
  EXPECT_EQ(shown({{"tcp", 443, 443, "10.0.0.0/8", ""}, {"all", -1, -1, "", "sg-own"}}),
            (std::vector<std::string>{kNothingOut, "tcp 443 to 10.0.0.0/8", "all to this group"}));
  const OutboundChanges changes = outbound_changes({{"tcp", 443, 443, "10.0.0.0/8", ""}, all_out()});
  EXPECT_FALSE(changes.lacking);
  EXPECT_EQ(changes.too_many, std::vector<size_t>{0});
}

TEST(Ec2Rules, AnUpdateRemovesWhatItsPlanHasShownAndNothingThatCameLater) {
  const InboundRule telnet{"tcp", 23, 23, "0.0.0.0/0", ""}, web{"tcp", 80, 80, "0.0.0.0/0", ""};
  const std::vector<InboundRule> outbound = {telnet, all_out(), web};
  Order order;
  order.id = "sg-own";
  EXPECT_FALSE(shown_before(order, "rules").has_value()) << "the group is being created";
  EXPECT_TRUE(may_remove(order, {telnet.text("sg-own")}));
  EXPECT_EQ(outbound_to_remove(order, outbound), (std::vector<size_t>{0, 2}));
  carry_shown(order, {{"rules", {"tcp 23 from 0.0.0.0/0", "tcp 80 to 0.0.0.0/0", kSshFromThisComputer}}});
  EXPECT_TRUE(may_remove(order, {telnet.text("sg-own")}));
  EXPECT_FALSE(may_remove(order, {web.text("sg-own")}));
  EXPECT_TRUE(may_remove(order, {"tcp 22 from 203.0.113.5/32", kSshFromThisComputer}));
  EXPECT_EQ(outbound_to_remove(order, outbound), std::vector<size_t>{2});
  carry_shown(order, {{"name", "other"}});
  EXPECT_FALSE(may_remove(order, {telnet.text("sg-own")})) << "the plan leaves the rules as they are";
}

TEST(CloudMemory, GroupsWithoutAnOwnerAreDistinctOnceAnOwnOneIsKnown) {
  CloudMemory memory;
  EXPECT_TRUE(memory.group_names({"sg-1"}).is_null()) << "a machine alone is looked at";
  memory.note_names({{"sg-1", "access.ec2:/eu"}, {"i-1", "worker[0]"}});
  EXPECT_EQ(memory.group_names({"sg-9", "sg-1"}), (Json{"access.ec2:/eu", "sg-9"}));
  EXPECT_EQ(memory.group_names({"sg-9"}), Json{"sg-9"}) << "moved out of all of them";
  EXPECT_EQ(memory.group_names({}), Json::array());
}

ir::Program with_encryption(const std::string& encrypted, const std::string& key) {
  ir::Node node = node_with({});
  for (int index : {0, 1}) {
    ir::Disk disk;
    disk.index = index;
    if (index > 0) disk.size_bytes = 5e9;
    node.disks.push_back(disk);
    const std::string prefix = "disk." + std::to_string(index) + ".";
    if (!encrypted.empty()) node.requirements[prefix + "encrypted"].equals = encrypted;
    if (!key.empty()) node.requirements[prefix + "encryption_key"].equals = key;
  }
  ir::Program program;
  program.nodes.push_back(std::move(node));
  return program;
}

TEST(Ec2Disks, AreEncryptedAsTheFileAsks) {
  auto design = designed(with_encryption("yes", ""));
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Json& plain = find(*design, "worker[0]")->spec;
  EXPECT_EQ(plain.at("root"), (Json{{"encrypted", true}}));
  EXPECT_EQ(plain.at("disks").at(0).at("encrypted"), true);
  design = designed(with_encryption("", "alias/mine"));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, "worker[0]")->spec.at("root"),
            (Json{{"encrypted", true}, {"encryption_key", "alias/mine"}}));
  design = designed(with_encryption("no", ""));
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_FALSE(find(*design, "worker[0]")->spec.contains("root"));
}

TEST(Ec2Disks, ThatAreNotEncryptedTakeNoKey) {
  const ir::Program program = with_encryption("no", "alias/mine");
  const Survey survey;
  const Catalog catalog = built_in_catalog();
  const Status checked = check_node(kCloud, program.nodes[0], {program, {}, survey, catalog});
  EXPECT_EQ(checked.code(), Code::Invalid);
  EXPECT_NE(checked.message().find("disk.0.encrypt"), std::string::npos) << checked.text();
}

TEST(Ec2Images, ADistributionIsFoundByFlavourAndVersion) {
  auto image = [](std::map<std::string, std::string> features) {
    return image_wanted(node_with(features), "x86_64", "");
  };
  EXPECT_EQ(image({})->text, "136693071363/debian-12-amd64-*");
  EXPECT_NE(image({{"disk.0.os.flavour", "ubuntu"}})->text.find("24.04-amd64"), std::string::npos);
  EXPECT_NE(image({{"disk.0.os.flavour", "Ubuntu"}, {"disk.0.os.version", "22.04"}})->text.find("22.04"),
            std::string::npos);
  EXPECT_EQ(image({{"disk.0.os.flavour", "plan9"}}).status().code(), Code::Invalid);
}

aws::Failure failure(int http_status, const std::string& code, Code meant) {
  aws::Failure made;
  made.http_status = http_status;
  made.reason = code;
  made.status = {meant, "said"};
  return made;
}

TEST(Ec2Answers, OnlyEc2sOwnWordSaysThatSomethingIsNotThere) {
  EXPECT_EQ(status_of(failure(400, "InvalidInstanceID.NotFound", Code::Invalid)).code(), Code::NotFound);
  EXPECT_EQ(status_of(failure(400, "InvalidPlacementGroup.Unknown", Code::Invalid)).code(), Code::NotFound);
  const Status page = status_of(failure(404, "", Code::NotFound));
  EXPECT_EQ(page.code(), Code::Invalid) << "a gateway's page";
  EXPECT_NE(page.hint().find("AWS_ENDPOINT_URL_EC2"), std::string::npos);
}

TEST(Ec2Answers, AServerLacksAnActionOnlyWhereItSaysSo) {
  EXPECT_TRUE(lacks_action(failure(400, "InvalidAction", Code::Invalid)));
  EXPECT_TRUE(lacks_action(failure(501, "", Code::Retry)));
  EXPECT_FALSE(lacks_action(failure(503, "Unavailable", Code::Retry)));
  EXPECT_FALSE(lacks_action(failure(500, "InternalError", Code::Retry)));
  EXPECT_FALSE(lacks_action(failure(0, "", Code::Lost)));
}

TEST(Ec2Together, WhatComesWhileACallIsUnderWayGoesOutInTheNextOne) {
  constexpr int kAll = 12;
  Together together;
  std::mutex mutex;
  std::vector<std::vector<std::string>> calls;
  std::promise<void> rest_is_there;
  std::shared_future<void> wait = rest_is_there.get_future().share();
  std::atomic<int> begun{0};
  auto send = [&](const std::vector<std::string>& ids) {
    bool first = false;
    {
      std::lock_guard guard(mutex);
      first = calls.empty();
      calls.push_back(ids);
    }
    if (first) wait.wait();
    return Asked::accepted();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kAll; ++i)
    threads.emplace_back([&, i] {
      if (++begun == kAll) rest_is_there.set_value();
      EXPECT_EQ(together.ask("i-" + std::to_string(i), 4, send).answer, Asked::Answer::Accepted);
    });
  for (std::thread& thread : threads) thread.join();
  size_t asked = 0;
  std::set<std::string> ids;
  for (const auto& call : calls) {
    EXPECT_LE(call.size(), 4u);
    asked += call.size();
    ids.insert(call.begin(), call.end());
  }
  EXPECT_EQ(asked, size_t{kAll}) << "each is asked for once";
  EXPECT_EQ(ids.size(), size_t{kAll});
  EXPECT_LT(calls.size(), size_t{kAll});
}

TEST(Ec2Together, WhoCameTogetherGoesTogetherAgain) {
  constexpr size_t kAll = 6;
  Together together(std::chrono::minutes(1));
  std::mutex mutex;
  std::vector<size_t> calls;
  std::atomic<bool> begun{false};
  auto send = [&](const std::vector<std::string>& ids) {
    bool first = false;
    {
      std::lock_guard guard(mutex);
      first = calls.empty();
      calls.push_back(ids.size());
    }
    begun = true;
    while (first && together.waiting() < kAll - 1) std::this_thread::yield();
    return Asked::accepted();
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kAll; ++i)
    threads.emplace_back([&, i] {
      while (i > 0 && !begun) std::this_thread::yield();
      EXPECT_EQ(together.ask("a" + std::to_string(i), 50, send).answer, Asked::Answer::Accepted);
      if (i == 0) return;
      EXPECT_EQ(together.ask("b" + std::to_string(i), 50, send).answer, Asked::Answer::Accepted);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls.size(), 3u) << "the first, those who waited for its end, and these again";
}

TEST(Ec2Together, OneThatIsRefusedDoesNotSpoilTheOthers) {
  Together together;
  std::promise<void> second_is_there;
  std::atomic<int> calls{0};
  auto send = [&](const std::vector<std::string>& ids) {
    if (calls++ == 0) second_is_there.get_future().wait();
    const bool bad = std::find(ids.begin(), ids.end(), "i-bad") != ids.end();
    return bad ? Asked::refused(not_found("i-bad")) : Asked::accepted();
  };
  std::thread first([&] { EXPECT_EQ(together.ask("i-first", 9, send).answer, Asked::Answer::Accepted); });
  while (calls == 0) std::this_thread::yield();
  std::thread bad([&] { EXPECT_EQ(together.ask("i-bad", 9, send).status.code(), Code::NotFound); });
  std::thread good([&] { EXPECT_EQ(together.ask("i-good", 9, send).answer, Asked::Answer::Accepted); });
  while (together.waiting() < 2) std::this_thread::yield();  // so that both go out in one call
  second_is_there.set_value();
  for (std::thread* thread : {&first, &bad, &good}) thread->join();
}

TEST(Ec2Console, TellsTheHostKeysOfTheLastBoot) {
  const std::string block = "-----BEGIN SSH HOST KEY KEYS-----\r\n";
  EXPECT_TRUE(host_keys_in("booting").empty());
  EXPECT_TRUE(host_keys_in(block + "ssh-ed25519 AAAA root@x\n").empty()) << "not whole yet";
  EXPECT_EQ(host_keys_in(block + "ssh-rsa OLD x\n-----END SSH HOST KEY KEYS-----\n" + block +
                         "[ 12.3] cloud-init: ssh-ed25519 AAAA root@x\r\n-----END SSH HOST KEY KEYS-----"),
            std::vector<std::string>{"ssh-ed25519 AAAA root@x"});
}

TEST(Ec2Caller, IsAnAddressOrARange) {
  EXPECT_EQ(*parse_cidr("203.0.113.5"), "203.0.113.5/32");
  EXPECT_EQ(*parse_cidr("2001:db8::1"), "2001:db8::1/128");
  EXPECT_EQ(*parse_cidr("10.0.0.0/8"), "10.0.0.0/8");
  // As EC2 shows it afterwards: else a rule would be shut as one too many.
  EXPECT_EQ(*parse_cidr("203.0.113.7/24"), "203.0.113.0/24");
  EXPECT_EQ(*parse_cidr("2001:DB8:0::1/32"), "2001:db8::/32");
  for (const char* wrong : {"", "10.0.0", "10.0.0.0/33", "10.0.0.0/x", "<html>"})
    EXPECT_FALSE(parse_cidr(wrong).ok()) << wrong;
}

TEST(Ec2Design, OnlyThisComputerMayLogInUnlessTheFileSaysOtherwise) {
  auto design = designed(test::ProgramBuilder().deploy({"worker", 2}).build());
  ASSERT_TRUE(design.ok()) << design.status().text();
  const Wanted* access = find(*design, "access.ec2:/us-east-1");
  ASSERT_TRUE(access);
  EXPECT_EQ(access->spec["rules"], Json({kSshFromThisComputer}));
  for (const Wanted& wanted : design->resources) {
    if (wanted.type != "security_group" || &wanted == access) continue;
    for (const Json& rule : wanted.spec["rules"]) EXPECT_EQ(rule, kFromThisGroup) << wanted.address;
  }
  const Wanted* worker = find(*design, "worker[0]");
  ASSERT_TRUE(worker);
  EXPECT_FALSE(worker->offers.empty());
  EXPECT_FALSE(worker->offers.front().price_per_hour.zero());
}

TEST(Ec2Design, SpotFallsBackOnDemandOnlyWhereTheFileSaysSo) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  ir::Node& node = program.nodes.front();
  node.requirements["spot"].equals = "yes";
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  for (const Offer& offer : find(*design, "worker[0]")->offers) EXPECT_EQ(offer.spec["market"], "spot");
  node.requirements["spot.fallback"].equals = "yes";
  design = designed(program);
  EXPECT_FALSE(find(*design, "worker[0]")->offers.back().spec.contains("market"));
}

TEST(Ec2Design, YesAndNoAreTakenInAnyCase) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  ir::Node& node = program.nodes.front();
  node.requirements["spot"].equals = "Yes";
  node.requirements["elastic_ip"].equals = "YES";
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(find(*design, "worker[0]")->offers.front().spec["market"], "spot")
      << "nobody pays thrice as much for a letter";
  EXPECT_NE(find(*design, "address.worker[0]"), nullptr);
  const Survey survey;
  const Catalog catalog = built_in_catalog();
  const DesignInput input{program, {&node}, survey, catalog};
  EXPECT_TRUE(check_node(kCloud, node, input).ok());
}

TEST(Ec2Design, ThePriceHoldsForTheMachineOnDemandThatASpotMachineFallsBackTo) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  ir::Node& node = program.nodes.front();
  node.requirements["spot"].equals = "yes";
  node.requirements["spot.fallback"].equals = "yes";
  node.requirements["instance_type"].equals = "m5.large, c5.large";
  node.requirements["price"].max = 0.09;  // c5.large is 0.085 on demand, m5.large 0.096
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  std::map<std::string, std::vector<std::string>> offered;
  for (const Offer& offer : find(*design, "worker[0]")->offers)
    offered[offer.facts.market].push_back(offer.name);
  EXPECT_EQ(offered["spot"], (std::vector<std::string>{"m5.large", "c5.large"}));
  EXPECT_EQ(offered["on-demand"], std::vector<std::string>{"c5.large"});
  node.requirements["price"].max = 0.06;  // enough for spot alone
  design = designed(program);
  ASSERT_FALSE(design.ok());
  EXPECT_NE(design.status().message().find("on-demand"), std::string::npos) << design.status().message();
  EXPECT_NE(design.status().hint().find("remove spot.fallback"), std::string::npos) << design.status().hint();
}

TEST(Ec2Design, TheSummaryOfAMachineSaysWhatItsTypeHas) {
  ir::Program program = test::ProgramBuilder().deploy({"worker", 1}).build();
  program.nodes.front().requirements["instance_type"].equals = "m5.xlarge";
  program.nodes.front().requirements["cpu.count"].min = 1;
  auto design = designed(program);
  ASSERT_TRUE(design.ok()) << design.status().text();
  const std::string summary = find(*design, "worker[0]")->summary;
  EXPECT_NE(summary.find("m5.xlarge, 4 cpu, 16 GiB"), std::string::npos) << summary;
}

TEST(Tags, ThoseOfOthersAreNoPartOfTheFileAndThoseThatItNoLongerNamesAreTakenAway) {
  const Json asked = {{"type", "t3.micro"}, {"tags", {{"team", "blue"}, {"stage", "test"}}}};
  const Json shown = {{"type", "t3.micro"}, {"tags", {{"team", "red"}, {"cost-center", "7"}}}};
  EXPECT_EQ(with_tags_of(asked, shown), Json({{"type", "t3.micro"}, {"tags", {{"team", "red"}}}}));
  EXPECT_EQ(with_tags_of({{"type", "t3.micro"}}, shown)["tags"], Json::object());
  const Json wanted = {{"tags", {{"team", "green"}}}};
  EXPECT_EQ(with_tags_to_take_away(asked, wanted), Json({{"tags", {{"team", "green"}, {"stage", nullptr}}}}));
  EXPECT_EQ(with_tags_to_take_away(asked, Json::object())["tags"],
            Json({{"team", nullptr}, {"stage", nullptr}}));
}

TEST(Ec2Errors, SayWhatToDo) {
  const auto hint = [](const char* code) {
    aws::Failure failure;
    failure.kind = aws::Failure::Kind::Refused;
    failure.reason = code;
    failure.status = {Code::Invalid, code};
    return status_of(failure).hint();
  };
  EXPECT_NE(hint("VcpuLimitExceeded").find("check-auth"), std::string::npos);
  EXPECT_NE(hint("AddressLimitExceeded").find("elastic address"), std::string::npos);
  EXPECT_NE(hint("InvalidAMIID.NotFound").find("each region"), std::string::npos);
  EXPECT_NE(hint("InvalidKeyPair.Duplicate").find("Delete it"), std::string::npos);
  EXPECT_EQ(hint("RequestLimitExceeded"), "") << "waiting is ours";
}

}  // namespace
}  // namespace radl::ec2
