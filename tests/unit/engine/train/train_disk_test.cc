// Whole runs where the disk is full: what was trained is handed over, or the last checkpoint is still there.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "engine/train/checkpoint.h"
#include "tests/unit/engine/train/train_case.h"

namespace radl::engine {
namespace {

constexpr int kNoMount = 77, kWrong = 1;

// A checkpoint of the model takes 246 KB, its two files of weights 123 KB each.
class FullDiskTest : public TrainTest {
 protected:
  // Calls `check` in a process of its own, with a disk of this size at folder_/disk.
  void with_disk(const char* size, const std::function<void()>& check) {
    ASSERT_TRUE(make_directories(folder_ + "/disk").ok());
    pid_t child = ::fork();
    if (child == 0) {
      const bool own =
          (::geteuid() == 0 ? ::unshare(CLONE_NEWNS) : ::unshare(CLONE_NEWUSER | CLONE_NEWNS)) == 0 &&
          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
          ::mount("tmpfs", (folder_ + "/disk").c_str(), "tmpfs", 0, size) == 0;
      if (!own) ::_exit(kNoMount);
      check();
      ::_exit(HasFailure() ? kWrong : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoMount) GTEST_SKIP() << "this user may not mount a disk for itself";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "see the failures above";
  }
  Job disk_job() {
    Job j = job("a");
    j.epochs = 3;
    j.checkpoint.share = 0;
    return j;
  }
  bool warned(const std::string& of) {
    for (const auto& line : lines("a", "warning"))
      if (line["message"].get<std::string>().find(of) != std::string::npos) return true;
    return false;
  }
};

TEST_F(FullDiskTest, TheModelIsWrittenWhenTheLastCheckpointCannotBe) {
  with_disk("size=300k", [&] {
    Job j = disk_job();
    j.directories.checkpoint = folder_ + "/disk/checkpoint";
    Result<RunSummary> run = run_job(j, {});
    EXPECT_TRUE(run.ok()) << run.status().text();
    EXPECT_TRUE(fs::exists(folder_ + "/a/model/model.safetensors"));
    EXPECT_TRUE(
        warned("step 120 could not be saved, " + j.directories.checkpoint + "/step-00000040.ckpt is kept"));
    Result<std::optional<Checkpoint>> left = load_latest(j.directories.checkpoint);
    EXPECT_TRUE(left.ok() && left->has_value() && (*left)->done() == 40);
  });
}

TEST_F(FullDiskTest, OlderCheckpointsMakeWayForTheModel) {
  with_disk("size=580k", [&] {
    Job j = disk_job();
    j.directories = {folder_ + "/disk/checkpoint", "", folder_ + "/disk/model"};
    Result<RunSummary> run = run_job(j, {});
    EXPECT_TRUE(run.ok()) << run.status().text();
    EXPECT_TRUE(fs::exists(folder_ + "/disk/model/model.onnx"));
    EXPECT_TRUE(warned("the disk is full"));
    Result<std::optional<Checkpoint>> left = load_latest(j.directories.checkpoint);
    EXPECT_TRUE(left.ok() && left->has_value() && (*left)->done() == 120) << "the last one";
  });
}

TEST_F(FullDiskTest, WithoutRoomForTheModelTheTrainedWeightsStayInTheCheckpoint) {
  with_disk("size=300k", [&] {
    Job j = disk_job();
    j.directories = {folder_ + "/disk/checkpoint", "", folder_ + "/disk/model"};
    j.checkpoint.every_epochs = 0;
    j.checkpoint.every_seconds = 0;
    Status failed = run_job(j, {}).status();
    EXPECT_EQ(failed.code(), Code::Quota) << failed.text();
    EXPECT_EQ(exit_code(failed), 2);
    EXPECT_NE(failed.text().find("step-00000120.ckpt is kept and holds the trained weights"),
              std::string::npos)
        << failed.text();
    j.directories.model = folder_ + "/elsewhere";  // where there is room
    Result<RunSummary> again = run_job(j, {});
    EXPECT_TRUE(again.ok()) << again.status().text();
    EXPECT_TRUE(again.ok() && again->resumed_from == 120);
    EXPECT_TRUE(fs::exists(folder_ + "/elsewhere/model.safetensors"));
  });
}

// --fresh, killed, and the same job again.
TEST_F(TrainTest, AFreshRunThatIsInterruptedIsTheOneThatGoesOn) {
  ASSERT_TRUE(run_job(job("a"), {}).ok());
  Job fresh = job("a");
  fresh.resume = Resume::Never;
  fresh.schedule.peak = 0.02;
  ASSERT_EQ(interrupted_run(fresh, 40).code(), Code::Cancelled);
  fresh.resume = Resume::Auto;
  Result<RunSummary> run = run_job(fresh, {});
  ASSERT_TRUE(run.ok()) << run.status().text();
  EXPECT_GE(run->resumed_from, 40u);
  EXPECT_LT(run->resumed_from, 240u) << "the run before had ended there";
  EXPECT_EQ(lines("a", "warning").size(), 1u) << "that its checkpoints make way";
}

}  // namespace
}  // namespace radl::engine
