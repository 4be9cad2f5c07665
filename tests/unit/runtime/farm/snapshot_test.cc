// A farm that is read from its snapshot is the one that its whole journal makes.
#include "runtime/farm/snapshot.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "runtime/farm/journal.h"

namespace radl::farm {
namespace {

class FarmSnapshot : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/farm-snapshot-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string snapshot() const { return folder_ + kSnapshotFile; }
  std::string text_of(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  void write(const std::string& path, const std::string& text) const { std::ofstream(path) << text; }
  std::string replayed() const {
    Farm farm;
    EXPECT_TRUE(
        read_journal(folder_ + kJournalFile, [&](const Event& event) { return farm.apply(event); }).ok());
    return bytes_of(farm);
  }
  std::string loaded() const {
    auto farm = load_farm(folder_);
    EXPECT_TRUE(farm.ok()) << farm.status().text();
    return farm.ok() ? bytes_of(*farm) : "";
  }
  std::string folder_;
};

// Appends events of every kind, as a farm with many faults has them.
class Recorded {
 public:
  Recorded(const std::string& folder, uint32_t seed) : random_(seed) {
    EXPECT_TRUE(journal_
                    .open(folder + kJournalFile,
                          [&](const Event& event) {
                            at_ = std::max(at_, event.value("at", 0.0));
                            return farm.apply(event);
                          })
                    .ok());
    if (!farm.table().tasks().empty()) return;
    record(farm_event({{"name", "work"}, {"tries", 2}, {"metric", "loss"}, {"trials", 50}, {"journal", "j"}},
                      1));
    record(
        approve_event({{"seconds", {{"value", 10}, {"low", 5}, {"high", 20}}}, {"nodes", {{"most", 4}}}}, 1));
    for (int i = 0; i < 4; ++i)
      record(node_event("n" + std::to_string(i), {2000, 8000, i, kUnknownAmount}, 1));
    record(cluster_event("login", {4000, 0, 0, 0}, {{2000, 0, 0, 0}, {1000, 0, 0, 0}}, 1));
    record(began_event(2, 4));
  }

  void more(size_t events) {
    for (size_t end = journal_.size() + events; events > 0 && journal_.size() < end + (1 << 24); --events)
      step();
  }
  void flush() { ASSERT_TRUE(journal_.flush().ok()); }
  size_t size() const { return journal_.size(); }

  Farm farm;

 private:
  void record(const Event& event) {
    if (farm.apply(event).ok()) journal_.add(event);
  }
  size_t chance(size_t of) { return random_() % of; }
  void step() {
    at_ += 0.125 * static_cast<double>(chance(100));
    const auto& tasks = farm.table().tasks();
    if (tasks.size() < 20 || chance(5) == 0) {
      Spec spec;
      spec.set("command", "echo " + std::to_string(tasks.size()));
      if (chance(3) == 0) spec.set("parameters", {{"x", 0.5}});
      record(add_event({"t" + std::to_string(tasks.size()),
                        {1000 * static_cast<int64_t>(1 + chance(2)), static_cast<int64_t>(chance(5000)),
                         static_cast<int64_t>(chance(4) / 3), 0},
                        static_cast<double>(chance(3)),
                        spec},
                       at_));
    }
    for (const Event& event : farm.next(at_)) record(event);
    const TaskRecord task = tasks[chance(tasks.size())];
    const std::string& name = task.task.name;
    const End ends[] = {End::Succeeded, End::Succeeded, End::Failed, End::Preempted, End::Lost, End::Stopped};
    switch (chance(12)) {
      case 0:
        return record(cancel_event(name, at_, chance(2) == 0));
      case 1:
        return record(retry_event(name, at_));
      case 2:
        return record(stop_event(name, task.attempt, at_));
      case 3:
        return record(metric_event(name, task.attempt, task.reports + 1, {{"loss", 0.1}, {"e", 3}}, at_));
      case 4:
        return record(gone_event("n" + std::to_string(chance(4)), "silent", at_));
      case 5:
        return record(node_event("n" + std::to_string(chance(4)), {2000, 8000, 1, 0}, at_, chance(2) == 0));
      case 6:
        return record(task.node == "login" ? runs_event(name, task.attempt, "m1", at_)
                                           : queued_event(name, task.attempt, "Priority", at_));
      case 7:
        return record(chance(4) == 0 ? pause_event(9, "too long", at_)
                      : chance(3) == 0
                          ? closed_event(at_)
                          : change_event({name, {1000, 10, 0, 0}, 2, {{"command", "other"}}}, at_));
      default:
        record(end_event(name, task.attempt, ends[chance(6)], static_cast<int>(chance(3)) - 1, "why", at_));
        record(commit_event(name, task.attempt, at_, chance(2) == 0, {"link"}));
    }
  }

  Journal journal_;
  std::mt19937 random_;
  double at_ = 2;
};

TEST_F(FarmSnapshot, WithTheRestOfTheJournalItIsTheWhole) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::filesystem::remove(folder_ + kJournalFile);
    std::filesystem::remove(snapshot());
    Recorded recorded(folder_, seed);
    recorded.more(150);
    recorded.flush();
    ASSERT_TRUE(save_snapshot(folder_, recorded.farm, recorded.size()).ok());
    const std::string saved = text_of(snapshot());
    EXPECT_EQ(loaded(), replayed()) << "seed " << seed;
    recorded.more(100);
    recorded.flush();
    EXPECT_EQ(loaded(), replayed()) << "seed " << seed;
    EXPECT_EQ(loaded(), bytes_of(recorded.farm)) << "seed " << seed;
    EXPECT_EQ(text_of(snapshot()), saved) << "a short rest is no reason to write";
    auto farm = load_farm(folder_);
    EXPECT_EQ(farm->next(1e6), recorded.farm.next(1e6)) << "seed " << seed << ": they decide the same";
  }
}

TEST_F(FarmSnapshot, OfAnotherJournalOrDamagedItIsIgnored) {
  Recorded recorded(folder_, 1);
  recorded.more(200);
  recorded.flush();
  ASSERT_TRUE(save_snapshot(folder_, recorded.farm, recorded.size()).ok());
  const std::string whole = text_of(snapshot()), right = replayed();
  for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 200) {
    write(snapshot(), whole.substr(0, i));
    EXPECT_EQ(loaded(), right) << "cut after " << i;
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    write(snapshot(), damaged);
    EXPECT_EQ(loaded(), right) << "byte " << i;
  }
  write(snapshot(), whole);
  const std::string journal = text_of(folder_ + kJournalFile);
  const size_t line = journal.rfind('\n', journal.size() - 2);
  write(folder_ + kJournalFile, journal.substr(0, line + 1));  // events after a lost sync
  EXPECT_EQ(loaded(), replayed());
  std::string other = journal;  // as long, of another farm
  other.replace(other.find("\"work\""), 6, "\"krow\"");
  write(folder_ + kJournalFile, other);
  EXPECT_EQ(loaded(), replayed());
  EXPECT_NE(loaded(), right);
}

TEST_F(FarmSnapshot, AReaderOfALongJournalWritesOne) {
  {
    Recorded recorded(folder_, 3);
    while (recorded.size() < (size_t{1} << 20) + 1) {
      recorded.more(500);
      recorded.flush();
    }
  }
  const std::string right = replayed();
  EXPECT_EQ(loaded(), right);
  ASSERT_TRUE(std::filesystem::exists(snapshot()));
  EXPECT_EQ(std::filesystem::status(snapshot()).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(loaded(), right);
  std::ofstream(folder_ + kJournalFile, std::ios::app) << "{}{}\n";
  EXPECT_EQ(load_farm(folder_).status().code(), Code::Corrupt);
}

// A run that is killed between a snapshot and its journal, at any moment, and the next that goes on.
TEST_F(FarmSnapshot, AKilledWriterLeavesTheWhole) {
  for (uint32_t round = 0; round < 8; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Recorded recorded(folder_, round);
      for (;;) {
        recorded.more(20);
        recorded.flush();
        (void)save_snapshot(folder_, recorded.farm, recorded.size());
      }
    }
    usleep(20000 + 17000 * round);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    if (!std::filesystem::exists(folder_ + kJournalFile)) continue;
    EXPECT_EQ(loaded(), replayed()) << "round " << round;
  }
  EXPECT_TRUE(std::filesystem::exists(snapshot()));
}

}  // namespace
}  // namespace radl::farm
