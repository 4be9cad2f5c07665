// Checkpoints are atomic, whatever happens while one is written.
#include "engine/train/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "common/files.h"

namespace radl::engine {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("radl-checkpoint-" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_;
};

Checkpoint sample(uint64_t step) {
  Checkpoint c;
  c.next = step + 2;
  c.again = {step - 1, step};
  c.version = 7;
  c.settings = "{\"seed\":1}";
  c.model = "model \"x\"\n";
  c.numbers = "{}";
  c.weights = {1.5f, -2, static_cast<float>(step)};
  c.statistics = {3};
  c.average = {1, 2, 3};
  c.optimizer_steps = 9;
  c.optimizer = {{4, 5, 6}, {7, 8, 9}};
  return c;
}

// Counts operations and, at the n-th, does a part of it or nothing and fails; everything after it fails too,
// as if the program had been killed there.
class DyingDisk : public Disk {
 public:
  explicit DyingDisk(int at, bool exits = false) : at_(at), exits_(exits) {}
  int count() const { return count_; }

  Status make_directory(const std::string& p) override { return dead() ? gone() : Disk::make_directory(p); }
  Result<int> create(const std::string& p) override { return dead() ? Result<int>(gone()) : Disk::create(p); }
  Status write(int f, std::string_view bytes, const std::string& p) override {
    bool was_dead = count_ > at_;
    if (!was_dead && count_ == at_) (void)Disk::write(f, bytes.substr(0, bytes.size() / 2), p);
    return dead() ? gone() : Disk::write(f, bytes, p);
  }
  Status sync(int f, const std::string& p) override { return dead() ? gone() : Disk::sync(f, p); }
  Status close(int f, const std::string& p) override {
    bool d = dead();
    Status closed = Disk::close(f, p);
    return d ? gone() : closed;
  }
  Status rename(const std::string& a, const std::string& b) override {
    return dead() ? gone() : Disk::rename(a, b);
  }
  Status sync_directory(const std::string& p) override { return dead() ? gone() : Disk::sync_directory(p); }
  Status remove(const std::string& p) override { return dead() ? gone() : Disk::remove(p); }

 private:
  bool dead() {
    bool out = count_ >= at_;
    if (out && exits_) ::_exit(9);
    ++count_;
    return out;
  }
  static Status gone() { return {Code::Quota, "no space left"}; }
  int at_, count_ = 0;
  bool exits_;
};

TEST_F(CheckpointTest, RoundTrips) {
  Disk disk;
  Result<std::string> path = save_checkpoint(folder_, sample(10), 2, disk);
  ASSERT_TRUE(path.ok()) << path.status().text();
  EXPECT_EQ(*path, folder_ + "/step-00000010.ckpt");
  Result<Checkpoint> c = load_checkpoint(*path);
  ASSERT_TRUE(c.ok()) << c.status().text();
  Checkpoint want = sample(10);
  EXPECT_EQ(c->weights, want.weights);
  EXPECT_EQ(c->statistics, want.statistics);
  EXPECT_EQ(c->average, want.average);
  EXPECT_EQ(c->optimizer, want.optimizer);
  EXPECT_EQ(c->again, want.again);
  EXPECT_EQ(c->model, want.model);
  EXPECT_EQ(c->optimizer_steps, 9u);
}

TEST_F(CheckpointTest, TheLastOnesAreKept) {
  Disk disk;
  for (uint64_t step : {10, 20, 30, 123456789})
    ASSERT_TRUE(save_checkpoint(folder_, sample(step), 2, disk).ok());
  EXPECT_EQ(list_checkpoints(folder_),
            (std::vector<std::string>{folder_ + "/step-00000030.ckpt", folder_ + "/step-123456789.ckpt"}));
  EXPECT_EQ((*load_latest(folder_))->done(), 123456789u);
}

// A failure at every operation in turn: the one before is still there and whole, and nothing half-written is
// taken.
TEST_F(CheckpointTest, AFailureAtAnyWriteLeavesThePreviousOne) {
  Disk disk;
  DyingDisk counter(1 << 30);
  ASSERT_TRUE(save_checkpoint(folder_, sample(10), 1, disk).ok());
  ASSERT_TRUE(save_checkpoint(folder_ + "/count", sample(20), 1, counter).ok());
  ASSERT_GE(counter.count(), 10);
  for (int at = 0; at <= counter.count(); ++at) {
    DyingDisk dying(at);
    bool saved = save_checkpoint(folder_, sample(20), 1, dying).ok();
    Result<std::optional<Checkpoint>> latest =
        load_latest(folder_, [&](const Status& s) { FAIL() << s.text(); });
    ASSERT_TRUE(latest.ok() && latest->has_value()) << "died at operation " << at;
    EXPECT_TRUE((*latest)->done() == 20 || (!saved && (*latest)->done() == 10)) << "died at operation " << at;
    fs::remove_all(folder_);
    ASSERT_TRUE(save_checkpoint(folder_, sample(10), 1, disk).ok());
  }
}

// The same with a process that is really gone at that moment.
TEST_F(CheckpointTest, AKillAtAnyWriteLeavesThePreviousOne) {
  Disk disk;
  for (int at = 0; at < 40; ++at) {
    fs::remove_all(folder_);
    ASSERT_TRUE(save_checkpoint(folder_, sample(10), 1, disk).ok());
    pid_t child = ::fork();
    if (child == 0) {
      DyingDisk dying(at, true);
      ::_exit(save_checkpoint(folder_, sample(20), 1, dying).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    Result<std::optional<Checkpoint>> latest = load_latest(folder_);
    ASSERT_TRUE(latest.ok() && latest->has_value()) << "killed at operation " << at;
    if (WEXITSTATUS(status) == 0) {
      EXPECT_EQ((*latest)->done(), 20u);
      return;  // it was not killed any more: every operation has been tried
    }
    ASSERT_EQ(WEXITSTATUS(status), 9);
    ASSERT_TRUE(save_checkpoint(folder_, sample(30), 1, disk).ok()) << "and the next one can be written";
  }
  FAIL() << "more operations than expected";
}

// An earlier run was further on than the one that began anew.
TEST_F(CheckpointTest, ARunThatBeganAnewIsGoneOnFrom) {
  Disk disk;
  EXPECT_EQ(*begin_anew(folder_), 0u) << "nothing is there";
  for (uint64_t step : {100, 200}) ASSERT_TRUE(save_checkpoint(folder_, sample(step), 2, disk).ok());
  EXPECT_EQ(*begin_anew(folder_), 2u);
  EXPECT_FALSE((*load_latest(folder_)).has_value()) << "killed before its first checkpoint, it begins again";
  EXPECT_EQ(*begin_anew(folder_), 0u) << "they are of an earlier run already";
  EXPECT_EQ(*save_checkpoint(folder_, sample(10), 2, disk), folder_ + "/run-0002-step-00000010.ckpt");
  EXPECT_EQ((*load_latest(folder_))->done(), 10u);
  ASSERT_TRUE(save_checkpoint(folder_, sample(20), 2, disk).ok());
  EXPECT_EQ(list_checkpoints(folder_), (std::vector<std::string>{folder_ + "/run-0002-step-00000010.ckpt",
                                                                 folder_ + "/run-0002-step-00000020.ckpt"}));
  EXPECT_EQ(*begin_anew(folder_), 2u);
  EXPECT_FALSE((*load_latest(folder_)).has_value());
  ASSERT_TRUE(save_checkpoint(folder_, sample(5), 2, disk).ok());
  EXPECT_EQ((*load_latest(folder_))->done(), 5u);
}

TEST_F(CheckpointTest, ARunThatCannotBeToldIsAnError) {
  Disk disk;
  ASSERT_TRUE(save_checkpoint(folder_, sample(10), 2, disk).ok());
  ASSERT_TRUE(write_file_atomic(folder_ + "/run", "two").ok());
  EXPECT_EQ(load_latest(folder_).status().code(), Code::Corrupt);
  EXPECT_EQ(save_checkpoint(folder_, sample(20), 2, disk).status().code(), Code::Corrupt);
}

TEST_F(CheckpointTest, RoomIsMadeWithoutTheLastWholeOne) {
  Disk disk;
  size_t removed = 7;
  EXPECT_EQ(make_room(folder_, disk, removed), "");
  EXPECT_EQ(removed, 0u);
  for (uint64_t step : {10, 20, 30}) ASSERT_TRUE(save_checkpoint(folder_, sample(step), 9, disk).ok());
  ASSERT_TRUE(write_file_atomic(folder_ + "/step-00000030.ckpt", "torn").ok());
  EXPECT_EQ(make_room(folder_, disk, removed), folder_ + "/step-00000020.ckpt");
  EXPECT_EQ(removed, 2u);
  EXPECT_EQ((*load_latest(folder_))->done(), 20u);
}

TEST_F(CheckpointTest, EveryDamagedByteIsNoticed) {
  Disk disk;
  std::string path = *save_checkpoint(folder_, sample(10), 2, disk), whole = *read_file(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] ^= 0x10;
    ASSERT_TRUE(write_file_atomic(path, damaged).ok());
    ASSERT_FALSE(load_checkpoint(path).ok()) << "byte " << at;
  }
  for (size_t size = 0; size < whole.size(); size += 7) {
    ASSERT_TRUE(write_file_atomic(path, whole.substr(0, size)).ok());
    ASSERT_EQ(load_checkpoint(path).status().code(), Code::Corrupt) << "cut to " << size;
  }
}

TEST_F(CheckpointTest, ADamagedOneIsPassedOverAndToldOf) {
  Disk disk;
  ASSERT_TRUE(save_checkpoint(folder_, sample(10), 2, disk).ok());
  std::string newest = *save_checkpoint(folder_, sample(20), 2, disk);
  ASSERT_TRUE(write_file_atomic(newest, "torn").ok());
  int told = 0;
  Result<std::optional<Checkpoint>> latest = load_latest(folder_, [&](const Status&) { ++told; });
  ASSERT_TRUE(latest.ok() && latest->has_value());
  EXPECT_EQ((*latest)->done(), 10u);
  EXPECT_EQ(told, 1);
}

TEST_F(CheckpointTest, NumbersThatAreNoneAreNotSaved) {
  Disk disk;
  Checkpoint c = sample(10);
  c.optimizer[1][2] = std::nanf("");
  EXPECT_EQ(save_checkpoint(folder_, c, 2, disk).status().code(), Code::Invalid);
  EXPECT_TRUE(list_checkpoints(folder_).empty());
}

}  // namespace
}  // namespace radl::engine
