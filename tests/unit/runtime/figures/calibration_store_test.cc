// What was measured stays, once each, and can be forgotten.
#include "runtime/figures/calibration_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"

namespace radl {
namespace {

struct AStore : testing::Test {
  AStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "radl-calibration-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    path = folder + "/data/foresight.db";
  }
  ~AStore() override { std::filesystem::remove_all(folder); }
  CalibrationStore store() {
    auto opened = CalibrationStore::open(path);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return std::move(*opened);
  }
  static foresight::Calibration some() {
    foresight::Calibration calibration;
    foresight::MeasuredProfile profile;
    profile.family = "lenet on cifar10";
    profile.work = "lenet";
    profile.batch = 128;
    profile.machine = "local";
    profile.cores = 2;
    profile.node.steps.points = {{32, 0.01}, {128, 0.04}};
    calibration.profiles = {profile};
    for (int i = 0; i < 3; ++i) {
      foresight::TrainingRun run;
      run.digest = "d";
      run.family = i < 2 ? "lenet on cifar10" : "resnet20 on cifar10";
      run.work = i < 2 ? "lenet" : "resnet20";
      run.batch = 128;
      run.seconds = 10 + i;
      run.time = 1000 + i;
      calibration.runs.push_back(run);
    }
    calibration.studies = foresight::study_rows("mnist");
    return calibration;
  }
  std::string folder, path;
};

TEST_F(AStore, GivesBackWhatWasAddedAndAddsItOnce) {
  auto added = store().add(some());
  ASSERT_TRUE(added.ok()) << added.status().text();
  EXPECT_EQ(*added, 1u + 3u + 44u);
  auto loaded = load_calibration(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().text();
  EXPECT_EQ(to_json(*loaded), to_json(some()));
  EXPECT_EQ(*store().add(some()), 1u);  // the profile, in place of itself
  EXPECT_EQ(to_json(*load_calibration(path)), to_json(some()));
  struct stat status {};
  ASSERT_EQ(stat((folder + "/data").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

// A file as version 1 left it: profiles by family, runs without work and without what links found.
constexpr const char* kVersion1 = R"sql(
DROP TABLE runs; DROP TABLE profiles;
CREATE TABLE profiles (family TEXT NOT NULL, machine TEXT NOT NULL, cores REAL NOT NULL, profile TEXT NOT NULL,
  PRIMARY KEY (family, machine, cores));
CREATE TABLE runs (digest TEXT NOT NULL, family TEXT NOT NULL, machine TEXT NOT NULL, exchange TEXT NOT NULL,
  workers INTEGER NOT NULL, servers INTEGER NOT NULL, batch REAL NOT NULL, latency_ms REAL NOT NULL, bits_per_second REAL NOT NULL,
  epochs REAL NOT NULL, images REAL NOT NULL, analytic_seconds REAL NOT NULL, seconds REAL NOT NULL, cost REAL NOT NULL,
  currency TEXT NOT NULL, time REAL NOT NULL, version TEXT NOT NULL, UNIQUE (digest, time, seconds, workers));
CREATE INDEX runs_by_family ON runs (family, time);
INSERT INTO runs VALUES ('d', 'lenet on cifar10', 'local', 'alone', 1, 0, 128, 0, 0, 1, 1, 1, 10, 0, '', 1000, '0.1');
PRAGMA user_version = 1;
)sql";

struct AnEarlierStore : AStore, testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, AnEarlierStore, testing::Values(1, 2));

TEST_P(AnEarlierStore, IsReadAndAddedTo) {
  ASSERT_TRUE(store().add(some()).ok());
  {
    auto database = Database::open(path, Database::Access::ReadWrite);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->exec(kVersion1).ok());
    nlohmann::json old = to_json(some().profiles[0]);
    for (const char* since : {"work", "batch", "core_peak", "busy_ratio"}) old.erase(since);
    ASSERT_TRUE(database->prepare("INSERT INTO profiles VALUES ('lenet on cifar10', 'local', 2, ?)")
                    ->bind(1, old.dump())
                    .run()
                    .ok());
    if (GetParam() == 2) {
      ASSERT_TRUE(
          database
              ->exec("ALTER TABLE runs ADD COLUMN sent_bytes REAL NOT NULL DEFAULT 0; ALTER TABLE runs ADD "
                     "COLUMN received_bytes REAL NOT NULL DEFAULT 0; ALTER TABLE runs ADD COLUMN "
                     "measured_bits_per_second REAL NOT NULL DEFAULT 0; PRAGMA user_version = 2;")
              .ok());
    }
  }
  auto read = load_calibration(path);  // by a plan, which changes nothing
  ASSERT_TRUE(read.ok()) << read.status().text();
  ASSERT_EQ(read->runs.size(), 1u);
  EXPECT_EQ(read->runs[0].work, "");
  foresight::TrainingRun run = some().runs.front();
  run.time = 5000;
  run.sent_bytes = 1e6;
  run.measured_bits_per_second = 1e9;
  ASSERT_TRUE(store().add(run).ok());
  auto now = load_calibration(path);
  ASSERT_TRUE(now.ok()) << now.status().text();
  ASSERT_EQ(now->profiles.size(), 1u);
  EXPECT_EQ(now->profiles[0].family, "lenet on cifar10");
  EXPECT_EQ(now->profiles[0].work, "");
  EXPECT_EQ(now->runs.back().work, "lenet");
  EXPECT_EQ(now->runs.back().sent_bytes, 1e6);
  EXPECT_EQ(now->runs.back().measured_bits_per_second, 1e9);
  EXPECT_EQ(now->runs.front().sent_bytes, 0);
  EXPECT_EQ(load_calibration(path, {"lenet", 10})->runs.size(), 1u);
}

TEST_F(AStore, ANewProfileOfTheSameMachineTakesTheOldOnesPlace) {
  ASSERT_TRUE(store().add(some()).ok());
  foresight::MeasuredProfile newer = some().profiles[0];
  newer.node.steps.points[0].seconds = 0.02;
  ASSERT_TRUE(store().add(newer).ok());
  auto loaded = load_calibration(path);
  ASSERT_EQ(loaded->profiles.size(), 1u);
  EXPECT_EQ(loaded->profiles[0].node.steps.points[0].seconds, 0.02);
}

TEST_F(AStore, ProfilesOfOtherWorkAndOtherBatchesStayBesideEachOther) {
  ASSERT_TRUE(store().add(some()).ok());
  foresight::MeasuredProfile other = some().profiles[0];
  other.batch = 32;
  ASSERT_TRUE(store().add(other).ok());
  other.work = "the same names, larger images";
  ASSERT_TRUE(store().add(other).ok());
  EXPECT_EQ(load_calibration(path)->profiles.size(), 3u);
}

TEST_F(AStore, APlanReadsTheNewestRunsOfItsWorkAndAllProfiles) {
  ASSERT_TRUE(store().add(some()).ok());
  auto loaded = load_calibration(path, {"lenet", 1});
  ASSERT_EQ(loaded->runs.size(), 1u);
  EXPECT_EQ(loaded->runs[0].seconds, 11);
  loaded = load_calibration(path, {"unheard of", 1});
  EXPECT_TRUE(loaded->runs.empty());
  EXPECT_EQ(loaded->profiles.size(), 1u);
}

TEST_F(AStore, RunsOfProgramsAreReadByTheirVersionAndTheirFamily) {
  foresight::Calibration calibration;
  for (int i = 0; i < 3; ++i) {
    foresight::ProgramRun run;
    run.family = i < 2 ? "mnist (train.py)" : "other (train.py)";
    run.work = i == 0 ? "this" : "that";
    run.machine = "local";
    run.kind = static_cast<foresight::ProgramRun::Kind>(i);
    run.seconds = 10 + i;
    run.time = 1000 - i;
    calibration.programs.push_back(run);
  }
  EXPECT_EQ(*store().add(calibration), 3u);
  EXPECT_EQ(*store().add(calibration), 0u);
  auto own = load_program_runs(path, "this", "mnist (train.py)");
  ASSERT_TRUE(own.ok()) << own.status().text();
  ASSERT_EQ(own->size(), 2u);
  EXPECT_EQ(own->back().seconds, 10) << "oldest first";
  EXPECT_EQ(own->front().kind, foresight::ProgramRun::Kind::Extrapolated);
  EXPECT_EQ(load_program_runs(path, "that", "")->size(), 2u);
  EXPECT_EQ(load_program_runs(path, "", "")->size(), 3u);
  const auto all = load_calibration(path);
  EXPECT_EQ(to_json(*foresight::calibration_from_json(to_json(*all))), to_json(*all));
  EXPECT_TRUE(load_calibration(path, {"lenet", 10})->programs.empty())
      << "a training's forecast has no part of them";
  EXPECT_EQ(*store().forget("mnist (train.py)"), 2u);
  EXPECT_EQ(load_program_runs(path, "", "")->size(), 1u);
}

TEST_F(AStore, AStoreWithoutProgramsIsReadAndAddedTo) {
  ASSERT_TRUE(store().add(some()).ok());
  ASSERT_TRUE(Database::open(path, Database::Access::ReadWrite)
                  ->exec("DROP TABLE programs; PRAGMA user_version = 3;")
                  .ok());
  EXPECT_TRUE(load_program_runs(path, "", "")->empty());
  EXPECT_EQ(to_json(*load_calibration(path)), to_json(some()));
  foresight::ProgramRun run;
  run.work = "this";
  ASSERT_TRUE(store().add(run).ok());
  EXPECT_EQ(load_program_runs(path, "this", "")->size(), 1u);
}

TEST_F(AStore, KeepsTheNewestRunsUpToItsLimit) {
  foresight::Calibration many;
  foresight::TrainingRun run = some().runs.front();
  for (long long i = 0; i < CalibrationStore::kMostRows + 5; ++i) {
    run.time = double(i);
    many.runs.push_back(run);
  }
  ASSERT_TRUE(store().add(many).ok());
  auto loaded = load_calibration(path, {.work = {}, .newest_runs = 100000});
  ASSERT_TRUE(loaded.ok()) << loaded.status().text();
  ASSERT_EQ(loaded->runs.size(), size_t(CalibrationStore::kMostRows));
  EXPECT_EQ(std::ranges::min(loaded->runs, {}, &foresight::TrainingRun::time).time, 5);
}

TEST_F(AStore, Forgets) {
  ASSERT_TRUE(store().add(some()).ok());
  EXPECT_EQ(*store().forget("lenet on cifar10"), 3u);
  EXPECT_EQ(*store().forget("mnist"), 44u);
  EXPECT_EQ(*store().forget({}), 1u);
  EXPECT_TRUE(load_calibration(path)->empty());
}

TEST_F(AStore, NoFileIsAnEmptyOneAndADamagedOneIsNamed) {
  EXPECT_TRUE(load_calibration(path)->empty());
  ASSERT_TRUE(make_directories(folder + "/data").ok());
  ASSERT_TRUE(write_file_atomic(path, std::string(5000, 'x')).ok());
  auto damaged = load_calibration(path);
  EXPECT_EQ(damaged.status().code(), Code::Corrupt);
  EXPECT_NE(damaged.status().message().find(path), std::string::npos);
}

}  // namespace
}  // namespace radl
