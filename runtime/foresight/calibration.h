// What is known of this user's trainings: profiles, runs, and rows of studies. Frozen as one value, so that a
// prediction is a function of it; its digest stands beside what was predicted.
//
// In and out: JSON (docs/model.md has every key). No name of an infrastructure, node or person is in it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/foresight/published_data.h"
#include "runtime/foresight/step_model.h"

namespace radl::foresight {

// How fast data moved, bytes a second; 0: not measured.
struct DataRates {
  double disk_write = 0, disk_read = 0;  // of the user's cache
  double source = 0;                     // from where the dataset lies to the machine
  double dataset_bytes = 0;              // of the dataset there; 0: not known
};

struct MeasuredProfile {
  std::string family;   // for people: "resnet20 on cifar10"
  std::string work;     // Work::digest; "": an earlier radlc measured it and did not record it
  double batch = 0;     // of the job that was measured; 0: not recorded
  std::string machine;  // the kind of machine, as plans name it: "local", "ec2 m5.xlarge"
  double cores = 0;     // that it ran on
  NodeProfile node;
  double flop_per_image = 0;                            // forward and backward
  double convolved = 0;                                 // Work::convolved
  double memory_bytes = 0, memory_bytes_per_image = 0;  // a line through what the batches took
  DataRates rates;
  double core_peak = 0;  // MachineFacts::core_peak; 0: not known
  // Of the band at 80%, where the machine was busy with other work while it was measured; 0: it was not.
  double busy_ratio = 0;
  std::string taken_at;  // UTC
  std::string version;   // of radlc
};

struct TrainingRun {
  std::string digest;                           // SHA-256 of the job
  std::string family, work, machine, exchange;  // work: as of a profile
  int workers = 1, servers = 0;
  double batch = 0;                            // of one worker
  double latency_ms = 0, bits_per_second = 0;  // 0: not known
  // As a worker's links carried and found them, in the mean of a step; 0: not known.
  double sent_bytes = 0, received_bytes = 0, measured_bits_per_second = 0;
  double epochs = 0, images = 0;  // images: of an epoch
  double analytic_seconds = 0;    // of the training, before any correction; 0: there was no profile
  double seconds = 0;             // of the training
  double cost = 0;                // of the whole run, units of the currency
  std::string currency;
  double time = 0;  // of its begin, seconds since 1970
  std::string version;
};

// What a run of a program of the user's own tells about its time.
struct ProgramRun {
  enum class Kind {
    Ended,         // it ran to its end in `seconds`
    Extrapolated,  // it was ended early; by its own progress it takes `seconds`, in the band `low` to `high`
    AtLeast        // it was ended early after `seconds`, and printed no progress
  };
  std::string family;   // for people: "mnist (train.py)"
  std::string work;     // its identity (docs/ir.md): content, arguments and environment
  std::string machine;  // the kind of machine: "local", "ec2 m5.xlarge"
  double cores = 0;     // of one node; 0: not known
  double gpus = 0;      // of one node
  int nodes = 1;
  Kind kind = Kind::Ended;
  double seconds = 0;
  double low = 0, high = 0;  // of an extrapolation, at 80%
  std::string progress;      // what an extrapolation is made of: "epoch 3 of 10"
  double time = 0;           // of its begin, seconds since 1970
  std::string version;       // of radlc
};
std::string_view kind_name(ProgramRun::Kind kind);  // "ended", "extrapolated", "at least"

struct Calibration {
  std::vector<MeasuredProfile> profiles;  // of the same work, batch and machine the last one counts
  std::vector<TrainingRun> runs;          // oldest first
  std::vector<StudyRow> studies;
  std::vector<ProgramRun> programs;  // oldest first
  bool empty() const { return profiles.empty() && runs.empty() && studies.empty() && programs.empty(); }
};

nlohmann::json to_json(const Calibration& calibration);
// Invalid: another version, a missing key, a number that is none; names the key.
Result<Calibration> calibration_from_json(const nlohmann::json& json);
nlohmann::json to_json(const MeasuredProfile& profile);
Result<MeasuredProfile> profile_from_json(const nlohmann::json& json);
// SHA-256 over its JSON.
std::string digest_of(const Calibration& calibration);

}  // namespace radl::foresight
