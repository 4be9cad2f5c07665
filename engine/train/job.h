// The job file as a value: what one run of the engine trains, with what, where, and as which member of a
// cluster.
//
// docs/job.md is the contract; this header is its shape in C++. read_job() is strict: an unknown key, a wrong
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

// A key that the job leaves to the engine (defaults.h): it is not written.
inline constexpr int kChosenSize = std::numeric_limits<int>::min();
inline constexpr double kChosen = -std::numeric_limits<double>::infinity();

struct DatasetSpec {
  std::string name = "cifar10";
  std::string directory;
  int64_t train = 0;       // use at most so many training images; 0: all there are
  int64_t test = 0;        // likewise for the test set
  int64_t validation = 0;  // held out from the end of the training set and evaluated instead of the test set
  bool skip_corrupt = false;  // leave corrupt images out and count them instead of failing
  std::vector<int> shape;     // [height, width, channels] to which images of a folder are scaled
};

struct ScheduleSpec {
  std::string name = "one_cycle";  // constant, step, cosine, linear, one_cycle
  double peak = kChosen;           // the largest learning rate
  double warmup = kChosen;         // share of the run in which it rises to the peak
  double final = 0;                // last learning rate as a share of the peak
  std::vector<double> milestones;  // step: shares of the run
  double gamma = 0.1;              // step: factor at each milestone
};

struct AugmentSpec {
  std::string flip = "none";        // none, random, alternate (every image mirrored every other epoch)
  int translate = 0;                // largest shift in pixels
  std::string padding = "reflect";  // what a shift shows beyond the edge: reflect, zero
  int cutout = 0;                   // side of the square set to the mean, in pixels
  double crop_area = 1;             // below 1: random resized crop with this smallest share of the area
  double brightness = 0, contrast = 0, saturation = 0;  // factors within 1 +- this
};

// Until that share of the run, images are scaled to that share of their sides.
struct ResizeSpec {
  double scale = 1, until = 1;
};

enum class SyncMode { Async, Sync, Stale, AllReduce, Auto };
// Whether the workers exchange sums among themselves, without servers.
inline bool without_servers(SyncMode mode) { return mode == SyncMode::AllReduce || mode == SyncMode::Auto; }
enum class Encoding : uint8_t { Fp32 = 0, Bf16 = 1, Fp16 = 2, Int8 = 3, TopK = 4, PowerSgd = 5 };
// Whether members send a small part of the gradient in place of all numbers (cluster/codec.h).
inline bool compresses(Encoding e) { return e == Encoding::TopK || e == Encoding::PowerSgd; }

struct SyncSpec {
  SyncMode mode = SyncMode::Async;
  int staleness = 0;                    // stale: how many steps a worker may be ahead of the slowest
  Encoding gradients = Encoding::Fp32;  // how gradients travel
  double density = 0.001;               // top_k: share of the numbers that a worker sends
  int rank = 2;                         // power_sgd: of the matrices that travel
  Encoding weights = Encoding::Fp32;    // how weights travel to the workers (the servers keep fp32)
  int local_steps = 1;                  // steps a worker takes on its own between two exchanges
  int delay = 0;                        // of them, steps that it takes while an exchange runs
  double outer_rate = 1;                // what of the mean change the members take,
  double outer_momentum = kChosen;      // with this momentum; kChosen: 0, or with a delay by the workers
};

// Weights averaged beside the training ones; where there are any, they are evaluated and kept.
struct AverageSpec {
  std::string kind = "none";  // none; ema: exponential mean; swa: equal mean over the updates from `from` on
  double decay = 0.999;       // ema
  double from = 0;            // share of the run after which averaging begins
};

struct ClusterSpec {
  std::vector<std::string> chief, ps, worker, evaluator;  // "host:port", "[::1]:port"
  bool empty() const { return chief.empty() && ps.empty() && worker.empty(); }
};

// Which member of the cluster this process is. "" without a cluster.
struct TaskSpec {
  std::string type;  // chief, ps, worker
  int index = 0;
  // Where it listens, "host:port", if the others reach it at its address of the cluster through a forwarder.
  // "": at that address.
  std::string listen = {};
  std::string name() const { return type.empty() ? "local" : type + "/" + std::to_string(index); }
};

struct CheckpointSpec {
  double every_epochs = 1;    // 0: only by time and at the end
  double every_seconds = 60;  // 0: only by epochs and at the end
  int keep = 2;
  // Of the run's time that checkpoints may cost: one that is due waits until the last one's cost is no more
  // than this part of the time since. 0: no limit.
  double share = 0.01;
};

struct EvaluateSpec {
  double every_epochs = 1;  // 0: only at the end
  // Test-time augmentation of the final evaluation, reported apart: over mirrored images, and over those
  // shifted by so many pixels along both diagonals.
  bool flip = false;
  int translate = 0;
};

struct DirectorySpec {
  std::string checkpoint, events, model;  // "": not written
};

// What a step takes in place of being computed: nothing is learned, everything else (batches, exchanges,
// updates) is as always. Shows what a network makes of a cluster of machines that are not there.
struct PaceSpec {
  double fixed_seconds = 0, seconds_per_image = 0;
  double spread = 0;  // standard deviation of a step's time, relative
  bool given() const { return fixed_seconds > 0 || seconds_per_image > 0; }
};

enum class Resume { Auto, Never, Require };

struct Job {
  std::string model = "resnet20";  // a zoo name or the text of a description
  DatasetSpec dataset;
  int batch_size = kChosenSize;  // images in one step of one worker
  double epochs = 10;
  std::string precision = "auto";  // auto, fp32, bf16
  uint64_t seed = 1;
  int threads = 0;               // 0: all cores this process may use
  std::string kernels = "auto";  // auto, ref, eigen, onednn, own
  OptimizerConfig optimizer{.name = "auto", .nesterov = true, .weight_decay = 5e-4};
  ScheduleSpec schedule;
  double label_smoothing = 0;
  int accumulate = 1;  // a batch is computed in so many pieces, their gradients added: less memory
  AverageSpec average;
  AugmentSpec augment;
  std::vector<ResizeSpec> resize;  // rising in `until`; afterwards the whole size
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
  NoticeSpec interruption;  // whether this machine is taken back is looked at where it is given
  std::string metrics;      // "host:port" at which this member answers Prometheus, "": nowhere
  std::string report;       // file for the run report (JSON), "": report.json in directories.model
  double peer_timeout_seconds = 10;
  double start_timeout_seconds = 120;  // how long a member waits for the others to appear
};

// Reads the text of a job file. `file` is used in messages.
Result<Job> parse_job(std::string_view text, std::string_view file);
// Reads a file and makes its relative paths relative to its folder.
Result<Job> read_job(const std::string& path);
// The job as JSON: every key, in the order of docs/job.md, so that equal jobs give equal bytes.
std::string write_job(const Job& job);

// Takes cluster and task from the text of a TF_CONFIG variable; whatever else it says is ignored, as
// TensorFlow does. "master" counts as chief. Invalid when it is not of that form.
Status apply_tf_config(Job& job, std::string_view text);

// What must hold between keys (called by parse_job; call it again after changing a job).
Status check_job(const Job& job);

// What all members of a job must agree on, as lower-case hex: everything but task, paths, threads and
// kernels.
std::string job_digest(const Job& job);

// What a checkpoint and the job that goes on from it must agree on, as JSON: the model, the data, how a step
// is computed and how members combine theirs. Left out is what may change on the way: the number of epochs,
// the test images, members, machines and outputs.
std::string resume_settings(const Job& job);
// "schedule.peak (0.1, now 0.2), seed (1, now 2)": where two resume_settings differ, "" if they do not.
std::string differing_settings(const std::string& before, const std::string& now);

std::string_view sync_mode_name(SyncMode mode);
std::string_view encoding_name(Encoding encoding);

}  // namespace radl::engine
