// Everything measured about this user's trainings: profiles, runs, and study rows. A single value, so that
// predictions are a function of it; its digest is stored with each prediction.
//
// In and out: JSON (docs/model.md has every key). Contains no names of infrastructures, nodes or people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/foresight/published_data.h"
#include "runtime/foresight/step_model.h"

namespace radl::foresight {

// Data throughput in bytes per second; 0: not measured.
struct DataRates {
  double disk_write = 0, disk_read = 0;  // of the user's cache
  double source = 0;                     // from the dataset's source to the machine
  double dataset_bytes = 0;              // size of the dataset; 0: unknown
};

struct MeasuredProfile {
  std::string family;   // for display: "resnet20 on cifar10"
  std::string work;     // Work::digest; "": not recorded by an earlier radlc
  double batch = 0;     // of the measured job; 0: not recorded
  std::string machine;  // machine type as in plans: "local", "ec2 m5.xlarge"
  double cores = 0;     // cores used
  NodeProfile node;
  double flop_per_image = 0;                            // forward and backward
  double convolved = 0;                                 // Work::convolved
  double memory_bytes = 0, memory_bytes_per_image = 0;  // linear fit of memory over batch sizes
  DataRates rates;
  double core_peak = 0;  // MachineFacts::core_peak; 0: unknown
  // Ratio of the 80% band if the machine was busy with other work during the measurement; 0: it was idle.
  double busy_ratio = 0;
  std::string taken_at;  // UTC
  std::string version;   // of radlc
};

struct TrainingRun {
  std::string digest;                           // SHA-256 of the job
  std::string family, work, machine, exchange;  // work: as in a profile
  int workers = 1, servers = 0;
  double batch = 0;                            // of one worker
  double latency_ms = 0, bits_per_second = 0;  // 0: unknown
  // Mean per step, as counted and measured by a worker's links; 0: unknown.
  double sent_bytes = 0, received_bytes = 0, measured_bits_per_second = 0;
  double epochs = 0, images = 0;  // images: of an epoch
  double analytic_seconds = 0;    // of the training, uncorrected; 0: there was no profile
  double seconds = 0;             // of the training
  double cost = 0;                // of the whole run, in units of the currency
  std::string currency;
  double time = 0;  // start, in seconds since 1970
  std::string version;
};

// A measurement of a user program's duration.
struct ProgramRun {
  enum class Kind {
    Ended,         // ran to its end in `seconds`
    Extrapolated,  // ended early; by its progress it takes `seconds`, in the band `low` to `high`
    AtLeast        // ended early after `seconds` without progress output
  };
  std::string family;   // for display: "mnist (train.py)"
  std::string work;     // its identity (docs/ir.md): content, arguments and environment
  std::string machine;  // machine type: "local", "ec2 m5.xlarge"
  double cores = 0;     // per node; 0: unknown
  double gpus = 0;      // per node
  int nodes = 1;
  Kind kind = Kind::Ended;
  double seconds = 0;
  double low = 0, high = 0;  // 80% band of an extrapolation
  std::string progress;      // basis of an extrapolation: "epoch 3 of 10"
  double time = 0;           // start, in seconds since 1970
  std::string version;       // of radlc
};
std::string_view kind_name(ProgramRun::Kind kind);  // "ended", "extrapolated", "at least"

struct Calibration {
  std::vector<MeasuredProfile> profiles;  // for equal work, batch and machine, the last one counts
  std::vector<TrainingRun> runs;          // oldest first
  std::vector<StudyRow> studies;
  std::vector<ProgramRun> programs;  // oldest first
  bool empty() const { return profiles.empty() && runs.empty() && studies.empty() && programs.empty(); }
};

nlohmann::json to_json(const Calibration& calibration);
// Invalid: another version, a missing key, or an invalid number; names the key.
Result<Calibration> calibration_from_json(const nlohmann::json& json);
nlohmann::json to_json(const MeasuredProfile& profile);
Result<MeasuredProfile> profile_from_json(const nlohmann::json& json);
// SHA-256 over its JSON.
std::string digest_of(const Calibration& calibration);

}  // namespace radl::foresight
