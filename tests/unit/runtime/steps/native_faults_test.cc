// What goes wrong on the node while a native step looks or changes: the step has failed, the next plan shows
// the change again, and nothing else was touched.
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "runtime/steps/place.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/native_steps.h"

namespace radl {
namespace {

using test::contains;
using test::StepsFixture;

struct NativeFaultTest : testing::Test, StepsFixture {};

TEST_F(NativeFaultTest, ACommandThatEndsBadlyHasFailedWhateverItMade) {
  add("command", "touch ~/x; exit 3", {{"creates", "~/x"}});
  EXPECT_TRUE(contains(error().message(), "exit status 3"));
}

TEST_F(NativeFaultTest, ACommandWithoutItsFolderRunsNowhere) {
  add("command", "touch made", {{"directory", "missing"}, {"creates", "made"}});
  add("command", "touch made-too", {{"directory", "missing"}, {"unless", "true"}});
  EXPECT_EQ(observe().size(), 2u);
  ASSERT_TRUE(write_file_atomic(home("made"), "another one").ok());
  EXPECT_EQ(observe().size(), 2u) << "what counts is below its own folder";
  std::filesystem::remove(home("made"));
  EXPECT_TRUE(contains(error().message(), "missing"));
  EXPECT_FALSE(std::filesystem::exists(home("made")));
  EXPECT_FALSE(std::filesystem::exists(home("made-too")));
}

TEST_F(NativeFaultTest, AnOwnerThatDoesNotExistIsAFailure) {
  std::filesystem::create_directories(nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("tree/one"), "1").ok());
  ASSERT_TRUE(write_file_atomic(home("there"), "kept").ok());
  for (const char* whose : {"owner", "group"}) {
    for (const ir::Resource& one : std::vector<ir::Resource>{
             {"file", "~/there", ir::Json{{"content", "x"}}, {}},
             {"directory", "~/folder", Json::object(), {}},
             {"upload", "~/single", ir::Json{{"source", nodes.folder.path("tree/one")}}, {}},
             {"upload", "~/tree", ir::Json{{"source", nodes.folder.path("tree")}}, {}},
         }) {
      step.resources = {one};
      step.resources[0].properties[whose] = "radl-nobody";
      EXPECT_TRUE(contains(error().message(), "radl-nobody")) << one.name;
      EXPECT_FALSE(observe().empty()) << one.name << ": the next plan shows it again";
    }
  }
  EXPECT_EQ(*read_file(home("there")), "kept");
}

TEST_F(NativeFaultTest, OfManyFilesTheOneThatDiffersIsFoundAndSent) {
  std::string source = nodes.folder.path("many");
  for (int folder = 0; folder < 90; ++folder) {
    std::string below = source + "/a-folder-with-a-long-name-" + std::to_string(folder);
    std::filesystem::create_directories(below);
    for (int i = 0; i < 100; ++i) std::ofstream(below + "/a-file-with-a-long-name-" + std::to_string(i)) << i;
  }
  add("upload", "~/many", {{"source", source}});
  EXPECT_EQ(run().size(), 9000u);
  EXPECT_TRUE(run().empty());
  std::string changed = "a-folder-with-a-long-name-7/a-file-with-a-long-name-7";
  std::ofstream(source + "/" + changed) << "changed";
  auto changes = run();
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].what, changed);
  EXPECT_EQ(*read_file(home("many/" + changed)), "changed");
  EXPECT_TRUE(run().empty());
}

// Gives only the beginning, or only the end, of what a look says.
class CuttingRemote : public test::ProcessRemote {
 public:
  using test::ProcessRemote::ProcessRemote;
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    ExecOptions inner = options;
    std::string all;
    inner.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr) all += piece;
    };
    auto result = test::ProcessRemote::exec(command, inner);
    size_t part = std::min(keep, all.size());
    all = from_end ? all.substr(all.size() - part) : all.substr(0, part);
    if (options.on_output && !all.empty()) options.on_output(all, false);
    if (result) result->out = all;
    return result;
  }
  size_t keep = std::string::npos;
  bool from_end = false;
};

TEST_F(NativeFaultTest, AnAnswerThatIsCutIsNoData) {
  CuttingRemote remote(home(""));
  handle.connect = [&]() -> Result<Remote*> { return &remote; };
  add("file", "~/one", {{"content", "x"}});
  add("file", "~/two", {{"content", "x"}});
  run();
  ASSERT_TRUE(observe().empty());
  for (bool from_end : {false, true}) {
    remote.from_end = from_end;
    for (remote.keep = 0; remote.keep < 400; remote.keep += 7) {
      auto seen = runner->observe(context, step, {handle});
      EXPECT_TRUE(!seen.ok() || seen->empty()) << remote.keep << ": a file that is right is changed";
      if (remote.keep < 100) {
        EXPECT_FALSE(seen.ok()) << remote.keep;
      }
    }
  }
}

// Notes what an archive looks like on this computer while it is sent.
class WatchingRemote : public test::ProcessRemote {
 public:
  using test::ProcessRemote::ProcessRemote;
  Result<bool> put_file(const std::string& local, const std::string& remote, unsigned mode,
                        const Stop& stop) override {
    if (::stat(local.c_str(), &sent) != 0) ADD_FAILURE() << local;
    return test::ProcessRemote::put_file(local, remote, mode, stop);
  }
  struct stat sent {};
};

TEST_F(NativeFaultTest, AnArchiveHasNoNameThatAKilledRunCouldLeave) {
  std::filesystem::create_directories(nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("tree/secret"), "1", 0600).ok());
  WatchingRemote remote(home(""));
  handle.connect = [&]() -> Result<Remote*> { return &remote; };
  add("upload", "~/tree", {{"source", nodes.folder.path("tree")}});
  EXPECT_EQ(run().size(), 1u);
  EXPECT_EQ(remote.sent.st_nlink, 0u);
  EXPECT_EQ(remote.sent.st_mode & 0777, 0600u);
  EXPECT_TRUE(std::filesystem::is_empty(home(".radl/stage"))) << "nor on the node";
}

TEST_F(NativeFaultTest, TheOwnerStaysWhereNoneIsWanted) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_TRUE(write_file_atomic(home("there"), "old").ok());
  ASSERT_EQ(chown(home("there").c_str(), 1, 2), 0);
  add("file", "~/there", {{"content", "new"}, {"mode", "4755"}});
  EXPECT_EQ(run().size(), 2u);
  EXPECT_EQ(shell("stat -c '%u %g %a' there"), "1 2 4755\n");
  EXPECT_TRUE(observe().empty());
}

// In a process of its own, which mounts a small file system that nobody else sees.
TEST_F(NativeFaultTest, AFullDiskOfALocalNodeIsToldAsSuch) {
  std::string source = nodes.folder.path("large"), small = home("small");
  ASSERT_TRUE(write_file_atomic(source, std::string(96000, 'x')).ok());
  std::filesystem::create_directories(small);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int child = fork();
  if (child == 0) {
    std::string text = "cannot mount";
    if (unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("none", small.c_str(), "tmpfs", 0, "size=16k") == 0) {
      auto placed = place_file(handle, nodes.context, source, "small/large", 0644);
      text = placed.status().text();
      if (!std::filesystem::is_empty(small)) text += "; something is left";
    }
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  if (text == "cannot mount") GTEST_SKIP() << text;
  EXPECT_EQ(text, small + "/large: No space left on device");
}

// What needs a machine of its own.
struct IsolatedFaultTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation(false);
    if (IsSkipped()) return;
    steps = std::make_unique<StepsFixture>(local::Isolation::Required);
  }
  std::unique_ptr<StepsFixture> steps;
};

TEST_F(IsolatedFaultTest, AFullDiskLeavesTheOldContent) {
  ASSERT_EQ(steps->shell("mkdir /small && mount -t tmpfs -o size=16k none /small && echo old > /small/file "
                         "&& head -c 96000 /dev/zero | tr '\\0' x > /large && "
                         "echo done"),
            "done\n");
  std::string large(96000, 'x'), source = steps->nodes.folder.path("large");
  ASSERT_TRUE(write_file_atomic(source, large).ok());
  std::filesystem::create_directories(steps->nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(steps->nodes.folder.path("tree/file"), large).ok());
  for (const ir::Resource& one : std::vector<ir::Resource>{
           {"file", "/small/file", ir::Json{{"content", large}}, {}},
           {"file", "/small/file", ir::Json{{"content", std::string(600000, 'x')}}, {}},
           {"upload", "/small/file", ir::Json{{"source", source}}, {}},
           {"upload", "/small", ir::Json{{"source", steps->nodes.folder.path("tree")}}, {}},
           {"download", "/small/file", ir::Json{{"url", "file:///large"}, {"sha256", sha256_hex(large)}}, {}},
       }) {
    steps->step.resources = {one};
    Status failed = steps->error();
    EXPECT_FALSE(failed.ok()) << one.type;
    EXPECT_EQ(steps->shell("head -c 100 /small/file; ls -A /small"), "old\nfile\n")
        << one.type << failed.text();
    EXPECT_FALSE(steps->observe().empty()) << one.type;
  }
}

TEST_F(IsolatedFaultTest, AUserThatCannotBeMadeLeavesNothing) {
  steps->add("user", "radltest",
             {{"group", "no-such-group"}, {"authorized_keys", {"ssh-ed25519 AAAA test"}}});
  EXPECT_TRUE(contains(steps->error().message(), "no-such-group"));
  EXPECT_EQ(steps->shell("ls -d /.ssh /home/radltest 2>/dev/null; getent passwd radltest"), "");
  EXPECT_FALSE(steps->observe().empty());
}

TEST_F(IsolatedFaultTest, KeysAreNotWrittenWhereThereIsNoHome) {
  ASSERT_EQ(steps->shell("useradd -M -d / rooty && useradd -M -d /gone homeless && echo "
                         "'none:x:4321:100:::/bin/sh' >> /etc/passwd; echo done"),
            "done\n");
  for (const char* name : {"rooty", "homeless", "none"}) {
    steps->step.resources = {{"user", name, ir::Json{{"authorized_keys", {"ssh-ed25519 AAAA test"}}}, {}}};
    EXPECT_TRUE(contains(steps->error().message(), "home")) << name;
    EXPECT_EQ(steps->shell("ls -d /.ssh /gone 2>/dev/null"), "") << name;
  }
}

TEST_F(IsolatedFaultTest, ADeviceThatDoesNotMountIsNotInFstab) {
  ASSERT_EQ(steps->shell("printf '# mine\\nnone /other tmpfs defaults 0 0\\n' > /etc/fstab; echo done"),
            "done\n");
  steps->add("mount", "/data", {{"device", "/dev/radl-missing"}, {"fstype", "ext4"}});
  EXPECT_FALSE(steps->error().ok());
  EXPECT_EQ(steps->shell("cat /etc/fstab; ls /etc/fstab*"),
            "# mine\nnone /other tmpfs defaults 0 0\n/etc/fstab\n")
      << "a machine with a wrong line in it may not start again";
  EXPECT_FALSE(steps->observe().empty());
}

}  // namespace
}  // namespace radl
