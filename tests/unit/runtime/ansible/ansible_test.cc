// Ansible recipes on real nodes, through the real ansible-playbook.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "common/process/detached.h"
#include "runtime/ansible/ansible_runner.h"
#include "runtime/ansible/galaxy.h"
#include "runtime/ansible/inventory.h"
#include "runtime/ansible/playbook.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "tests/support/second_login.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

struct AnsibleTest : testing::Test {
  void SetUp() override {
    ASSERT_FALSE(find_program(environment_of_process(), "ansible-playbook").empty())
        << "packages.txt names it";
    nodes = std::make_unique<TestNodes>(isolation);
    for (const char* address : {"front[0]", "wn[0]", "wn[1]"}) {
      handles.push_back(nodes->handle(address));
      ir::Node& node = nodes->nodes[address];
      ir::Interface interface;
      interface.network = "lan";
      interface.domain = "localdomain";
      node.interfaces.push_back(interface);
      node.applications.push_back({"org.ganglia", "3.7", "/opt/ganglia", false});
      node.requirements["cpu.count"].min = 2;
    }
    program.networks.push_back({"network.lan", "lan", false, false, {}, Json::object(), {}});
    for (const auto& handle : handles) program.nodes.push_back(*handle.node);
    context.context = &nodes->context;
    context.program = &program;
    context.all_nodes = [this] { return handles; };
    context.log_path = nodes->folder.path("step.log");
    context.emit = [this](const StepEvent& event) { events.push_back(event); };
  }
  ir::Step recipe(const std::string& name, const std::string& body) {
    ir::Step step;
    step.id = "wn[0]/" + name;
    step.recipe = name;
    step.kind = ir::StepKind::Ansible;
    step.body = body;
    step.digest = sha256_hex(body);
    step.group = 2;
    step.nodes = {"wn[0]"};
    program.steps.push_back(step);
    return step;
  }
  Result<StepOutcome> run(const ir::Step& step) {
    return make_ansible_runner()->run(context, step, {handles[1]});
  }
  std::string home(const std::string& below) {
    return handles[1].attributes.at("home").get<std::string>() + "/" + below;
  }

  local::Isolation isolation = local::Isolation::Off;
  std::unique_ptr<TestNodes> nodes;
  std::vector<NodeHandle> handles;
  ir::Program program;
  StepContext context;
  std::vector<StepEvent> events;
};

TEST_F(AnsibleTest, VariablesAndGroupsAreThoseThatRecipesExpect) {
  auto step = recipe("vars", R"(---
- tasks:
    - copy:
        dest: "~/vars"
        content: |
          {{ IM_NODE_HOSTNAME }} {{ IM_NODE_FQDN }} {{ IM_NODE_NUM }} {{ IM_NODE_PRIVATE_IP }} {{ IM_NODE_NET_0_IP }}
          {{ IM_MASTER_HOSTNAME }} {{ IM_MASTER_FQDN }} {{ IM_INFRASTRUCTURE_ID }} {{ IM_FRONT_NUM_VMS }} {{ IM_WN_NUM_VMS }}
          {{ IM_APP_ORG_GANGLIA_VERSION }} {{ IM_APP_ORG_GANGLIA_PATH }} {{ groups['wn'] | length }} {{ groups['allnowindows'] | length }}
          {{ IM_INFRASTRUCTURE_RADL | selectattr('class', 'equalto', 'system') | map(attribute='cpu_count_min') | list }}
          {{ hostvars[groups['front'][0]]['IM_NODE_HOSTNAME'] }} {{ inventory_hostname }} {{ ansible_user }} {{ ansible_distribution | length > 0 }}
)");
  auto outcome = run(step);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  std::string ip = handles[1].attributes.at("host");
  EXPECT_EQ(*read_file(home("vars")), "wn-0 wn-0.localdomain 1 " + ip + " " + ip +
                                          "\nfront-0 front-0.localdomain " + nodes->context.infrastructure +
                                          " 1 2\n3.7 /opt/ganglia 2 3\n[2, 2]\nfront-0 " + ip + "_1 " +
                                          handles[1].attributes.at("user").get<std::string>() + " True\n");
  EXPECT_EQ(outcome->changes.size(), 1u);
  auto again = run(step);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_TRUE(again->changes.empty()) << "the second run changes nothing";
}

TEST_F(AnsibleTest, ANodeBehindAJumpHostIsReachedByItsConfiguration) {
  const Json gate = handles[0].attributes;
  Json& inner = handles[1].attributes;
  const std::string config = nodes->folder.path("ssh_config"), known = nodes->folder.path("known_hosts");
  auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : std::to_string(value.get<int>());
  };
  auto name = [&](const std::string& called, const Json& node, const std::string& more) {
    return "Host " + called + "\n  HostName " + text(node.at("host")) + "\n  Port " + text(node.at("port")) +
           "\n" + more;
  };
  ASSERT_TRUE(write_file_atomic(config, name("inner", inner, "  ProxyJump gate\n") +
                                            name("gate", gate,
                                                 "  IdentityFile " + test::target_of(gate)->key_file +
                                                     "\n  UserKnownHostsFile " + known + "\n"))
                  .ok());
  ASSERT_TRUE(write_file_atomic(known, "[" + text(gate.at("host")) + "]:" + text(gate.at("port")) + " " +
                                           text(gate.at("host_key")) + "\n")
                  .ok());
  inner["host"] = "inner";
  inner["ssh_config"] = config;
  auto outcome = run(recipe("copy", "- tasks:\n  - copy: { dest: ~/said, content: hello }\n"));
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(home("said")), "hello");
}

TEST_F(AnsibleTest, AFailingTaskIsReportedWithEverythingThatHelps) {
  auto step = recipe("broken",
                     "- tasks:\n  - name: make the thing\n    shell: seq 1 50; echo it is broken >&2; exit "
                     "3\n  - name: never\n    command: touch never\n");
  auto outcome = run(step);
  ASSERT_FALSE(outcome.ok());
  for (const char* part : {"wn[0]", "recipe 'broken'", "step 2", "task 'make the thing' failed",
                           "\nexit status: 3\n", "it is broken\n", "\nat "}) {
    EXPECT_TRUE(contains(outcome.status().message(), part));
  }
  EXPECT_FALSE(contains(outcome.status().message(), "\n20\n")) << "the last lines only";
  EXPECT_EQ(events.back().data.at("state"), "failed");
  EXPECT_TRUE(contains(*read_file(context.log_path), "make the thing: failed"));
}

TEST_F(AnsibleTest, TheMessageOfADebugIsTold) {
  ASSERT_TRUE(run(recipe("told", "- tasks:\n  - debug: msg=\"on {{ IM_NODE_HOSTNAME }}\"\n")).ok());
  EXPECT_EQ(events.back().data.at("name"), "on wn-0");
  EXPECT_EQ(events.back().data.at("notice"), true);
}

TEST_F(AnsibleTest, TheCauseComesBeforeWhatAnsibleQuotesBelowIt) {
  auto outcome = run(recipe("undefined", "- tasks:\n  - debug: msg=\"{{ never_set }}\"\n"));
  ASSERT_FALSE(outcome.ok());
  EXPECT_TRUE(contains(outcome.status().message(), "'never_set' is undefined")) << outcome.status().message();
  EXPECT_FALSE(contains(outcome.status().message(), "Should be written as"));
}

TEST_F(AnsibleTest, WhatAModulePrintedIsToldBesideALongTrace) {
  const std::string python = nodes->folder.path("python");
  ASSERT_TRUE(write_file_atomic(python,
                                "#!/bin/sh\necho what the module printed\ni=0\nwhile [ $i -lt 100 ]; do echo "
                                "trace $i >&2; i=$((i + 1)); done\nexit 3\n",
                                0755)
                  .ok());
  auto failed = run(recipe(
      "broken",
      "- tasks:\n  - name: broken\n    ping:\n    vars: { ansible_python_interpreter: '" + python + "' }\n"));
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(contains(failed.status().message(), "what the module printed"));
  EXPECT_TRUE(contains(failed.status().message(), "trace 99"));
}

TEST_F(AnsibleTest, OneRecipeIncludesAnotherByItsName) {
  recipe("other", "- hosts: all\n  gather_facts: false\n  tasks: []\n");
  auto step = recipe("main",
                     "- tasks:\n    - include_vars: other.yml\n      ignore_errors: yes\n    - stat: path={{ "
                     "playbook_dir }}/other.yml\n      delegate_to: localhost\n      register: s\n"
                     "    - assert: { that: s.stat.exists }\n");
  auto outcome = run(step);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
}

TEST_F(AnsibleTest, CheckModeShowsAndChangesNothing) {
  auto step =
      recipe("copy", "- tasks:\n  - name: say it\n    copy: { dest: ~/said, content: \"hello\\n\" }\n");
  auto changes = make_ansible_runner()->observe(context, step, {handles[1]});
  ASSERT_TRUE(changes.ok()) << changes.status().text();
  ASSERT_EQ(changes->size(), 1u);
  EXPECT_TRUE(contains(changes->front().diff, "+hello"));
  EXPECT_FALSE(std::filesystem::exists(home("said")));
}

TEST_F(AnsibleTest, ACancelledRecipeLeavesNothingGoingOnTheNode) {
  const std::string token = "radl-" + to_hex(random_bytes(8));
  auto step = recipe("slow", "- tasks:\n  - shell: \"touch ~/begun; sleep 600; : " + token + "\"\n");
  nodes->context.stop = Stop::when([&] { return std::filesystem::exists(home("begun")); });
  auto outcome = run(step);
  EXPECT_EQ(outcome.status().code(), Code::Cancelled) << outcome.status().text();
  nodes->context.stop = {};
  auto left = (*handles[1].connect())->exec("pgrep -af '[r]adl-" + token.substr(5) + "'");
  ASSERT_TRUE(left.ok()) << left.status().text();
  EXPECT_EQ(left->out, "");
  EXPECT_TRUE(contains(*read_file(context.log_path), "which had been running there"));
}

TEST_F(AnsibleTest, VaultRecipesAreDecryptedAndSecretsStayOut) {
  std::string plain =
      "- tasks:\n  - name: use secret s3cretvalue\n    copy: { dest: ~/opened, content: s3cretvalue }\n";
  ASSERT_TRUE(write_file_atomic(nodes->folder.path("plain"), plain).ok());
  ASSERT_TRUE(write_file_atomic(nodes->folder.path("pass"), "vaultpass\n").ok());
  ASSERT_EQ(std::system(("LC_ALL=C.UTF-8 ansible-vault encrypt --vault-password-file " +
                         nodes->folder.path("pass") + " " + nodes->folder.path("plain") + " >/dev/null 2>&1")
                            .c_str()),
            0);
  auto step = recipe("secret", *read_file(nodes->folder.path("plain")));
  auto closed = run(step);
  ASSERT_FALSE(closed.ok());
  EXPECT_TRUE(contains(closed.status().message(), "no vault.password"));
  nodes->secrets["wn.vault.password"] = "vaultpass";
  nodes->secrets["input.x"] = "s3cretvalue";
  nodes->nodes["wn[0]"].secrets["vault.password"] = ir::secret("wn.vault.password");
  auto outcome = run(step);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(home("opened")), "s3cretvalue");
  EXPECT_EQ(read_file(context.log_path)->find("s3cretvalue"), std::string::npos);
}

TEST_F(AnsibleTest, TheVaultPasswordIsInNoArgument) {
  nodes->secrets["wn.vault.password"] = "vaultpass-7e1d";
  nodes->nodes["wn[0]"].secrets["vault.password"] = ir::secret("wn.vault.password");
  auto step = recipe(
      "look",
      "- tasks:\n  - shell: \"cat /proc/[0-9]*/cmdline | tr '\\\\0' ' '\"\n    delegate_to: localhost\n"
      "    become: no\n    register: all\n  - copy: { dest: ~/seen, content: \"{{ all.stdout }}\" }\n");
  auto outcome = run(step);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  auto seen = read_file(home("seen"));
  ASSERT_TRUE(seen.ok());
  EXPECT_TRUE(contains(*seen, "--vault-password-file"));
  EXPECT_EQ(seen->find("vaultpass-7e1d"), std::string::npos);
}

struct IsolatedAnsibleTest : AnsibleTest {
  void SetUp() override {
    test::skip_without_isolation();
    if (IsSkipped()) return;
    isolation = local::Isolation::Required;
    AnsibleTest::SetUp();
  }
};

TEST_F(IsolatedAnsibleTest, AnOrdinaryLoginBecomesRootBySudo) {
  handles[1].attributes = test::second_login(nodes->make("wn[0]"), {.sudo = true});
  handles[1].connect = [remote = std::make_shared<std::unique_ptr<Remote>>(ssh::make_remote(*test::target_of(
                            handles[1].attributes)))]() -> Result<Remote*> { return remote->get(); };
  context.all_nodes = [this] { return handles; };
  auto step = recipe("root",
                     "- tasks:\n  - copy: { dest: /etc/by-ansible, content: \"{{ ansible_user }}\" }\n"
                     "  - command: id -un\n    register: who\n  - assert: { that: who.stdout == 'root' }\n");
  auto outcome = run(step);
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  auto seen = (*handles[1].connect())->exec("stat -c %U /etc/by-ansible; cat /etc/by-ansible");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->out, "root\nbob");
}

TEST_F(AnsibleTest, AWrongHostKeyIsNotAccepted) {
  for (auto& handle : handles)
    handle.attributes["host_key"] =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZvb29vb29vb29vb29vb29vb29vb29vb29vb29vb29v";
  auto outcome = run(recipe("ping", "- tasks:\n  - ping:\n"));
  ASSERT_FALSE(outcome.ok());
  // Ansible reports ssh's message, unless it first notices that ssh no longer reads.
  std::string said = outcome.status().message();
  bool told = contains(said, "HOST IDENTIFICATION HAS CHANGED") || contains(said, "Broken pipe");
  EXPECT_TRUE(told) << said;
  EXPECT_TRUE(contains(said, "cannot reach the node"));
}

TEST(Playbook, KeepsEveryByteBesidesTheHeader) {
  auto made = recipes::make_playbook(
      "---\n# first\n- tasks:   # here\n  - debug: { msg: \"{{ a }}\" }\n    vars: { x: !unsafe '{{ y }}' "
      "}\n- {tasks: []}\n",
      {"1.2.3.4_0", true});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(*made,
            "---\n# first\n- hosts: \"1.2.3.4_0\"\n  become: true\n  gather_facts: false\n  tasks:   # "
            "here\n  - debug: { msg: \"{{ a }}\" }\n"
            "    vars: { x: !unsafe '{{ y }}' }\n- {hosts: \"1.2.3.4_0\", become: true, gather_facts: false, "
            "tasks: []}\n");
  made = recipes::make_playbook(
      "- hosts: all # everybody\n  become: no\n  gather_facts: yes\n  roles: [a]\n- name: two\n  hosts: [a, "
      "b]\n",
      {"h", true});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(*made,
            "- hosts: \"h\" # everybody\n  become: no\n  gather_facts: yes\n  roles: [a]\n- become: true\n  "
            "gather_facts: false\n  name: two\n  hosts: \"h\"\n");
  // Places are bytes, not characters, and a bracket in quotes closes nothing.
  made = recipes::make_playbook(
      "- name: h\xC3\xA9llo \xE2\x9C\x93\n  hosts: ['a]', b] # all\n  become: no\n  gather_facts: no\n",
      {"h", true});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(*made,
            "- name: h\xC3\xA9llo \xE2\x9C\x93\n  hosts: \"h\" # all\n  become: no\n  gather_facts: no\n");
  EXPECT_TRUE(contains(recipes::make_playbook("tasks: []", {"h", true}).status().message(), "list of plays"));
  // A play without hosts would run nowhere, and the colon joined to a value is not YAML.
  for (const char* hosts : {"- hosts:\n  tasks: []\n", "- hosts: ~\n  tasks: []\n"})
    EXPECT_TRUE(contains(recipes::make_playbook(hosts, {"h", true}).status().message(), "`hosts`")) << hosts;
  EXPECT_TRUE(contains(recipes::make_playbook("- a: [\n", {"h", true}).status().message(), "line"));
}

// Gathering takes a second a host: only where a recipe reads what a host alone knows.
TEST(Playbook, KnowsWhoseFactsARecipeReads) {
  EXPECT_FALSE(
      recipes::uses_facts("- tasks: [{copy: {content: \"{{ hostvars[host]['IM_NODE_PRIVATE_IP'] }}\"}}]"));
  EXPECT_FALSE(
      recipes::uses_facts("{{ hostvars[groups['front'][0]]['IM_NODE_HOSTNAME'] }} {{ IM_MASTER_FQDN }}"));
  EXPECT_FALSE(recipes::uses_facts("{{hostvars[ item ].IM_NODE_FQDN}} {{ hostvars[item].ansible_host }}"));
  EXPECT_TRUE(recipes::uses_facts("{{ hostvars[item].ansible_hostname }}"));
  EXPECT_TRUE(recipes::uses_facts("{{ hostvars[item]['ansible_default_ipv4']['address'] }}"));
  EXPECT_TRUE(recipes::uses_facts("{{ hostvars[a].IM_X }} {{ hostvars[item].registered.stdout }}"));
  EXPECT_TRUE(recipes::uses_facts("{{ hostvars | dict2items }}"));
  EXPECT_TRUE(recipes::uses_facts("{{ hostvars[" + std::string(100000, '[')));
  EXPECT_TRUE(recipes::uses_facts("when: ansible_os_family == 'Debian'"));
  EXPECT_TRUE(recipes::uses_facts("{{ ansible_user_" + std::string(2'000'000, 'x')));
  EXPECT_FALSE(recipes::uses_facts("- tasks: [{ping: }]"));
}

TEST(Galaxy, ReadsTheFormsOfApplications) {
  auto one = recipes::parse_requirement("ansible.roles.grycap.slurm,1.2");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->source + "|" + one->version, "grycap.slurm|1.2");
  one = recipes::parse_requirement("ansible.roles.git+https://host/r.git|name");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->source + "|" + one->name + "|" + one->scm, "https://host/r.git|name|git");
  EXPECT_TRUE(recipes::parse_requirement("ansible.collections.community.general")->collection);
  EXPECT_FALSE(recipes::parse_requirement("htop"));
}

}  // namespace
}  // namespace radl
