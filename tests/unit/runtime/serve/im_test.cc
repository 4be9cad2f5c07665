// The pure parts of the Infrastructure Manager's REST API: headers, states, documents.
#include <gtest/gtest.h>

#include "runtime/serve/document.h"
#include "runtime/serve/im_header.h"
#include "runtime/serve/im_state.h"

namespace radl::serve {
namespace {

std::optional<ImAuthorization> read(std::string_view header) {
  auto caller = read_authorization(header);
  EXPECT_TRUE(caller.ok()) << caller.status().message();
  return caller.ok() ? *caller : std::nullopt;
}

TEST(Authorization, LinesAreJoinedByTwoCharacters) {
  const auto caller = read(
      R"(id = one; type = EC2; username = k; password = s\ntype = InfrastructureManager; username = ana; password = pw)");
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->user, "ana");
  EXPECT_EQ(caller->secret, "pw");
  const Json accounts = Json::parse(caller->accounts);
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0], Json({{"id", "one"}, {"type", "EC2"}, {"username", "k"}, {"password", "s"}}));
}

TEST(Authorization, AValueMayHaveLineBreaks) {
  const auto caller =
      read(R"(type = InfrastructureManager; token = t\nid = g; type = GCE; private_key = 'A\\nB')");
  ASSERT_TRUE(caller);
  EXPECT_EQ(Json::parse(caller->accounts)[0]["private_key"], "A\nB");
}

TEST(Authorization, OtherForms) {
  EXPECT_EQ(read("Bearer abc")->secret, "abc");
  EXPECT_EQ(read("basic YW5hOnB3OjI=")->secret, "pw:2");
  EXPECT_EQ(read(R"([{"type": "InfrastructureManager", "username": "ana", "password": "pw"}])")->user, "ana");
  EXPECT_EQ(read("type = InfrastructureManager; token = t")->secret, "t");
}

TEST(Authorization, WithoutCredentialsOfTheServiceThereIsNoUser) {
  EXPECT_FALSE(read("id = one; type = EC2; username = k; password = s"));
  EXPECT_FALSE(read("type = InfrastructureManager; username = ana"));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read_authorization("Basic ***").ok());
  EXPECT_FALSE(read_authorization("[{").ok());
}

// A client makes the service neither read its files nor run commands on it.
TEST(Authorization, FilesAndCommandsAreNoneOfAClients) {
  for (const char* value : {"file(/etc/passwd)", "command(id)"}) {
    auto caller =
        read_authorization(std::string("type = InfrastructureManager; username = ana; password = ") + value);
    EXPECT_TRUE(!caller.ok() || !*caller) << value;
    caller = read_authorization(
        std::string(R"(type = InfrastructureManager; token = t\nid = o; type = OpenStack; password = )") +
        value);
    if (caller.ok() && *caller) {
      EXPECT_EQ((*caller)->accounts.find("root:"), std::string::npos);
      EXPECT_EQ((*caller)->accounts.find("uid="), std::string::npos);
      EXPECT_EQ((*caller)->accounts.find(value), std::string::npos)
          << "radlc would read it when it uses the account";
    }
  }
}

TEST(Accept, TheFirstThatCanBeServedIsTaken) {
  EXPECT_EQ(accepted_type("", "text/uri-list", true), "text/uri-list");
  EXPECT_EQ(accepted_type("application/json", "text/uri-list", true), "application/json");
  EXPECT_EQ(accepted_type("image/png, application/*;q=0.5", "text/plain", true), "application/json");
  EXPECT_EQ(accepted_type("text/*, application/json", "text/uri-list", true), "text/uri-list");
  EXPECT_EQ(accepted_type("*/*", "application/json", true), "application/json");
  EXPECT_EQ(accepted_type("image/png", "text/plain", true), std::nullopt);
  EXPECT_EQ(accepted_type("application/json", "text/plain", false), std::nullopt);
}

TEST(Errors, TheBodyFollowsAccept) {
  EXPECT_EQ(error_form("text/html, application/json"), ErrorForm::Json);
  EXPECT_EQ(error_form("text/html"), ErrorForm::Html);
  EXPECT_EQ(error_form("*/*"), ErrorForm::Text);
  EXPECT_EQ(Json::parse(error_body(ErrorForm::Json, 404, "a \"b\"")),
            Json({{"message", "a \"b\""}, {"code", 404}}));
  EXPECT_EQ(error_body(ErrorForm::Html, 400, "<script>").find("<script>"), std::string::npos);
}

using enum MachineState;

TEST(States, OfAnInfrastructureFollowTheReference) {
  const auto of = [](std::vector<MachineState> machines) {
    return infrastructure_state(machines, false, false, false);
  };
  EXPECT_EQ(of({Configured, Configured}), Configured);
  EXPECT_EQ(of({Configured, Unconfigured}), Unconfigured);
  EXPECT_EQ(of({Configured, Failed, Unknown}), Failed);
  EXPECT_EQ(of({Unknown, Failed}), Unknown);
  EXPECT_EQ(of({Configured, Running, Pending}), Pending);
  EXPECT_EQ(of({Stopped, Running}), Running);
  EXPECT_EQ(of({Configured, Stopped}), Configured);
  EXPECT_EQ(of({Stopped, Configured}), Stopped);
  EXPECT_EQ(of({Stopped, Unconfigured}), Stopped);
  EXPECT_EQ(of({}), Unknown);
  EXPECT_EQ(infrastructure_state({}, true, false, false), Pending);
  EXPECT_EQ(infrastructure_state({}, false, true, false), Failed);
  EXPECT_EQ(infrastructure_state({Configured}, false, false, true), Deleting);
}

TEST(States, OfAMachineComeFromItsResourceAndItsSteps) {
  Snapshot now;
  EXPECT_EQ(machine_state(now, "w[0]", true, false), Pending);
  EXPECT_EQ(machine_state(now, "w[0]", false, false), Failed);
  ResourceRecord& node = now.resources["w[0]"];
  EXPECT_EQ(machine_state(now, "w[0]", true, false), Pending);
  node.reachable = true;
  EXPECT_EQ(machine_state(now, "w[0]", true, false), Running);
  EXPECT_EQ(machine_state(now, "w[0]", false, false), Configured);
  now.steps["w[0]/a"].nodes = {"w[0]"};
  now.steps["w[1]/a"].nodes = {"w[1]"};
  now.steps["w[1]/a"].status = StepStatus::Failed;
  EXPECT_EQ(machine_state(now, "w[0]", false, false), Configured);
  now.steps["w[0]/a"].status = StepStatus::Failed;
  EXPECT_EQ(machine_state(now, "w[0]", false, false), Unconfigured);
  node.attributes["state"] = "stopped";
  EXPECT_EQ(machine_state(now, "w[0]", false, false), Stopped);
  EXPECT_EQ(machine_state(now, "w[0]", false, true), Deleting);
}

Document document(std::string_view text) {
  auto parsed = Document::parse(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *parsed : Document();
}

TEST(Documents, AnAdditionReplacesSystemsAndKeepsNetworks) {
  Document all = document("network n (outbound = 'yes')\nsystem a (cpu.count = 1)\ndeploy a 2 one\n");
  const Document more = document(
      "network n ()\nnetwork m ()\nsystem a (cpu.count = 4)\nsystem b (cpu.count = 1)\ndeploy a 1\ndeploy b "
      "3\n");
  auto deploys = all.add(more);
  ASSERT_TRUE(deploys.ok());
  ASSERT_EQ(deploys->size(), 2u);
  EXPECT_EQ((*deploys)[0].system, "a");
  EXPECT_EQ((*deploys)[1].count, 3);
  all.deploy((*deploys)[1]);
  const std::string text = all.text();
  EXPECT_NE(text.find("network n (outbound = 'yes')"), std::string::npos);
  EXPECT_NE(text.find("network m ()"), std::string::npos);
  EXPECT_NE(text.find("cpu.count = 4"), std::string::npos);
  EXPECT_EQ(text.find("system a (cpu.count = 1)"), std::string::npos);
  EXPECT_NE(text.find("deploy a 2 one"), std::string::npos);
  EXPECT_NE(text.find("deploy b 3"), std::string::npos);
  EXPECT_EQ(document(text).text(), text) << "the text is a document, and the same one";
}

TEST(Documents, ContextualizeIsJoined) {
  const char* recipe = "configure %s (\n@begin\n- tasks: []\n@end\n)\n";
  const auto with = [&](const char* name) {
    std::string text = recipe;
    text.replace(text.find("%s"), 2, name);
    return text + "contextualize 600 ( system a configure " + name + " step 1 )\n";
  };
  Document all = document("system a ()\n" + with("one"));
  ASSERT_TRUE(all.add(document(with("two"))).ok());
  ASSERT_TRUE(all.add(document(with("two"))).ok());
  const std::string text = all.text();
  EXPECT_NE(text.find("system a configure one step 1"), std::string::npos);
  const size_t two = text.find("system a configure two step 1");
  ASSERT_NE(two, std::string::npos);
  EXPECT_EQ(text.find("system a configure two step 1", two + 1), std::string::npos) << "once";
  EXPECT_EQ(document(text).text(), text);
}

TEST(Documents, AReferenceDefinesNothing) {
  Document all = document("system a (cpu.count = 1)\ndeploy a 1\n");
  ASSERT_TRUE(all.add(document("system a\ndeploy a 1\n")).ok());
  EXPECT_NE(all.text().find("cpu.count = 1"), std::string::npos);
}

TEST(Documents, ASystemStaysOnItsAccount) {
  Document all = document("system a ()\ndeploy a 1 one\n");
  EXPECT_TRUE(all.add(document("deploy a 1 one\n")).ok());
  EXPECT_FALSE(all.add(document("deploy a 1 two\n")).ok());
}

TEST(Documents, JsonIsAcceptedAndItsErrorsAreReported) {
  auto json = Document::from_json(
      R"([{"class": "system", "id": "a", "cpu.count": 2}, {"class": "deploy", "system": "a", "vm_number": 2}])");
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_EQ(json->deploys().size(), 1u);
  EXPECT_EQ(Document::from_json("[{").status().code(), Code::Invalid);
  EXPECT_EQ(Document::parse("system a (").status().code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::serve
