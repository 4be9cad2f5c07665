// Every program of every script fails once, before or after its work. For each resource, the step fails or
// the node is up to date, the next plan shows what remains, the next run completes it, and nothing except the
// target is changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/faulty_remote.h"
#include "tests/support/native_steps.h"

namespace radl {
namespace {

using test::FaultyRemote;
using test::When;

struct Case {
  ir::Resource resource;
  std::string before;   // shell text that brings the node to where the step begins
  std::string state;    // shell text that prints all that the resource is about
  std::string wanted;   // what that prints once the step is done
  std::string targets;  // what find calls the paths that the step may touch
};

// One case on one machine.
class Injection {
 public:
  Injection(Remote& remote, const Context& context, Case one) : faulty_(remote), case_(std::move(one)) {
    step_.id = "worker[0]/tools";
    step_.recipe = "tools";
    step_.digest = "1";
    step_.resources = {case_.resource};
    node_.address = "worker[0]";
    node_.attributes = Json::object();
    node_.connect = [this]() -> Result<Remote*> { return &faulty_; };
    context_.context = &context;
  }
  FaultyRemote& faulty() { return faulty_; }
  void beside(std::vector<NodeHandle> others) {
    context_.all_nodes = [this, others] {
      std::vector<NodeHandle> all = others;
      all.push_back(node_);
      return all;
    };
  }
  NodeHandle& node() { return node_; }

  void all() {
    for (When when : {When::Before, When::After}) {
      int k = 1;
      while (run_with(k, when) && !testing::Test::HasFailure()) ++k;
      EXPECT_GT(k, 1) << "no fault was met";
    }
    for (int k = 1; look_with(k) && !testing::Test::HasFailure();) ++k;
  }

 private:
  // False when there is no k-th program.
  bool run_with(int k, When when) {
    // Each of these is a process or more on the node: as few as will do.
    const std::string beside = faulty_.arm(k, when, quietly(case_.before) + others());
    auto outcome = runner_->run(context_, step_, {node_});
    auto calls = faulty_.disarm();
    bool met = calls.size() >= static_cast<size_t>(k);
    std::string what = case_.resource.type + ": fault " + std::to_string(k) + " of " +
                       std::to_string(calls.size()) + (met ? ", " + calls[static_cast<size_t>(k) - 1] : "") +
                       (when == When::Before ? "" : " after its work") +
                       (outcome ? ": ok" : ": " + outcome.status().text());
    SCOPED_TRACE(what);
    std::string state = faulty_.shell(case_.state);
    if (outcome) {
      EXPECT_EQ(state, case_.wanted) << "counts as done";
      EXPECT_NE(outcome->changes.empty(), case_.resource.type != "wait_for") << "waiting is no change";
    } else {
      EXPECT_TRUE(met);
    }
    auto left = runner_->observe(context_, step_, {node_});
    EXPECT_TRUE(left.ok()) << left.status().text();
    if (left && state != case_.wanted) {
      EXPECT_FALSE(left->empty()) << "the next plan must show it; now: " << state;
    }
    bool cleaning = met && calls[static_cast<size_t>(k) - 1] == "rm";
    if (!cleaning) {
      EXPECT_EQ(faulty_.shell(others()), beside) << "something else was touched";
    }
    auto again = runner_->run(context_, step_, {node_});
    EXPECT_TRUE(again.ok()) << again.status().text();
    EXPECT_EQ(faulty_.shell(case_.state), case_.wanted);
    return met;
  }

  bool look_with(int k) {
    faulty_.shell(case_.before);
    auto expected = runner_->observe(context_, step_, {node_});
    faulty_.arm(k, When::Before, quietly(case_.before));  // what a user's own check has left
    auto seen = runner_->observe(context_, step_, {node_});
    auto calls = faulty_.disarm();
    bool met = calls.size() >= static_cast<size_t>(k);
    SCOPED_TRACE(case_.resource.type + ": looking, fault " + std::to_string(k) +
                 (met ? ", " + calls[static_cast<size_t>(k) - 1] : ""));
    EXPECT_TRUE(expected.ok()) << expected.status().text();
    if (seen && expected) {
      EXPECT_EQ(text(*seen), text(*expected)) << "a failed look is no answer";
    }
    return met;
  }

  static std::string text(const std::vector<Change>& changes) {
    std::string all;
    for (const auto& one : changes) all += one.what + one.before.dump() + one.after.dump() + one.diff + "\n";
    return all;
  }

  static std::string quietly(const std::string& command) { return "(" + command + "\n) >/dev/null\n"; }

  // Prints everything that may not change, with content and access.
  std::string others() const {
    return "find ~/* /etc/fstab* /srv/* /home/* /.ssh \\( -path ~/.faults -o " + case_.targets +
           " \\) -prune -o -printf '%p %m %u %y %l\\n' -type f -exec sha256sum {} + 2>/dev/null; ls "
           "~/.radl/stage 2>/dev/null";
  }

  FaultyRemote faulty_;
  Case case_;
  ir::Step step_;
  NodeHandle node_;
  StepContext context_;
  std::unique_ptr<StepRunner> runner_ = make_native_runner();
};

struct NativeInjectionTest : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(home);
    std::filesystem::create_directories(folder.path("tree/sub"));
    ASSERT_TRUE(write_file_atomic(folder.path("tree/one"), "1").ok());
    ASSERT_TRUE(write_file_atomic(folder.path("tree/sub/two words"), "2", 0755).ok());
    ASSERT_TRUE(write_file_atomic(folder.path("tree/sub/odd\nname\\"), "3").ok());
    std::filesystem::create_symlink("one", folder.path("tree/link"));
    ASSERT_TRUE(write_file_atomic(folder.path("large"), std::string(700000, 'x')).ok());
    context.secrets = &secrets;
  }
  void check(Case one) {
    test::ProcessRemote machine(home);
    Injection(machine, context, std::move(one)).all();
  }
  test::TemporaryFolder folder;
  std::string home = folder.path("home");
  ir::Secrets secrets;
  Context context{.environment = environment_of_process()};
};

TEST_F(NativeInjectionTest, File) {
  check({{"file", "~/deep/motd", ir::Json{{"content", "new\n"}, {"mode", "0640"}}, {}},
         "rm -rf ~/deep; echo kept > ~/kept",
         "cat ~/deep/motd; stat -c %a ~/deep/motd",
         "new\n640\n",
         "-path ~/deep"});
  check({{"file",
          "~/motd",
          ir::Json{{"content", "new\n"}, {"mode", "0640"}, {"owner", std::to_string(getuid())}},
          {}},
         "rm -rf ~/motd; echo old > ~/motd",
         "cat ~/motd; stat -c %a ~/motd",
         "new\n640\n",
         "-path ~/motd"});
}

TEST_F(NativeInjectionTest, LargeFile) {
  check({{"file", "~/large", ir::Json{{"source", folder.path("large")}}, {}},
         "echo old > ~/large",
         "wc -c < ~/large",
         "700000\n",
         "-path ~/large"});
}

TEST_F(NativeInjectionTest, Directory) {
  check({{"directory", "~/a/b", ir::Json{{"mode", "0750"}}, {}},
         "rm -rf ~/a",
         "stat -c %a ~/a/b",
         "750\n",
         "-path ~/a"});
  check({{"directory", "~/a", ir::Json{{"state", "absent"}}, {}},
         "mkdir -p ~/a/b; touch ~/a/b/c",
         "ls -d ~/a 2>/dev/null",
         "",
         "-path ~/a"});
}

TEST_F(NativeInjectionTest, UploadOfAFile) {
  check({{"upload", "~/to/large", ir::Json{{"source", folder.path("large")}, {"mode", "0600"}}, {}},
         "rm -rf ~/to",
         "wc -c < ~/to/large; stat -c %a ~/to/large",
         "700000\n600\n",
         "-path ~/to"});
}

TEST_F(NativeInjectionTest, UploadOfAFolder) {
  std::string state =
      "cd ~/tree && cat one sub/* link && echo && readlink link && stat -c %a one sub/odd* sub/two*";
  std::string wanted = "1321\none\n644\n644\n755\n",
              targets = "-path ~/tree/one -o -path ~/tree/sub -o -path ~/tree/link";
  ir::Resource upload{"upload", "~/tree", ir::Json{{"source", folder.path("tree")}}, {}};
  check({upload, "rm -rf ~/tree", state, wanted, "-path ~/tree"});
  check(
      {upload,
       "rm -rf ~/tree; mkdir -p ~/tree/sub; echo other > ~/tree/one; printf 2 > ~/tree/sub/'two words'; echo "
       "mine > ~/tree/mine; ln -s nowhere ~/tree/link",
       state, wanted, targets});
}

TEST_F(NativeInjectionTest, Download) {
  check(
      {{"download",
        "~/got",
        ir::Json{{"url", "file://" + folder.path("large")}, {"sha256", sha256_hex(std::string(700000, 'x'))}},
        {}},
       "rm -f ~/got*; echo old > ~/got",
       "wc -c < ~/got",
       "700000\n",
       "-path ~/got -o -path ~/'got.radl-*.part'"});
}

TEST_F(NativeInjectionTest, Command) {
  check({{"command", "mkdir made", ir::Json{{"creates", "made"}, {"directory", "~/in"}}, {}},
         "rm -rf ~/in; mkdir ~/in",
         "ls ~/in",
         "made\n",
         "-path ~/in"});
}

TEST_F(NativeInjectionTest, Elastic) {
  check({{"elastic", "workers", ir::Json{{"system", "worker"}, {"directory", "~/asked"}}, {}},
         "rm -rf ~/asked; mkdir -p ~/asked/workers; echo old > ~/asked/workers/request",
         "[ -x ~/asked/workers/request ] && tail -n 1 ~/asked/workers/request; stat -c %a ~/asked/workers",
         "done\n755\n",
         "-path ~/asked/workers -o -path ~/asked/workers/request"});
}

TEST_F(NativeInjectionTest, WaitFor) {
  check({{"wait_for",
          "the file",
          ir::Json{{"command", "[ -e ready ] || { touch ready; false; }"}, {"every", 0.1}},
          {}},
         "rm -f ~/ready",
         "ls ~/ready >/dev/null 2>&1 && echo ready",
         "ready\n",
         "-path ~/ready"});
}

// The engine that would fetch the data is one of our own.
TEST_F(NativeInjectionTest, Dataset) {
  std::string engine = folder.path("engine");
  ASSERT_TRUE(
      write_file_atomic(engine,
                        "#!/bin/sh\nmkdir -p \"$6/sub\" && echo one > \"$6/one\" && echo two > "
                        "\"$6/sub/two\" && ln -sf one \"$6/linked\" && cd \"$6\" && sha256sum ./linked "
                        "./one ./sub/two > \"$6.list\" && d=$(sha256sum < \"$6.list\") && printf "
                        "'{\"directory\":\"%s\",\"list\":\"%s.list\",\"digest\":\"%s\"}' \"$6\" \"$6\" "
                        "\"${d%% *}\"\n",
                        0755)
          .ok());
  context.environment =
      context.environment.with("RADL_TRAIN", engine).with("XDG_CACHE_HOME", folder.path("cache"));
  check({{"dataset", "cifar10", ir::Json{{"directory", "~/data"}}, {}},
         "chmod -R u+w ~/data ~/.radl 2>/dev/null; rm -rf ~/data; mkdir -p ~/data; echo other > ~/data/one",
         "cd ~/data && cat one sub/two linked",
         "one\ntwo\none\n",
         "-path ~/data/one -o -path ~/data/sub -o -path ~/data/linked"});
  unsetenv("RADL_TRAIN");
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(NativeInjectionTest, Package) {
  test::ProcessRemote machine(home);
  Injection one(machine, context,
                {{"package", "thing", ir::Json{{"state", "latest"}}, {}},
                 "echo 1 > ~/version; rm -f ~/lists",
                 "cat ~/version",
                 "2\n",
                 "-path ~/version -o -path ~/lists"});
  one.faulty().fake("dpkg-query", "read -r v < ~/version; echo \"ii  $v\"");
  one.faulty().fake("apt-cache", "printf 'thing:\\n  Installed: 1\\n  Candidate: 2\\n'");
  one.faulty().fake(
      "apt-get",
      "case \"$*\" in *update*) touch ~/lists;; *install*) [ -e ~/lists ] || exit 100; echo 2 > "
      "~/version;; esac");
  one.all();
}

// What needs a machine of its own.
struct IsolatedInjectionTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation(false);
    if (IsSkipped()) return;
    fixture = std::make_unique<test::StepsFixture>(local::Isolation::Required);
  }
  Remote& remote() { return **fixture->handle.connect(); }
  void check(Case one) { Injection(remote(), fixture->nodes.context, std::move(one)).all(); }
  std::unique_ptr<test::StepsFixture> fixture;
};

TEST_F(IsolatedInjectionTest, NewUser) {
  check(
      {{"user",
        "radltest",
        ir::Json{{"shell", "/bin/sh"}, {"groups", {"games"}}, {"authorized_keys", {"ssh-ed25519 AAAA test"}}},
        {}},
       "userdel -r radltest 2>/dev/null",
       "id -nG radltest; cat ~radltest/.ssh/authorized_keys; stat -c '%U %a' ~radltest/.ssh "
       "~radltest/.ssh/authorized_keys",
       "radltest games\nssh-ed25519 AAAA test\nradltest 700\nradltest 600\n",
       "-path /home/radltest"});
}

TEST_F(IsolatedInjectionTest, KeysOfAUser) {
  check({{"user", "radltest", ir::Json{{"home", "/home/other"}, {"authorized_keys", {"two", "three"}}}, {}},
         "userdel radltest 2>/dev/null; rm -rf /home/other; mkdir -p /home/other/.ssh; printf one > "
         "/home/other/.ssh/authorized_keys; useradd -d /home/other -s /bin/sh radltest",
         "cat ~radltest/.ssh/authorized_keys",
         "one\ntwo\nthree\n",
         "-path /home/other/.ssh"});
}

TEST_F(IsolatedInjectionTest, Mount) {
  check({{"mount",
          "/srv/my data",
          ir::Json{{"device", "a b"}, {"fstype", "tmpfs"}, {"options", {"size=64k"}}},
          {}},
         "umount '/srv/my data' 2>/dev/null; rm -rf '/srv/my data'; printf '# mine\\nnone /other tmpfs "
         "defaults 0 0\\n' > /etc/fstab; chmod 0640 /etc/fstab",
         "stat -c %a /etc/fstab; cat /etc/fstab; grep -c my /proc/mounts",
         "640\n# mine\nnone /other tmpfs defaults 0 0\na\\040b /srv/my\\040data tmpfs size=64k 0 0\n1\n",
         "-path /etc/fstab -o -path '/srv/my data'"});
}

TEST_F(IsolatedInjectionTest, ServiceOfInit) {
  check(
      {{"service", "thing", ir::Json{{"enabled", true}}, {}},
       "rm -f ~/active ~/enabled /etc/rc?.d/???thing; printf '#!/bin/sh\n### BEGIN INIT INFO\n# Provides: "
       "thing\n# Required-Start:\n# Required-Stop:\n# Default-Start: 2 3 4 5\n# Default-Stop: 0 1 6\n### END "
       "INIT INFO\ncase $1 in start) echo > ~/active;; status) test -e ~/active;; esac\n' > "
       "/etc/init.d/thing; "
       "chmod +x /etc/init.d/thing",
       "cd ~; ls active; ls /etc/rc2.d | grep thing",
       "active\nS01thing\n",
       "-path ~/active"});
}

TEST_F(IsolatedInjectionTest, ServiceOfSystemd) {
  Injection one(remote(), fixture->nodes.context,
                {{"service", "thing", ir::Json{{"enabled", true}}, {}},
                 "mkdir -p /run/systemd/system; rm -f ~/active ~/enabled",
                 "cd ~; ls active enabled",
                 "active\nenabled\n",
                 "-path ~/active -o -path ~/enabled"});
  one.faulty().fake("systemctl",
                    "case $1 in show) echo LoadState=loaded; a=inactive; [ -e ~/active ] && a=active; echo "
                    "ActiveState=$a; e=disabled; [ -e ~/enabled ] && e=enabled; echo UnitFileState=$e;; "
                    "start) touch ~/active;; enable) touch ~/enabled;; esac; exit 0");
  one.all();
}

// WireGuard itself needs a kernel that has it (tests/conformance/wireguard): here stand-ins keep what they
// are given.
constexpr const char* kWg =
    "c=~/wg; case \"$1 $2\" in genkey*) echo private;; pubkey*) read -r k; echo \"public of $k\";; 'show "
    "interfaces') "
    "if [ -e $c ]; then echo wg-lan; else echo; fi;; syncconf*) cp $3 $c;; *) case $3 in public-key) k=$(sed "
    "-n "
    "'s/^PrivateKey = //p' $c); echo \"public of $k\";; *) sed -n 's/^PublicKey = //p' $c | sed "
    "'s/$/\t10.213.0.2\\/32/';; "
    "esac;; esac; exit 0";
constexpr const char* kWgQuick =
    "f=/etc/wireguard/wg-lan.conf; case $1 in up) cp $f ~/wg; sed -n 's/^Address = //p' $f > ~/wg-address;; "
    "down) rm ~/wg "
    "~/wg-address;; strip) cat $f;; esac; exit 0";
constexpr const char* kIp =
    "read -r a < ~/wg-address; echo \"5: wg-lan inet $a scope global wg-lan\"; exit 0";

TEST_F(IsolatedInjectionTest, KeyOfWireguard) {
  Injection one(remote(), fixture->nodes.context,
                {{"wireguard_key", "wg-lan", Json::object(), {}},
                 "rm -rf /etc/wireguard/* ~/.radl/wireguard",
                 "cat /etc/wireguard/wg-lan.key; stat -c %a /etc/wireguard/*; ls ~/.radl/wireguard",
                 "private\n600\nwg-lan.key\n",
                 "-path ~/.radl/wireguard"});
  one.faulty().fake("wg", kWg);
  one.all();
}

TEST_F(IsolatedInjectionTest, NetworkThatWireguardJoins) {
  const Json far = "10.213.0.2";
  Injection one(
      remote(), fixture->nodes.context,
      {{"wireguard",
        "wg-lan",
        ir::Json{{"network", "lan"},
                 {"address", "10.213.0.1/16"},
                 {"port", 51820},
                 {"keys", {{"worker[0]", "public of private"}, {"far[0]", "F="}}},
                 {"addresses", {{"worker[0]", "10.213.0.1"}, {"far[0]", far}}},
                 {"endpoints", {{"worker[0]", "10.0.0.2"}, {"far[0]", "198.51.100.9"}}},
                 {"names", {{"worker[0]", "worker.lan"}, {"far[0]", "far.lan"}}}},
        {}},
       "mkdir -p /etc/wireguard; rm -rf /etc/wireguard/* ~/.radl/wireguard ~/wg ~/wg-address; echo private > "
       "/etc/wireguard/wg-lan.key; printf '127.0.0.1 localhost\n' > /etc/hosts",
       "cat /etc/hosts /etc/wireguard/wg-lan.conf; stat -c %a /etc/wireguard/wg-lan.conf; ls "
       "~/.radl/wireguard; cat "
       "~/wg-address; cmp /etc/wireguard/wg-lan.conf ~/wg",
       "127.0.0.1 localhost\n# BEGIN radlc wg-lan\n10.213.0.2 far.lan\n10.213.0.1 worker.lan\n# END radlc "
       "wg-lan\n"
       "# Made by radlc for the network 'lan': changes are lost\n[Interface]\nAddress = "
       "10.213.0.1/16\nListenPort = "
       "51820\nPrivateKey = private\n\n# far[0]\n[Peer]\nPublicKey = F=\nAllowedIPs = "
       "10.213.0.2/32\nEndpoint = "
       "198.51.100.9:51820\nPersistentKeepalive = 25\n600\nwg-lan.conf\n10.213.0.1/16\n",
       "-path ~/.radl/wireguard -o -path '*/wg' -o -path '*/wg-address'"});
  NodeHandle other;
  other.address = "far[0]";
  other.cloud = "gce/europe-west1";
  other.attributes = {{"public_ip", "198.51.100.9"}, {"private_ip", "10.0.0.9"}};
  one.node().attributes = {{"private_ip", "10.0.0.2"}};
  one.beside({other});
  one.faulty().fake("wg", kWg);
  one.faulty().fake("wg-quick", kWgQuick);
  one.faulty().fake("ip", kIp);
  one.all();
}

}  // namespace
}  // namespace radl
