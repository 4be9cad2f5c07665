// The job file as a value: what one run of the engine trains, on which data, and as which member of a
// cluster.
//
// docs/job.md is the contract; this header mirrors it in C++. read_job() is strict: an unknown key, a wrong
// type or a value out of range is Invalid, and the message names the key by its path ("optimizer.momentum").
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/eviction_notice.h"
#include "common/status.h"
#include "engine/optim/optimizer_config.h"

namespace radl::engine {

inline constexpr int kJobVersion = 1;

// A key that the job leaves to the engine (defaults.h); write_job() omits it.
inline constexpr int kChosenSize = std::numeric_limits<int>::min();
inline constexpr double kChosen = -std::numeric_limits<double>::infinity();

struct DatasetSpec {
  std::string name = "cifar10";
  std::string directory;
  int64_t train = 0;       // limit on training images; 0: all
  int64_t test = 0;        // same for the test set
  int64_t validation = 0;  // held out from the end of the training set and evaluated instead of the test set
  bool skip_corrupt = false;  // skip and count corrupt images instead of failing
  std::vector<int> shape;     // [height, width, channels] to which images of a folder are scaled
};

struct ScheduleSpec {
  std::string name = "one_cycle";  // constant, step, cosine, linear, one_cycle
  double peak = kChosen;           // highest learning rate
  double warmup = kChosen;         // share of the run during which it rises to the peak
  double final = 0;                // last learning rate as a share of the peak
  std::vector<double> milestones;  // step: shares of the run
  double gamma = 0.1;              // step: factor at each milestone
};

struct AugmentSpec {
  std::string flip = "none";        // none, random, alternate (every image mirrored every other epoch)
  int translate = 0;                // largest shift in pixels
  std::string padding = "reflect";  // pixels beyond the edge of a shifted image: reflect, zero
  int cutout = 0;                   // side of the square set to the mean, in pixels
  double crop_area = 1;             // below 1: random resized crop of at least this share of the area
  double brightness = 0, contrast = 0, saturation = 0;  // factors within 1 +- this
};

// Until the share `until` of the run, images are scaled to the share `scale` of their sides.
struct ResizeSpec {
  double scale = 1, until = 1;
};

enum class SyncMode { Async, Sync, Stale, AllReduce, Auto };
// True if the workers exchange sums directly, without servers.
inline bool without_servers(SyncMode mode) { return mode == SyncMode::AllReduce || mode == SyncMode::Auto; }
enum class Encoding : uint8_t { Fp32 = 0, Bf16 = 1, Fp16 = 2, Int8 = 3, TopK = 4, PowerSgd = 5 };
// True if members send a small part of the gradient instead of all numbers (cluster/codec.h).
inline bool compresses(Encoding e) { return e == Encoding::TopK || e == Encoding::PowerSgd; }

struct SyncSpec {
  SyncMode mode = SyncMode::Async;
  int staleness = 0;                    // stale: how many steps a worker may be ahead of the slowest
  int backup_workers = 0;               // sync: number of the slowest workers that a round ignores
  double compensation = 0;              // async, stale: factor of the correction of delayed gradients
  Encoding gradients = Encoding::Fp32;  // encoding of gradients
  double density = 0.001;               // top_k: share of the numbers that a worker sends
  int rank = 2;                         // power_sgd: of the matrices that are sent
  Encoding weights = Encoding::Fp32;    // encoding of weights sent to workers (servers keep fp32)
  bool overlap = true;                  // exchange gradients while the backward pass still computes
  int local_steps = 1;                  // steps of a worker between two exchanges
  int delay = 0;                        // number of these steps that run during an exchange
  double outer_rate = 1;                // share of the mean change that members apply,
  double outer_momentum = kChosen;      // with this momentum; kChosen: 0, or with a delay by the workers
};

// Averaging of weights during training. If enabled, the averages are evaluated and stored.
struct AverageSpec {
  std::string kind = "none";  // none; ema: exponential mean; swa: equal mean over the updates from `from` on
  double decay = 0.999;       // ema
  double from = 0;            // share of the run after which averaging begins
};

struct ClusterSpec {
  std::vector<std::string> chief, ps, worker, evaluator;  // "host:port", "[::1]:port"
  bool empty() const { return chief.empty() && ps.empty() && worker.empty(); }
};

// This process's role in the cluster. "" without a cluster.
struct TaskSpec {
  std::string type;  // chief, ps, worker
  int index = 0;
  // Listening address, "host:port", if a forwarder sits before this member's address in the cluster. "":
  // listen at that address.
  std::string listen = {};
  std::string name() const { return type.empty() ? "local" : type + "/" + std::to_string(index); }
};

struct CheckpointSpec {
  double every_epochs = 1;    // 0: only by time and at the end
  double every_seconds = 60;  // 0: only by epochs and at the end
  int keep = 2;
  // Share of the run's time that checkpoints may cost: a checkpoint is postponed until the last one's cost is
  // at most this share of the time since. 0: no limit.
  double share = 0.01;
};

struct EvaluateSpec {
  double every_epochs = 1;  // 0: only at the end
  // Test-time augmentation of the final evaluation, reported separately: mirrored images, and images shifted
  // by this many pixels along both diagonals.
  bool flip = false;
  int translate = 0;
};

struct DirectorySpec {
  std::string checkpoint, events, model;  // "": not written
};

// Simulated duration of a step: nothing is computed or learned, but everything else (batches, exchanges,
// updates) runs normally. Shows how a network would serve a cluster of machines that do not exist.
struct PaceSpec {
  double fixed_seconds = 0, seconds_per_image = 0;
  double spread = 0;  // relative standard deviation of a step's time
  bool given() const { return fixed_seconds > 0 || seconds_per_image > 0; }
};

enum class Resume { Auto, Never, Require };

struct Job {
  std::string model = "resnet20";  // a zoo name or the text of a description
  DatasetSpec dataset;
  int batch_size = kChosenSize;  // images per step of one worker
  double epochs = 10;
  std::string precision = "auto";  // auto, fp32, bf16
  uint64_t seed = 1;
  int threads = 0;               // 0: all cores available to this process
  std::string kernels = "auto";  // auto, ref, eigen, onednn, own
  OptimizerConfig optimizer{.name = "auto", .nesterov = true, .weight_decay = 5e-4};
  ScheduleSpec schedule;
  double label_smoothing = 0;
  int accumulate = 1;  // splits a batch into this many pieces and adds their gradients, to save memory
  AverageSpec average;
  AugmentSpec augment;
  std::vector<ResizeSpec> resize;  // ascending `until`; full size afterwards
  SyncSpec sync;
  PaceSpec pace;
  ClusterSpec cluster;
  TaskSpec task;
  CheckpointSpec checkpoint;
  EvaluateSpec evaluate;
  DirectorySpec directories;
  Resume resume = Resume::Auto;
  std::string secrets;      // file with the job's key, hex
  std::string progress;     // file for JSON lines, "": none
  NoticeSpec interruption;  // if given, this machine is checked for imminent interruption
  std::string metrics;      // "host:port" of this member's Prometheus endpoint; "": none
  std::string report;       // file for the run report (JSON), "": report.json in directories.model
  double peer_timeout_seconds = 10;
  double start_timeout_seconds = 120;  // how long a member waits for the others
};

// Parses the text of a job file. `file` is for messages.
Result<Job> parse_job(std::string_view text, std::string_view file);
// Reads a file and resolves its relative paths from its folder.
Result<Job> read_job(const std::string& path);
// The job as JSON with every key in the order of docs/job.md, so that equal jobs give equal bytes.
std::string write_job(const Job& job);

// Takes cluster and task from the value of a TF_CONFIG variable and ignores the rest, like TensorFlow.
// "master" counts as chief. Invalid: malformed.
Status apply_tf_config(Job& job, std::string_view text);

// Checks the constraints between keys. parse_job calls it; call it again after changing a job.
Status check_job(const Job& job);

// Digest of everything that all members of a job must agree on, as lower-case hex: all but task, paths,
// threads and kernels.
std::string job_digest(const Job& job);

// The settings that a checkpoint and the resuming job must agree on, as JSON: the model, the data, how a step
// is computed and how members combine steps. Excludes what may change: number of epochs, test images,
// members, machines and outputs.
std::string resume_settings(const Job& job);
// The differences of two resume_settings: "schedule.peak (0.1, now 0.2), seed (1, now 2)"; "" if none.
std::string differing_settings(const std::string& before, const std::string& now);

std::string_view sync_mode_name(SyncMode mode);
std::string_view encoding_name(Encoding encoding);

}  // namespace radl::engine
