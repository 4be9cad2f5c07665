// The IR as JSON: round trips, versions, and refusal of what does not hold.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "compiler/ir/ir.h"
#include "compiler/resources/resource_schema.h"

namespace radl::ir {
namespace {

Program small() {
  Program program;
  program.name = "small";
  program.sources = {{"a.radl", std::string(64, '0')}};
  program.source_digest = std::string(64, '1');
  Network lan;
  lan.address = "network.lan";
  lan.name = "lan";
  program.networks.push_back(lan);
  for (int i = 0; i < 2; i++) {
    Node node;
    node.system = "worker";
    node.address = "worker[" + std::to_string(i) + "]";
    node.ordinal = node.number = i;
    node.interfaces.push_back({0, "lan", "wn-" + std::to_string(i), "localdomain", ""});
    program.nodes.push_back(node);
    Step step;
    step.id = node.address + "/tools";
    step.recipe = "tools";
    step.nodes = {node.address};
    step.digest = "d";
    step.resources.push_back({"file", "/etc/motd", Json{{"content", unknown("worker[0].ip")}}, {}});
    program.steps.push_back(step);
  }
  return program;
}

// Everything that a program can hold, by chance.
Program any(uint32_t seed) {
  std::mt19937 random(seed);
  auto chance = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto word = [&] {
    return std::string(1, static_cast<char>('a' + chance(26))) + std::to_string(chance(1000)) +
           (chance(5) == 0 ? "\xc3\xa9\n\"" : "");
  };
  Program program = small();
  program.contextualize = chance(2) == 0;
  program.max_time_seconds = chance(10000);
  if (chance(2) == 0) program.options["ansible_version"] = word();
  if (chance(2) == 0) program.inputs["n"] = chance(2) == 0 ? Json(chance(9)) : secret("input.n");
  program.networks[0].is_public = chance(2) == 0;
  program.networks[0].features["outports"] = word();
  program.networks[0].ports.push_back({"udp", "10.0.0.0/8", 1, 5, 1, 5});
  program.networks[0].origin = {"a.radl", chance(100), chance(100)};
  for (Node& node : program.nodes) {
    Requirement want;
    if (chance(2) == 0) want.min = chance(1000) / 8.0;
    if (chance(2) == 0) want.max = 1000.5;
    want.min_strict = chance(2) == 0;
    if (chance(2) == 0) want.equals = Json::array({word(), chance(5)});
    if (chance(2) == 0) want.versions[">="] = "20.04";
    if (chance(2) == 0) want.unit = "ECU";
    node.requirements["cpu.count"] = want;
    node.softs.push_back({2.5, {{word(), want}}});
    node.softs.push_back({1, {}});
    node.disks.push_back({0,
                          chance(2) == 0 ? std::optional<double>(1e9) : std::nullopt,
                          "hda",
                          "/data",
                          "ext4",
                          word(),
                          {word(), word()}});
    node.applications.push_back({word(), "1", "", chance(2) == 0});
    node.secrets["password"] = secret("worker.password");
    node.configured = chance(2) == 0;
    node.cloud = word();
  }
  program.steps[1].after.push_back({program.steps[0].id, "because"});
  Step barrier;
  barrier.id = "step/1";
  barrier.kind = StepKind::Barrier;
  barrier.needs_success = chance(2) == 0;
  barrier.after = {{program.steps[1].id, "step 1 is over"}};
  program.steps.push_back(barrier);
  Step ansible = program.steps[0];
  ansible.id = "worker[0]/play";
  ansible.kind = StepKind::Ansible;
  ansible.resources.clear();
  ansible.body = "\n---\n- tasks: []\n" + word();
  ansible.group = chance(5);
  ansible.after = {{"step/1", "step 2 follows step 1"}};
  program.steps.push_back(ansible);
  program.outputs.push_back(
      {"model", Json{{"$join", {"a", unknown("worker[0].ip")}}}, word(), chance(2) == 0, {}});
  program.ansible_hosts.push_back({"h", "host", "user", {{"password", secret("ansible.h.password")}}, {}});
  return program;
}

TEST(IrJson, RoundTripsEveryProgram) {
  for (uint32_t seed = 0; seed < 300; seed++) {
    Program program = any(seed);
    ASSERT_TRUE(verify(program).ok()) << verify(program).text();
    Json json = to_json(program);
    auto back = parse_program(json.dump());
    ASSERT_TRUE(back.ok()) << back.status().text();
    EXPECT_EQ(to_json(*back), json) << "seed " << seed;
  }
}

TEST(IrJson, RefusesOtherVersionsAndSaysWhatToDo) {
  Json json = to_json(small());
  json["ir"] = kVersion + 1;
  auto newer = from_json(json);
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.status().text().find("newer radlc"), std::string::npos) << newer.status().text();
  json["ir"] = 0;
  EXPECT_FALSE(from_json(json).ok());
}

TEST(IrJson, NamesTheFieldThatIsWrong) {
  struct Case {
    const char* pointer;
    Json value;
    const char* named;
  };
  const Case cases[] = {
      {"/nodes/1/ordinal", "x", "nodes[1].ordinal"},       {"/nodes/0/address", 7, "nodes[0].address"},
      {"/steps/0/kind", "magic", "steps[0].kind"},         {"/steps/1/after", 1, "steps[1].after"},
      {"/networks/0/public", "yes", "networks[0].public"}, {"/nodes/0/extra", 1, "nodes[0].extra"},
      {"/nodes/0/number", 1e300, "nodes[0].number"},       {"/max_time_seconds", "long", "max_time_seconds"},
  };
  for (const Case& each : cases) {
    Json json = to_json(small());
    json[Json::json_pointer(each.pointer)] = each.value;
    auto read = from_json(json);
    ASSERT_FALSE(read.ok()) << each.pointer;
    EXPECT_NE(read.status().message().find(each.named), std::string::npos) << read.status().message();
  }
  for (const char* field : {"name", "nodes", "steps", "networks", "sources", "ir"}) {
    Json json = to_json(small());
    json.erase(field);
    auto read = from_json(json);
    ASSERT_FALSE(read.ok()) << field;
    EXPECT_NE(read.status().message().find(field), std::string::npos) << read.status().message();
  }
}

TEST(IrJson, SurvivesEveryTruncationAndDeepNesting) {
  std::string text = to_json(any(7)).dump();
  for (size_t size = 0; size < text.size(); size += 7) EXPECT_FALSE(parse_program(text.substr(0, size)).ok());
  EXPECT_FALSE(parse_program(std::string(100000, '[')).ok());
  EXPECT_FALSE(parse_program("{\"a\":" + std::string(100000, '{')).ok());
  EXPECT_FALSE(parse_program("[]").ok());
  EXPECT_FALSE(parse_program("7").ok());
}

// Each change makes a sound program unsound in one way.
TEST(IrVerify, FindsWhatDoesNotHold) {
  using Change = void (*)(Program&);
  const std::pair<const char*, Change> changes[] = {
      {"duplicate", [](Program& p) { p.nodes[1].address = "worker[0]", p.nodes[1].ordinal = 0; }},
      {"number", [](Program& p) { p.nodes[1].number = 0; }},
      {"network", [](Program& p) { p.nodes[0].interfaces[0].network = "wan"; }},
      {"before",
       [](Program& p) {
         p.steps[0].after.push_back({p.steps[1].id, ""});
       }},
      {"node", [](Program& p) { p.steps[0].nodes = {"worker[9]"}; }},
      {"one node", [](Program& p) { p.steps[0].nodes.push_back("worker[1]"); }},
      {"digest", [](Program& p) { p.steps[0].digest.clear(); }},
      {"property", [](Program& p) { p.steps[0].resources[0].properties["colour"] = 1; }},
      {"type", [](Program& p) { p.steps[0].resources[0].type = "fiel"; }},
      {"plain text", [](Program& p) { p.nodes[0].secrets["password"] = "hunter2"; }},
      {"training", [](Program& p) { p.steps[0].kind = StepKind::Training; }},
      {"possible",
       [](Program& p) {
         p.nodes[0].requirements["x"] = Requirement{5.0, 4.0};
       }},
  };
  for (const auto& [named, change] : changes) {
    Program program = small();
    change(program);
    Status status = verify(program);
    ASSERT_FALSE(status.ok()) << named;
    EXPECT_NE(status.message().find(named), std::string::npos) << status.message();
  }
}

TEST(IrValues, SubstituteFillsInAndJoins) {
  Json value = {{"url", {{"$join", {"http://", unknown("a[0].ip"), ":", secret("port")}}}},
                {"list", {unknown("a[0].ip"), 1}}};
  EXPECT_EQ(unknowns_in(value), std::vector<std::string>{"a[0].ip"});
  EXPECT_EQ(secrets_in(value), std::vector<std::string>{"port"});
  auto address = [](const std::string&) { return std::optional<Json>("10.0.0.1"); };
  auto port = [](const std::string&) { return std::optional<Json>(80); };
  Json half = substitute(value, address, nullptr);
  EXPECT_EQ(half["list"], Json({"10.0.0.1", 1}));
  EXPECT_TRUE(is_join(half["url"]));
  EXPECT_EQ(unknowns_in(half), std::vector<std::string>{});
  EXPECT_EQ(substitute(value, address, port)["url"], "http://10.0.0.1:80");
}

TEST(ResourceSchema, IsConsistent) {
  for (const ResourceType& type : resource_types()) {
    EXPECT_FALSE(type.doc.empty()) << type.name;
    EXPECT_EQ(find_resource_type(type.name), &type);
    for (const Property& property : type.properties) {
      EXPECT_EQ(find_property(type, property.name), &property)
          << type.name << "." << property.name << " is a duplicate";
      EXPECT_FALSE(property.doc.empty()) << type.name << "." << property.name;
      std::string value(property.default_json.empty() ? "null" : property.default_json);
      EXPECT_FALSE(Json::parse(value, nullptr, false).is_discarded()) << property.name;
      EXPECT_FALSE(property.required && !property.default_json.empty()) << property.name;
    }
  }
}

}  // namespace
}  // namespace radl::ir
