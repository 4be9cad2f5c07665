// What was measured stays, once each, and can be forgotten.
#include "runtime/runs/calibration_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
    profile.machine = "local";
    profile.cores = 2;
    profile.node.steps.points = {{32, 0.01}, {128, 0.04}};
    calibration.profiles = {profile};
    for (int i = 0; i < 3; ++i) {
      foresight::TrainingRun run;
      run.digest = "d";
      run.family = i < 2 ? "lenet on cifar10" : "resnet20 on cifar10";
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

TEST_F(AStore, WhatAnEarlierRadlcKeptIsReadAndAddedTo) {
  ASSERT_TRUE(store().add(some()).ok());
  {
    auto database = Database::open(path, Database::Access::ReadWrite);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database
                    ->exec("ALTER TABLE runs DROP COLUMN sent_bytes; ALTER TABLE runs DROP COLUMN "
                           "received_bytes; ALTER TABLE runs DROP COLUMN measured_bits_per_second; "
                           "PRAGMA user_version = 1;")
                    .ok());
  }
  auto read = load_calibration(path);  // by a plan, which changes nothing
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(to_json(*read), to_json(some()));
  foresight::TrainingRun run = some().runs.front();
  run.time = 5000;
  run.sent_bytes = 1e6;
  run.measured_bits_per_second = 1e9;
  ASSERT_TRUE(store().add(run).ok());
  auto now = load_calibration(path);
  ASSERT_TRUE(now.ok()) << now.status().text();
  EXPECT_EQ(now->runs.back().sent_bytes, 1e6);
  EXPECT_EQ(now->runs.back().measured_bits_per_second, 1e9);
  EXPECT_EQ(now->runs.front().sent_bytes, 0);
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

TEST_F(AStore, APlanReadsTheNewestRunsOfItsFamily) {
  ASSERT_TRUE(store().add(some()).ok());
  auto loaded = load_calibration(path, {"lenet on cifar10", 1});
  ASSERT_EQ(loaded->runs.size(), 1u);
  EXPECT_EQ(loaded->runs[0].seconds, 11);
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
