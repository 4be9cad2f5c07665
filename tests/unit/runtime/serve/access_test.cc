// Who may do what: tokens, credentials, hosts that requests of users may go to, and TOSCA.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/files.h"
#include "common/google/settings.h"
#include "common/http/closed_address.h"
#include "common/http/http.h"
#include "runtime/serve/audit.h"
#include "runtime/serve/document.h"
#include "runtime/serve/infrastructure.h"
#include "runtime/serve/tokens.h"
#include "runtime/serve/tosca.h"
#include "runtime/serve/users.h"
#include "tests/support/fake_world.h"
#include "tests/support/temporary_folder.h"

namespace radl::serve {
namespace {

class TokensTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
  test::FakeWorld world_;
  Tokens tokens_{folder_.path(), world_.world};
  const Caller owner_{.user = "root", .scope = Scope::Admin, .token = "owner", .peer = {}};

  Caller caller_of(const IssuedToken& issued) {
    return {.user = issued.token.user, .scope = issued.token.scope, .token = issued.token.id, .peer = {}};
  }
};

TEST_F(TokensTest, AnotherProcessSeesThemAtOnce) {
  Tokens others(folder_.path(), world_.world);
  auto issued = tokens_.add(owner_, {.user = "ana", .scope = Scope::Plan});
  ASSERT_TRUE(issued.ok()) << issued.status().text();
  ASSERT_TRUE(others.find(issued->secret).ok());
  EXPECT_EQ(others.find(issued->secret)->scope, Scope::Plan);
  ASSERT_TRUE(others.revoke(owner_, issued->token.id).ok());
  EXPECT_EQ(tokens_.find(issued->secret).status().code(), Code::NotFound);
}

TEST_F(TokensTest, ATokenGrantsNoMoreThanItsMaker) {
  auto plan = tokens_.add(owner_, {.user = "ana", .scope = Scope::Plan});
  ASSERT_TRUE(plan.ok());
  const Caller ana = caller_of(*plan);
  EXPECT_EQ(tokens_.add(ana, {.scope = Scope::Apply}).status().code(), Code::Auth);
  EXPECT_EQ(tokens_.add(ana, {.user = "bob", .scope = Scope::Read}).status().code(), Code::Auth);
  EXPECT_TRUE(tokens_.add(ana, {.scope = Scope::Plan}).ok());
}

TEST_F(TokensTest, TheyEndWithTheirMakersAndTheirTime) {
  auto first = tokens_.add(owner_, {.user = "ana", .scope = Scope::Apply, .lifetime = 100});
  ASSERT_TRUE(first.ok());
  auto second = tokens_.add(caller_of(*first), {.scope = Scope::Read});
  auto third = tokens_.add(caller_of(*second), {.scope = Scope::Read});
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_EQ(third->token.expires, first->token.expires);
  ASSERT_TRUE(tokens_.revoke(caller_of(*first), second->token.id).ok());
  EXPECT_FALSE(tokens_.find(third->secret).ok());
  EXPECT_TRUE(tokens_.find(first->secret).ok());
  EXPECT_EQ(tokens_.add(caller_of(*second), {.scope = Scope::Read}).status().code(), Code::Auth);
  world_.clock.sleep(std::chrono::seconds(101));
  EXPECT_FALSE(tokens_.find(first->secret).ok());
}

TEST_F(TokensTest, ATokenCannotRevokeOneWithALargerScope) {
  auto apply = tokens_.add(owner_, {.user = "ana", .scope = Scope::Apply});
  auto read = tokens_.add(owner_, {.user = "ana", .scope = Scope::Read});
  ASSERT_TRUE(apply.ok() && read.ok());
  auto child = tokens_.add(caller_of(*read), {.scope = Scope::Read});
  ASSERT_TRUE(child.ok());
  const Caller dashboard = caller_of(*read);
  EXPECT_EQ(tokens_.revoke(dashboard, apply->token.id).code(), Code::Auth);
  EXPECT_TRUE(tokens_.find(apply->secret).ok());
  EXPECT_TRUE(tokens_.revoke(dashboard, child->token.id).ok());
  EXPECT_TRUE(tokens_.revoke(dashboard, read->token.id).ok());
  EXPECT_FALSE(tokens_.find(read->secret).ok());
}

TEST_F(TokensTest, ALinkIsUsedOnce) {
  auto link = tokens_.add(owner_, {.user = "ana", .scope = Scope::Apply, .kind = Token::Kind::OneTime});
  ASSERT_TRUE(link.ok());
  EXPECT_FALSE(tokens_.find(link->secret).ok());
  EXPECT_TRUE(tokens_.check_link(link->secret).ok());
  EXPECT_EQ(tokens_.check_link("guessed").code(), Code::NotFound);
  auto session = tokens_.exchange(link->secret, 60);
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(tokens_.find(session->secret)->kind, Token::Kind::Session);
  EXPECT_EQ(tokens_.check_link(link->secret).code(), Code::NotFound);
  EXPECT_EQ(tokens_.exchange(link->secret, 60).status().code(), Code::NotFound);
}

TEST_F(TokensTest, ADamagedFileIsNoEmptyOne) {
  ASSERT_TRUE(write_file_atomic(folder_.path() + "/tokens.json", "{", 0600).ok());
  EXPECT_EQ(tokens_.add(owner_, {.user = "ana"}).status().code(), Code::Corrupt);
  EXPECT_EQ(tokens_.find("x").status().code(), Code::Corrupt);
}

TEST(UserName, IsSafeInAPath) {
  for (const char* good : {"ana", "ana.b", "ana@example.org", "a-b_c9"})
    EXPECT_TRUE(is_user_name(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "-a", "a/b", "a b", "a\nb", "\xc3\xa4"})
    EXPECT_FALSE(is_user_name(bad)) << bad;
  EXPECT_FALSE(is_user_name(std::string(65, 'a')));
}

TEST(Sealed, OpensOnlyWithItsKeyForItsUserAndUnchanged) {
  const std::string key(32, 'k'), nonce(12, 'n'), text = sealed(key, nonce, "secret", "ana");
  EXPECT_EQ(text.find("secret"), text.npos);
  ASSERT_TRUE(unsealed(key, text, "ana").ok());
  EXPECT_EQ(*unsealed(key, text, "ana"), "secret");
  EXPECT_EQ(unsealed(std::string(32, 'x'), text, "ana").status().code(), Code::Corrupt);
  EXPECT_EQ(unsealed(key, text, "bob").status().code(), Code::Corrupt);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] ^= 1;
    EXPECT_FALSE(unsealed(key, changed, "ana").ok()) << at;
    EXPECT_FALSE(unsealed(key, text.substr(0, at), "ana").ok()) << at;
  }
}

TEST(HostsOfUsers, AreNeitherThisComputerNorMetadata) {
  for (const char* closed :
       {"http://169.254.169.254/latest", "169.254.169.254:80", "http://127.1.2.3", "localhost:5000",
        "http://[::1]:5000", "http://[fe80::1]", "http://[::ffff:169.254.169.254]", "http://0.0.0.0",
        "http://[fd00:ec2::254]", "http://[::]", "http://[::127.0.0.1]", "http://[64:ff9b::169.254.169.254]",
        "http://[2002:a9fe:a9fe::1]", "http://[64:ff9b:1::a9fe:a9fe]", "http://168.63.129.16"})
    EXPECT_FALSE(http::check_open_host(closed).ok()) << closed;
  for (const char* open : {"https://192.0.2.1:5000/v3", "10.1.2.3", "http://[2001:db8::1]:5000"})
    EXPECT_TRUE(http::check_open_host(open).ok()) << open << http::check_open_host(open).text();
}

// The address that is connected to counts: no list of keys or names is complete.
TEST(HostsOfUsers, AreCheckedWhereTheClientConnects) {
  const http::Request loopback{.url = "http://127.0.0.1:1/"};
  http::Client open{Environment()}, confined{Environment(Environment::Variables{{http::kConfined, "yes"}})};
  EXPECT_EQ(confined.send(loopback).status().code(), Code::Auth);
  EXPECT_EQ(open.send(loopback).status().code(), Code::Retry);
  const Environment proxied(
      Environment::Variables{{http::kConfined, "yes"}, {"http_proxy", "http://127.0.0.1:1"}});
  http::Client through{proxied};
  EXPECT_EQ(through.send({.url = "http://169.254.169.254/"}).status().code(), Code::Auth);
  EXPECT_EQ(through.send({.url = "http://192.0.2.1/"}).status().code(), Code::Retry);
}

class UsersTest : public testing::Test {
 protected:
  UsersTest() {
    world_.world.environment = Environment(Environment::Variables{{"GCE_METADATA_HOST", "127.0.0.1:1"}});
  }
  test::TemporaryFolder folder_;
  test::FakeWorld world_;
  driver::Host host_{.folder = folder_.path(), .principal = "root", .world = &world_.world};
  const Settings own_{.host = &host_, .cloud = "local", .auth = "auth.dat"};
  const Caller bob_{.user = "bob", .scope = Scope::Apply, .token = "t-1", .peer = {}};
};

TEST_F(UsersTest, OnlyTheOwnerHasTheIdentityOfTheMachine) {
  for (const bool trust_all : {false, true}) {
    Users all(own_, folder_.path(), "root", trust_all);
    EXPECT_TRUE(google::load_settings(all.of("root").host->environment()).ok());
    EXPECT_FALSE(google::load_settings(all.of("bob").host->environment()).ok()) << trust_all;
    EXPECT_EQ(http::is_confined(all.of("bob").host->environment()), !trust_all);
    EXPECT_EQ(all.of("bob").cloud, trust_all ? "local" : "");
    EXPECT_EQ(all.of("bob").auth, "");
  }
}

TEST_F(UsersTest, AccountsNameNoFileOfTheServiceAndNoClosedAddress) {
  Users all(own_, folder_.path(), "root", false);
  const auto code = [&](const Json& line) {
    return all.accounts(bob_, Json::array({line}).dump()).status().code();
  };
  const auto google = [](const Json& key) {
    return Json{{"id", "g"}, {"type", "GCE"}, {"project", "p"}, {"password", key.dump()}};
  };
  EXPECT_EQ(code(google({{"type", "external_account"},
                         {"audience", "a"},
                         {"subject_token_type", "b"},
                         {"token_url", "https://192.0.2.1/"},
                         {"credential_source", {{"file", "/etc/hostname"}}}})),
            Code::Auth);
  EXPECT_EQ(
      code(google(
          {{"type", "authorized_user"}, {"client_id", "a"}, {"client_secret", "b"}, {"refresh_token", "c"}})),
      Code::Auth);
  EXPECT_EQ(code(google({{"type", "service_account"}, {"client_email", "a@b"}, {"private_key", "k"}})),
            Code::Ok);
  for (const char* key : {"host", "base_url", "network_url", "image_url", "volume_url"})
    EXPECT_EQ(code({{"id", "o"}, {"type", "OpenStack"}, {key, "http://169.254.169.254/"}}), Code::Auth)
        << key;
  EXPECT_EQ(code({{"id", "e"}, {"type", "EGI"}, {"host", "CESGA"}, {"vo", "v"}}), Code::Ok);
}

TEST_F(UsersTest, OtherUsersHaveNoNodesOnTheComputer) {
  Users all(own_, folder_.path(), "root", false);
  const auto code = [&](const std::string& user, const std::string& deploy) {
    auto document = Document::parse("network n ()\nsystem a (net_interface.0.connection = 'n')\n" + deploy);
    EXPECT_TRUE(document.ok()) << document.status().text();
    return compile_document(all.of(user), folder_.path(), folder_.path() + "/state", *document)
        .status()
        .code();
  };
  EXPECT_EQ(code("bob", "deploy a 1\n"), Code::Auth);
  EXPECT_EQ(code("bob", "deploy a 1 local\n"), Code::Auth);
  EXPECT_EQ(code("bob", "deploy a 1 hosts\n"), Code::Auth);
  EXPECT_EQ(code("bob", "deploy a 1 mine\n"), Code::Ok);
  EXPECT_EQ(code("root", "deploy a 1\n"), Code::Ok);
  EXPECT_EQ(code("root", "deploy a 1 local\n"), Code::Ok);
}

TEST(AuditLog, KeepsRequestsWithoutATokenApart) {
  test::TemporaryFolder folder;
  test::FakeWorld world;
  Audit audit(folder.path(), world.clock);
  httpd::RequestHead head;
  head.method = "DELETE";
  head.path = "/infrastructures/1";
  const Caller ana{.user = "ana", .scope = Scope::Apply, .token = "t-1", .peer = {}};
  audit.note(head, &ana, {});
  audit.note(head, &ana, 200);
  audit.note(head, nullptr, 401);
  const std::string admitted = audit.last(4096), refused = audit.last(4096, true);
  EXPECT_EQ(std::ranges::count(admitted, '\n'), 2);
  EXPECT_EQ(std::ranges::count(refused, '\n'), 1);
  EXPECT_NE(refused.find("401"), refused.npos);
}

TEST(Tosca, ASoftwareNodeIsARecipeOfItsRoles) {
  auto radl = tosca_to_radl(R"(topology_template:
  node_templates:
    app:
      type: tosca.nodes.indigo.Docker
      requirements: [ {host: vm} ]
      artifacts: {role: {file: grycap.docker, type: tosca.artifacts.AnsibleGalaxy.role}}
      interfaces: {Standard: {configure: {inputs: {mode: "it's on"}}}}
    vm: {type: tosca.nodes.indigo.Compute, capabilities: {host: {properties: {num_cpus: 2, mem_size: 4 GB}}}}
)");
  ASSERT_TRUE(radl.ok()) << radl.status().text();
  EXPECT_NE(radl->find("cpu.count >= 2 and\n  memory.size >= 4G"), radl->npos) << *radl;
  EXPECT_NE(radl->find("- role: grycap.docker"), radl->npos) << *radl;
  EXPECT_NE(radl->find("system vm configure app"), radl->npos) << *radl;
  auto document = Document::parse(*radl);
  EXPECT_TRUE(document.ok()) << document.status().text() << *radl;
}

TEST(Tosca, WhatItHasNoFormForIsNamed) {
  const auto refused = [](const std::string& node) {
    return tosca_to_radl("topology_template: {node_templates: {a: {type: tosca.nodes.indigo.Compute}, b: " +
                         node + "}}")
        .status();
  };
  EXPECT_EQ(refused("{type: tosca.nodes.BlockStorage}").code(), Code::Unsupported);
  EXPECT_EQ(
      refused("{type: tosca.nodes.indigo.Compute, capabilities: {host: {properties: {colour: red}}}}").code(),
      Code::Unsupported);
  const Status playbook = refused(
      "{type: tosca.nodes.SoftwareComponent, requirements: [{host: a}], interfaces: {Standard: {configure: "
      "{implementation: 'https://example.org/play.yml'}}}}");
  EXPECT_EQ(playbook.code(), Code::Unsupported);
  EXPECT_NE(playbook.message().find("play.yml"), std::string::npos);
}

TEST(Altered, FeaturesOfTheSameNameAreReplaced) {
  auto document =
      Document::parse("system a (cpu.count >= 1 and cpu.count <= 4 and memory.size >= 1g)\ndeploy a 1\n");
  auto more = Document::parse("system x (cpu.count >= 2 and disk.1.size = 10g)\n");
  ASSERT_TRUE(document.ok() && more.ok());
  ASSERT_TRUE(document->alter("a", *more).ok());
  EXPECT_EQ(
      document->text(),
      "system a (\n  memory.size >= 1g and\n  cpu.count >= 2 and\n  disk.1.size = 10g\n)\n\ndeploy a 1\n");
}

}  // namespace
}  // namespace radl::serve
