// Logins that are not a silent sh: other shells, start-up files that print, accounts that run nothing,
// another language, a full disk. All against real OpenSSH servers, over both transports.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/process/process.h"
#include "common/shell_quote.h"
#include "runtime/net/lease.h"
#include "runtime/net/ssh/login.h"
#include "runtime/net/ssh/openssh.h"
#include "runtime/net/sudo.h"
#include "tests/support/second_login.h"
#include "tests/support/second_server.h"
#include "tests/support/test_target.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

// Every shell's own start-up file for commands.
constexpr const char* kNoise = R"sh(
mkdir -p .config/fish
for f in .bashrc .zshenv .config/fish/config.fish .cshrc .tcshrc; do
  printf '%s\n' 'echo noise; printf "no line end"' "sh -c 'echo noise >&2'" > $f
done
chown -R $(stat -c %U .): .config .bashrc .zshenv .cshrc .tcshrc
)sh";

// A user of its own needs a machine of its own.
struct OtherLogin {
  explicit OtherLogin(const test::SecondLogin& login)
      : made(nodes.make("worker[0]")),
        target(*test::target_of(test::second_login(made, login))),
        root(ssh::make_remote(*test::target_of(made.attributes))),
        libssh2(ssh::make_remote(target)),
        openssh(ssh::make_openssh_remote(target)) {}

  std::vector<Remote*> both() { return {libssh2.get(), openssh.get()}; }

  TestNodes nodes{local::Isolation::Required};
  Seen made;
  ssh::Target target;
  std::unique_ptr<Remote> root, libssh2, openssh;
};

struct LoginTest : testing::Test {
  void SetUp() override { test::skip_without_isolation(); }
};

struct ShellTest : testing::TestWithParam<const char*> {
  void SetUp() override {
    test::skip_without_isolation();
    if (IsSkipped()) return;
    shell = find_program(environment_of_process(), GetParam());
    if (shell.empty()) GTEST_SKIP() << GetParam() << " is not installed";
    login = std::make_unique<OtherLogin>(test::SecondLogin{.shell = shell, .more = kNoise});
  }
  std::string shell;
  std::unique_ptr<OtherLogin> login;
};

constexpr const char* kOddScript =
    "printf '%s|' 'a!b' \"c\\\\d\" 'e\\\\f' \"g'h\" '$HOME'\nprintf '\\n!%s' \"x y\" # ! '\n";
constexpr const char* kOddOutput = "a!b|c\\d|e\\\\f|g'h|$HOME|\n!x y";

TEST_P(ShellTest, RunsCommandsAsSh) {
  ExecOptions shown;
  shown.login_locale = true;
  EXPECT_TRUE(contains(login->root->exec("getent passwd bob", shown)->out, ":" + shell + "\n"));
  for (Remote* remote : login->both()) {
    ExecOptions options;
    options.stdin_bytes = "in\n";
    auto result = remote->exec("cat; echo out; echo err >&2; exit 7", options);
    ASSERT_TRUE(result.ok()) << result.status().text();
    EXPECT_EQ(result->exit_status, 7);
    EXPECT_EQ(result->out, "in\nout\n");
    EXPECT_EQ(result->err, "err\n");
    EXPECT_EQ(remote->exec(kOddScript)->out, kOddOutput);
    EXPECT_EQ(remote->exec("kill -KILL $$")->exit_status, 137);
    options.stdin_bytes = "echo script; exit 5";
    EXPECT_EQ(remote->exec("exec /bin/sh -s", options)->exit_status, 5);
    ExecOptions soon;
    soon.deadline = std::chrono::milliseconds(500);
    EXPECT_EQ(remote->exec("sleep 6048", soon).status().code(), Code::Timeout);
    EXPECT_EQ(login->root->exec("pgrep -f 'sleep 604[8]'")->out, "");
  }
}

TEST_P(ShellTest, TakesAndGivesFiles) {
  const std::string large(1 << 20, 'x'), local = login->nodes.folder.path("local");
  for (Remote* remote : login->both()) {
    auto sent = remote->put_bytes("small", "s", 0640);
    ASSERT_TRUE(sent.ok()) << sent.status().text();
    EXPECT_TRUE(*sent);
    EXPECT_FALSE(*remote->put_bytes("small", "s", 0640));
    EXPECT_EQ(remote->stat("s")->mode, 0640u);
    ASSERT_TRUE(remote->put_bytes(large, "l", 0600).ok());
    ASSERT_TRUE(remote->get_file("l", local).ok());
    EXPECT_EQ(*sha256_file(local), sha256_hex(large));
    ASSERT_TRUE(remote->put_file(local, "empty folder", 0600).ok());
    EXPECT_EQ(remote->stat("empty folder")->size, large.size());
    EXPECT_EQ(remote->stat("nothing").status().code(), Code::NotFound);
    ASSERT_TRUE(remote->exec("rm s l 'empty folder'").ok());
  }
}

TEST_P(ShellTest, RunsWhatAnsiblesSshAndLeasesAsk) {
  const Lease lease{"infra", "run", "step", "now"};
  const std::string wrapper = login->nodes.folder.path("ssh"), key = login->nodes.folder.path("key");
  ASSERT_TRUE(write_file_atomic(wrapper, ssh_under_lease(lease), 0700).ok());
  for (Remote* remote : login->both()) {
    ASSERT_TRUE(take_lease(*remote, lease, {}, [](const auto&) {}).ok());
    EXPECT_EQ(remote->exec(under_lease(lease, "echo in a lease"))->out, "in a lease\n");
  }
  auto ran = run_process(environment_of_process(),
                         {.argv = {wrapper, "-F", "none", "-i", login->target.key_file, "-p", "2222", "-o",
                                   "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                                   "bob@" + login->target.host, kOddScript},
                          .deadline = std::chrono::seconds(20)});
  ASSERT_TRUE(ran.ok()) << ran.status().text();
  EXPECT_EQ(ran->exit_status, 0) << ran->err;
  EXPECT_TRUE(ran->out.ends_with(kOddOutput)) << ran->out;
}

INSTANTIATE_TEST_SUITE_P(Shells, ShellTest, testing::Values("bash", "zsh", "fish", "tcsh", "bsd-csh"),
                         [](const auto& info) {
                           return std::string(info.param) == "bsd-csh" ? "csh" : info.param;
                         });

TEST_F(LoginTest, AnAccountThatRunsNothingIsNamedWithWhatItPrints) {
  OtherLogin none({.shell = find_program(environment_of_process(), "nologin")});
  for (Remote* remote : none.both()) {
    Status status = ssh::Logins().attempt(*remote, none.target, true);
    EXPECT_EQ(status.code(), Code::Invalid) << "no later attempt would succeed";
    EXPECT_TRUE(contains(status.message(), "This account is currently not available"));
  }
  OtherLogin forced(
      {.more = "sed -i 's/^/command=\"echo Please log in as admin.; exit 142\" /' .ssh/authorized_keys"});
  for (Remote* remote : forced.both()) {
    Status status = ssh::Logins().attempt(*remote, forced.target, true);
    EXPECT_EQ(status.code(), Code::Invalid);
    EXPECT_TRUE(contains(status.message(), "Please log in as admin."));
  }
}

TEST_F(LoginTest, AFullDiskIsNamedAndNothingIsLeftOnIt) {
  OtherLogin login({.more = "mkdir small; mount -t tmpfs -o size=400k,mode=777 tmpfs small"});
  const std::string local = login.nodes.folder.path("large");
  ASSERT_TRUE(write_file_atomic(local, std::string(1 << 20, 'x')).ok());
  for (Remote* remote : login.both()) {
    for (int pieces : {1, 2, 3}) {
      Status full = pieces == 1   ? remote->put_bytes(std::string(1 << 20, 'y'), "small/file", 0600).status()
                    : pieces == 2 ? remote->put_file(local, "small/file", 0600).status()
                                  : Status();
      if (pieces == 3) {  // what travels with its command
        ASSERT_TRUE(remote->exec("head -c 300000 /dev/zero > small/other").ok());
        full = remote->put_bytes(std::string(200000, 'z'), "small/file", 0600).status();
        ASSERT_TRUE(remote->exec("rm small/other").ok());
      }
      EXPECT_EQ(full.code(), Code::Quota) << full.text();
      EXPECT_TRUE(contains(full.message(), "No space left on device"));
      EXPECT_EQ(remote->exec("ls -A small")->out, "");
    }
  }
}

TEST_F(LoginTest, WhatSudoWantsIsTold) {
  struct Case {
    const char *rules, *state;
  };
  OtherLogin login({.sudo = true});
  for (const Case& one :
       {Case{"bob ALL=(ALL) NOPASSWD: ALL", "passwordless"},
        Case{"Defaults requiretty\nbob ALL=(ALL) NOPASSWD: ALL", "tty"},
        Case{"Defaults:bob !requiretty\nDefaults:root requiretty\nbob ALL=(ALL) NOPASSWD: ALL",
             "passwordless"},
        Case{"bob ALL=(ALL) ALL", "password"}}) {
    ASSERT_EQ(
        login.root->exec("printf '%s\n' " + shell_quote(one.rules) + " > /etc/sudoers.d/bob")->exit_status,
        0);
    for (Remote* remote : login.both())
      EXPECT_EQ(remote->exec(std::string(kSudoState) + "sudo_state")->out, std::string(one.state) + "\n");
  }
  EXPECT_TRUE(contains(sudo_refusal("tty", "bob"), "requiretty"));
  EXPECT_EQ(sudo_refusal("passwordless", "bob"), "");
}

// What each key of an ssh_config file came to, over the system's client.
TEST(Keys, ThoseThatWereTriedAreNamed) {
  TestNodes nodes;
  Seen made = nodes.make("worker[0]");
  ssh::Target target = *test::target_of(made.attributes);
  const std::string admitted = nodes.context.work_directory + "/nodes/" + made.id + "/etc/authorized_keys";
  std::string config = "Host *\n  IdentityAgent none\n";
  for (const char* name : {"missing", "strange", "closed", "open"}) {
    const std::string file = nodes.folder.path(name);
    config += "  IdentityFile " + file + "\n";
    if (name == std::string("missing")) continue;
    const std::string passphrase = name == std::string("strange") ? "" : "a passphrase";
    ASSERT_EQ(run_process(environment_of_process(),
                          {.argv = {"ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", file}})
                  ->exit_status,
              0);
  }
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("config"), config, 0600).ok());
  ASSERT_TRUE(write_file_atomic(admitted, *read_file(nodes.folder.path("closed.pub")), 0600).ok());
  target.key_file.clear();
  target.ssh_config = nodes.folder.path("config");
  Status refused = ssh::make_openssh_remote(target)->exec("true").status();
  EXPECT_TRUE(ssh::is_refused_login(refused)) << refused.text();
  EXPECT_TRUE(contains(refused.message(), nodes.folder.path("missing") + ": no such file"));
  EXPECT_TRUE(contains(refused.message(), nodes.folder.path("strange") + ": refused by the server"));
  EXPECT_TRUE(contains(refused.message(), nodes.folder.path("closed") + ": has a passphrase"));
  EXPECT_TRUE(contains(refused.text(), "ssh-add " + nodes.folder.path("closed")));
  // Over libssh2, with the one key that a state names.
  target.ssh_config.clear();
  for (auto [name, why] : {std::pair{"closed", "has a passphrase"},
                           {"missing", "no such file"},
                           {"strange", "refused by the server"}}) {
    target.key_file = nodes.folder.path(name);
    Status status = ssh::make_remote(target)->exec("true").status();
    EXPECT_TRUE(ssh::is_refused_login(status)) << status.text();
    EXPECT_TRUE(contains(status.message(), nodes.folder.path(name)));
    EXPECT_TRUE(contains(status.message(), why));
  }
}

// The words of a node's programs are in the language of its logins.
TEST(Locale, CommandsOfRadlcAreReadInEveryLanguage) {
  TestNodes nodes;
  Seen made = nodes.make("worker[0]");
  const std::string locales = nodes.folder.path("locales");
  std::filesystem::create_directories(locales);
  auto compiled =
      run_process(environment_of_process(),
                  {.argv = {"localedef", "-i", "de_DE", "-f", "UTF-8", locales + "/de_DE.UTF-8"}});
  if (!compiled.ok() || !std::filesystem::exists(locales + "/de_DE.UTF-8"))
    GTEST_SKIP() << "no locales to compile (package locales)";
  test::SecondServer german(
      made, {"ForceCommand export LOCPATH=" + locales +
             " LC_ALL=de_DE.UTF-8 LANGUAGE=de; cd \"$HOME\"; eval \"$SSH_ORIGINAL_COMMAND\""});
  for (auto& remote : {ssh::make_remote(german.target), ssh::make_openssh_remote(german.target)}) {
    ExecOptions own;
    own.login_locale = true;
    auto control = remote->exec("stat -c %F /; echo $LC_ALL", own);
    ASSERT_TRUE(control.ok()) << control.status().text();
    if (contains(control->out, "directory")) GTEST_SKIP() << "coreutils has no German catalogue here";
    EXPECT_TRUE(contains(control->out, "de_DE.UTF-8\n"))
        << "a command of the user's runs as the login has it";
    EXPECT_EQ(remote->exec("stat -c %F /")->out, "directory\n");
    EXPECT_EQ(remote->exec(std::string(kLoginLocale) + "stat -c %F /; echo $LC_ALL")->out, control->out);
    EXPECT_EQ(remote->put_bytes("x", "no-folder/file", 0600).status().code(), Code::NotFound);
    ASSERT_TRUE(remote->put_bytes("", "empty", 0600).ok());
    EXPECT_EQ(remote->stat("empty")->kind, "file");
    EXPECT_EQ(remote->stat("/")->kind, "directory");
    EXPECT_TRUE(remote->get_file("empty", nodes.folder.path("back")).ok());
  }
}

}  // namespace
}  // namespace radl
