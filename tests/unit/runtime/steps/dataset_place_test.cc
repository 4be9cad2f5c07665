// A dataset on its way to a node that is a machine of its own: here a shell with another home.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "common/digest.h"
#include "common/files.h"
#include "common/process/process.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/dataset.h"
#include "runtime/steps/dataset_spread.h"
#include "runtime/steps/native/resource.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

class HomeRemote : public Remote {
 public:
  explicit HomeRemote(std::string home) : home_(std::move(home)) {}
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    ++commands;
    auto ran = run_process(environment_of_process(),
                           {.argv = {"/bin/sh", "-c", command},
                            .stdin_bytes = options.stdin_bytes,
                            .directory = home_,
                            .environment = {{"HOME", home_}, {"PATH", home_ + "/bin:" + std::getenv("PATH")}},
                            .on_output = options.on_output,
                            .keep_bytes = 256});
    if (!ran) return ran.status();
    return ExecResult{ran->exit_status, ran->out, ran->err};
  }
  Result<bool> put_file(const std::string& local, const std::string& remote, unsigned,
                        const Stop& stop) override {
    auto bytes = read_file(local);
    if (!bytes) return bytes.status();
    ++archives;
    return put_bytes(*bytes, remote, 0600, stop);
  }
  Result<bool> put_bytes(std::string_view content, const std::string& remote, unsigned mode,
                         const Stop&) override {
    if (Status s = write_file_atomic(home_ + "/" + sftp_path(remote), content, mode); !s.ok()) return s;
    return true;
  }
  Status get_file(const std::string&, const std::string&, const Stop&) override {
    return internal_error("not asked for");
  }
  Result<RemoteFile> stat(const std::string&, const Stop&) override {
    return internal_error("not asked for");
  }
  int commands = 0, archives = 0;

 private:
  std::string home_;
};

struct DatasetPlace : testing::Test {
  std::string path = testing::TempDir() + "place-" + to_hex(random_bytes(6));
  HomeRemote remote{path + "/home"};
  NodeHandle node;
  Context context{.environment = environment_of_process()};
  LocalDataset data;

  DatasetPlace() {
    fs::create_directories(path + "/home");
    node.address = "worker[0]";
    node.attributes = Json::object();
    node.connect = [this] { return Result<Remote*>(&remote); };
    data.folder = path + "/data";
  }
  ~DatasetPlace() override { fs::remove_all(path); }

  void put(const std::string& name, const std::string& bytes) {
    fs::create_directories(fs::path(data.folder + "/" + name).parent_path());
    ASSERT_TRUE(write_file_atomic(data.folder + "/" + name, bytes).ok());
  }
  // As `radl-train data stage` lists it.
  void list(const std::set<std::string>& names) {
    data.list.clear();
    for (const auto& name : names) data.list += *sha256_file(data.folder + "/" + name) + "  ./" + name + "\n";
    data.digest = sha256_hex(data.list);
  }
  std::set<std::string> there() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path + "/home/data/x"))
      if (entry.is_regular_file())
        names.insert(entry.path().lexically_relative(path + "/home/data/x").string());
    return names;
  }
  Result<bool> place(bool alone = true) { return place_dataset(node, context, data, "data/x", alone); }
  // The output of a look at the node.
  std::string look() {
    std::string said;
    ExecOptions options;
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) said += piece;
    };
    options.stdin_bytes =
        std::string("set -e\n") + native::kLookPrelude + "I=0\n" + look_at_dataset("data/x");
    auto ran = remote.exec("/bin/sh -s", options);
    EXPECT_TRUE(ran && ran->exit_status == 0) << (ran ? ran->err : ran.status().text());
    return said;
  }
};

TEST_F(DatasetPlace, IsSentOnceAndThenOnlyWhatDiffers) {
  EXPECT_NE(look().find("kind\tabsent"), std::string::npos);
  put("a/1.png", "one");
  put("a/it's 2.png", "two");
  put("b/3.png", "three");
  list({"a/1.png", "a/it's 2.png", "b/3.png"});
  auto first = place();
  ASSERT_TRUE(first) << first.status().text();
  EXPECT_TRUE(*first);
  EXPECT_EQ(there(), (std::set<std::string>{"a/1.png", "a/it's 2.png", "b/3.png"}));
  EXPECT_EQ(remote.archives, 1);
  EXPECT_NE(look().find("list\t" + data.digest), std::string::npos) << look();
  EXPECT_NE(look().find("files\t3"), std::string::npos) << look();
  auto again = place();
  ASSERT_TRUE(again);
  EXPECT_FALSE(*again);
  EXPECT_EQ(remote.archives, 1);

  put("a/1.png", "ONE");
  list({"a/1.png", "a/it's 2.png"});  // b/3.png is no longer part of it
  EXPECT_EQ(look().find("list\t" + data.digest), std::string::npos);
  ASSERT_TRUE(place());
  EXPECT_EQ(remote.archives, 2);
  EXPECT_EQ(there(), (std::set<std::string>{"a/1.png", "a/it's 2.png"}));
  EXPECT_FALSE(fs::exists(path + "/home/data/x/b"));
  EXPECT_EQ(*read_file(path + "/home/data/x/a/1.png"), "ONE");
}

TEST_F(DatasetPlace, FilesThatNobodyBroughtStayAndAreAnErrorWhereTheyWouldBeRead) {
  put("a/1.png", "one");
  list({"a/1.png"});
  ASSERT_TRUE(place());
  ASSERT_TRUE(write_file_atomic(path + "/home/data/x/a/mine.png", "x").ok());
  auto refused = place();
  EXPECT_EQ(refused.status().code(), Code::Conflict);
  EXPECT_NE(refused.status().message().find("a/mine.png"), std::string::npos);
  EXPECT_TRUE(place(false));  // of a known dataset they are not read
  EXPECT_TRUE(there().contains("a/mine.png"));
}

TEST_F(DatasetPlace, WhatADamagedOrKilledStagingLeftIsMadeWhole) {
  put("a/1.png", "one");
  put("a/2.png", "two");
  list({"a/1.png", "a/2.png"});
  ASSERT_TRUE(place());
  ASSERT_TRUE(write_file_atomic(path + "/home/data/x/a/1.png", "damaged").ok());
  EXPECT_EQ(look().find("list\t"), std::string::npos);
  ASSERT_TRUE(*place());
  EXPECT_EQ(*read_file(path + "/home/data/x/a/1.png"), "one");
  // Killed between the files and the note: what was about to be brought is known as ours.
  fs::rename(path + "/home/" + sftp_path(dataset_note("data/x")),
             path + "/home/" + sftp_path(dataset_note("data/x")) + ".new");
  fs::remove(data.folder + "/a/2.png");
  list({"a/1.png"});
  ASSERT_TRUE(place());
  EXPECT_EQ(there(), (std::set<std::string>{"a/1.png"}));
}

// Machines with homes of their own in one network. In the place of ssh stands a program that does at the
// other's home what sshd would: it takes the one command that the key is good for.
struct DatasetSpreading : DatasetPlace {
  struct Machine {
    std::string home;
    std::unique_ptr<HomeRemote> remote;
    ir::Node facts;
    NodeHandle handle;
  };
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<std::string> said;
  std::mutex saying;

  DatasetSpreading() {
    context.run = to_hex(random_bytes(8));
    context.log = [this](const std::string& line) {
      std::lock_guard lock(saying);
      said.push_back(line);
    };
    put("a/1.png", random_bytes(size_t{1} << 20));
    put("a/it's 2.png", "two");
    list({"a/1.png", "a/it's 2.png"});
  }

  NodeHandle& machine(const std::string& network = "lan") {
    auto made = std::make_unique<Machine>();
    const std::string address = "worker[" + std::to_string(machines.size()) + "]";
    made->home = path + "/" + std::to_string(machines.size());
    fs::create_directories(made->home + "/bin");
    made->remote = std::make_unique<HomeRemote>(made->home);
    made->facts.interfaces.push_back({.index = 0, .network = network});
    made->handle = {
        address, &made->facts, {{"private_ip", made->home}, {"host_key", "ssh-ed25519 AAAA"}}, "", nullptr};
    made->handle.connect = [remote = made->remote.get()] { return Result<Remote*>(remote); };
    ssh(*made, R"sh(#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" != -i ] || key=$2
  home=$last last=$1
  shift
done
grep -qF "restrict,command=\"$last\" $(cat "$key.pub")" "$home/.ssh/authorized_keys" || exit 255
cd "$home" && HOME=$home exec sh -c "$last"
)sh");
    machines.push_back(std::move(made));
    return machines.back()->handle;
  }
  static void ssh(const Machine& of, const std::string& program) {
    ASSERT_TRUE(write_file_atomic(of.home + "/bin/ssh", program, 0755).ok());
  }
  Status place_on(const NodeHandle& on) { return place_dataset(on, context, data, "data/x", true).status(); }
  bool whole(const Machine& of) const {
    return *sha256_file(of.home + "/data/x/a/1.png") == *sha256_file(data.folder + "/a/1.png") &&
           *read_file(of.home + "/data/x/a/it's 2.png") == "two";
  }
  int sent() const {
    int archives = 0;
    for (const auto& each : machines) archives += each->remote->archives;
    return archives;
  }
};

TEST_F(DatasetSpreading, ItIsSentOnceAndNodesGiveItToEachOther) {
  for (int i = 0; i < 5; ++i) machine();
  std::vector<std::thread> threads;
  for (const auto& each : machines) threads.emplace_back([&] { EXPECT_TRUE(place_on(each->handle).ok()); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sent(), 1) << testing::PrintToString(said);
  EXPECT_EQ(said.size(), 4u) << "each of the others is said";
  for (const auto& each : machines) {
    EXPECT_TRUE(whole(*each)) << each->home;
    auto keys = read_file(each->home + "/.ssh/authorized_keys");
    EXPECT_TRUE(!keys || keys->empty()) << "no key stays: " << *keys;
    EXPECT_TRUE(fs::is_empty(each->home + "/.radl/stage")) << "nothing of a fetch stays";
    EXPECT_FALSE(*place_dataset(each->handle, context, data, "data/x", true)) << "it is noted as brought";
  }
}

TEST_F(DatasetSpreading, WhereANodeCannotGiveItThisComputerSendsItAndTheReasonIsSaid) {
  ASSERT_TRUE(place_on(machine()).ok());
  NodeHandle& second = machine();
  ssh(*machines[1], "#!/bin/sh\necho 'no route to host' >&2\nexit 255\n");
  ASSERT_TRUE(place_on(second).ok());
  EXPECT_TRUE(whole(*machines[1]));
  EXPECT_EQ(sent(), 2);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("worker[1]: the dataset comes from this computer"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("no route to host"), std::string::npos) << said[0];
}

TEST_F(DatasetSpreading, KeysAndFilesOfFetchesThatWereKilledAreTakenAwayAndThoseOfTheUserStay) {
  ASSERT_TRUE(place_on(machine()).ok());
  machine();
  const std::string user = "ssh-ed25519 AAAA somebody\n";
  for (const auto& each : machines) {
    fs::create_directories(each->home + "/.radl/stage/spread-0123abcd-77");
    fs::create_directories(each->home + "/.ssh");
    ASSERT_TRUE(write_file_atomic(each->home + "/.ssh/authorized_keys",
                                  user + "restrict,command=\"x\" ssh-ed25519 BBBB radlc-spread-0123abcd-77\n")
                    .ok());
  }
  ASSERT_TRUE(place_on(machines[1]->handle).ok());
  EXPECT_EQ(sent(), 1) << testing::PrintToString(said);
  EXPECT_EQ(*read_file(machines[0]->home + "/.ssh/authorized_keys"), user);
  for (const auto& each : machines) EXPECT_TRUE(fs::is_empty(each->home + "/.radl/stage")) << each->home;
}

TEST_F(DatasetSpreading, WhatComesDamagedFromANodeIsSentFromHere) {
  ASSERT_TRUE(place_on(machine()).ok());
  ASSERT_TRUE(write_file_atomic(machines[0]->home + "/data/x/a/1.png", "damaged").ok());
  ASSERT_TRUE(place_on(machine()).ok());
  EXPECT_TRUE(whole(*machines[1]));
  EXPECT_EQ(sent(), 2);
}

TEST_F(DatasetSpreading, NodesThatDoNotReachEachOtherAreEachSentIt) {
  ASSERT_TRUE(place_on(machine("lan")).ok());
  ASSERT_TRUE(place_on(machine("other")).ok());
  EXPECT_EQ(sent(), 2);
  EXPECT_TRUE(said.empty());
}

}  // namespace
}  // namespace radl
