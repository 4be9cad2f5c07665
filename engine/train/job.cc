// Reading a job file: one function per object of docs/job.md.
#include "engine/train/job.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "engine/train/job_check.h"
#include "engine/train/json_fields.h"

namespace radl::engine {
namespace {

using Json = nlohmann::json;

const std::vector<std::string_view> kModes = {"async", "sync", "stale", "allreduce", "auto"};
const std::vector<std::string_view> kEncodings = {"fp32", "bf16", "fp16", "int8", "top_k", "power_sgd"};
const std::vector<std::string_view> kOptimizers = {"auto", "sgd", "adamw", "lars", "muon"};
const std::vector<std::string_view> kSchedules = {"constant", "step", "cosine", "linear", "one_cycle"};
const std::vector<std::string_view> kPrecisions = {"auto", "fp32", "bf16"};
const std::vector<std::string_view> kKernels = {"auto",   "accurate", "ref",   "eigen",
                                                "onednn", "own",      "direct"};
const std::vector<std::string_view> kFlips = {"none", "random", "alternate"};
const std::vector<std::string_view> kPaddings = {"reflect", "zero"};
const std::vector<std::string_view> kResume = {"auto", "never", "require"};
const std::vector<std::string_view> kAverages = {"none", "ema", "swa"};
const std::vector<std::string_view> kTasks = {"chief", "ps", "worker"};

constexpr Range kCount{.low = 0};
constexpr Range kShare{.low = 0, .high = 1};

void read_dataset(const Json& json, DatasetSpec& out, Problems& problems) {
  Fields f(json, "dataset", problems);
  f.get("name", out.name);
  f.get("directory", out.directory);
  f.get("train", out.train, kCount);
  f.get("test", out.test, kCount);
  f.get("validation", out.validation, kCount);
  f.get("skip_corrupt", out.skip_corrupt);
  std::vector<double> shape;
  f.get("shape", shape, {.low = 1, .high = 16384});
  out.shape.assign(shape.begin(), shape.end());
  if (!shape.empty() && shape.size() != 3) problems.add("dataset.shape", "must be [height, width, channels]");
}

void read_optimizer(const Json& json, OptimizerConfig& out, Problems& problems) {
  Fields f(json, "optimizer", problems);
  for_settings(out, [&f]<class... B>(const char* key, auto& value, B... bounds) {
    if constexpr (std::is_same_v<decltype(value), std::string&>)
      f.get_name(key, kOptimizers, value);
    else if constexpr (sizeof...(B) == 0)
      f.get(key, value);
    else
      f.get(key, value, Range{bounds.low..., bounds.high...});
  });
}

void read_schedule(const Json& json, ScheduleSpec& out, Problems& problems) {
  Fields f(json, "schedule", problems);
  f.get_name("name", kSchedules, out.name);
  f.get("peak", out.peak, {.low = 1e-9, .high = 1000});
  f.get("warmup", out.warmup, {.low = 0, .high = 0.999});
  f.get("final", out.final, kShare);
  f.get("milestones", out.milestones, kShare);
  f.get("gamma", out.gamma, {.low = 0, .high = 1, .low_open = true});
}

void read_augment(const Json& json, AugmentSpec& out, Problems& problems) {
  Fields f(json, "augment", problems);
  if (json.is_object() && json.contains("flip") && json["flip"].is_boolean()) {  // true: random
    bool flip = false;
    f.get("flip", flip);
    out.flip = flip ? "random" : "none";
  } else {
    f.get_name("flip", kFlips, out.flip);
  }
  f.get("translate", out.translate, {.low = 0, .high = 1024});
  f.get_name("padding", kPaddings, out.padding);
  f.get("cutout", out.cutout, {.low = 0, .high = 1024});
  f.get("crop_area", out.crop_area, {.low = 0, .high = 1, .low_open = true});
  f.get("brightness", out.brightness, kShare);
  f.get("contrast", out.contrast, kShare);
  f.get("saturation", out.saturation, kShare);
}

void read_resize(Fields& top, std::vector<ResizeSpec>& out, Problems& problems) {
  const Json* list = top.array("resize");
  if (list == nullptr) return;
  out.clear();
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("resize[{}]", i);
    Fields f((*list)[i], path, problems);
    f.get("scale", out.emplace_back().scale, {.low = 0, .high = 1, .low_open = true});
    f.get("until", out.back().until, {.low = 0, .high = 1, .low_open = true});
    if (i > 0 && out[i].until <= out[i - 1].until) problems.add(path + ".until", "must rise");
  }
}

void read_sync(const Json& json, SyncSpec& out, Problems& problems) {
  Fields f(json, "sync", problems);
  int mode = static_cast<int>(out.mode), gradients = static_cast<int>(out.gradients),
      weights = static_cast<int>(out.weights);
  f.get_name("mode", kModes, mode);
  f.get("staleness", out.staleness, {.low = 0, .high = 1e6});
  f.get("backup_workers", out.backup_workers, {.low = 0, .high = 1e6});
  f.get("compensation", out.compensation, {.low = 0, .high = 1e6});
  f.get_name("gradients", kEncodings, gradients);
  f.get("density", out.density, {.low = 0, .high = 1, .low_open = true});
  f.get("rank", out.rank, {.low = 1, .high = 64});
  f.get_name("weights", kEncodings, weights);
  f.get("overlap", out.overlap);
  f.get("local_steps", out.local_steps, {.low = 1, .high = 1e6});
  f.get("delay", out.delay, kCount);
  f.get("outer_rate", out.outer_rate, {.low = 0, .high = 4, .low_open = true});
  f.get("outer_momentum", out.outer_momentum, {.low = 0, .high = 0.999});
  out.mode = static_cast<SyncMode>(mode);
  out.gradients = static_cast<Encoding>(gradients);
  out.weights = static_cast<Encoding>(weights);
}

void read_pace(const Json& json, PaceSpec& out, Problems& problems) {
  Fields f(json, "pace", problems);
  f.get("fixed_seconds", out.fixed_seconds, {.low = 0, .high = 3600});
  f.get("seconds_per_image", out.seconds_per_image, {.low = 0, .high = 3600});
  f.get("spread", out.spread, kShare);
  if (!out.given()) problems.add("pace", "needs fixed_seconds or seconds_per_image");
}

void read_cluster(const Json& json, ClusterSpec& out, Problems& problems) {
  Fields f(json, "cluster", problems);
  f.get("chief", out.chief);
  f.get("ps", out.ps);
  f.get("worker", out.worker);
  f.get("evaluator", out.evaluator);
}

void read_task(const Json& json, TaskSpec& out, Problems& problems) {
  Fields f(json, "task", problems);
  f.get_name("type", kTasks, out.type);
  f.get("index", out.index, {.low = 0, .high = 65535});
  f.get("listen", out.listen);
}

void read_checkpoint(const Json& json, CheckpointSpec& out, Problems& problems) {
  Fields f(json, "checkpoint", problems);
  f.get("every_epochs", out.every_epochs, kCount);
  f.get("every_seconds", out.every_seconds, kCount);
  f.get("keep", out.keep, {.low = 1, .high = 1000});
  f.get("share", out.share, kShare);
}

void read_evaluate(const Json& json, EvaluateSpec& out, Problems& problems) {
  Fields f(json, "evaluate", problems);
  f.get("every_epochs", out.every_epochs, kCount);
  f.get("flip", out.flip);
  f.get("translate", out.translate, {.low = 0, .high = 1024});
}

void read_directories(const Json& json, DirectorySpec& out, Problems& problems) {
  Fields f(json, "directories", problems);
  f.get("checkpoint", out.checkpoint);
  f.get("events", out.events);
  f.get("model", out.model);
}

// Texts by name.
void read_texts(Fields& f, const char* key, std::map<std::string, std::string>& out, Problems& problems) {
  const Json* object = f.object(key);
  if (object == nullptr) return;
  out.clear();
  for (const auto& [name, value] : object->items()) {
    if (value.is_string())
      out[name] = value.get<std::string>();
    else
      problems.add(f.path_of(key) + "." + name, "must be a string");
  }
}

void read_interruption(const Json& json, NoticeSpec& out, Problems& problems) {
  Fields f(json, "interruption", problems);
  f.get("url", out.url);
  read_texts(f, "headers", out.headers, problems);
  f.get("session_url", out.session_url);
  f.get("session_header", out.session_header);
  read_texts(f, "session_headers", out.session_headers, problems);
  f.get("every_seconds", out.every_seconds, {.low = 0.1, .high = 3600});
  f.get("says", out.says);
  f.get("list", out.list);
  read_texts(f, "where", out.where, problems);
  f.get("action", out.action);
  f.get("time", out.time);
  if (out.url.empty()) problems.add("interruption.url", "is missing: where this machine asks");
  for (const auto& [key, url] : {std::pair{"url", out.url}, {"session_url", out.session_url}})
    if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://"))
      problems.add(f.path_of(key), fmt::format("is \"{}\", which is not an http or https URL", url));
  if (out.session_url.empty() != out.session_header.empty())
    problems.add("interruption.session_url", "and session_header belong together");
}

// An object, or a number: the decay of an exponential mean.
void read_average(Fields& top, const Json& json, AverageSpec& out, Problems& problems) {
  if (json.is_object() && json.contains("average") && json["average"].is_number()) {
    double decay = 0;
    top.get("average", decay, {.low = 0, .high = 0.99999});
    if (decay > 0) out = {"ema", decay, 0};
    return;
  }
  const Json* object = top.object("average");
  if (object == nullptr) return;
  Fields f(*object, "average", problems);
  f.get_name("kind", kAverages, out.kind);
  f.get("decay", out.decay, {.low = 0, .high = 0.99999, .low_open = true});
  f.get("from", out.from, {.low = 0, .high = 0.999});
}

template <class Spec>
void read_part(Fields& f, const char* key, Spec& out, Problems& problems,
               void (*read)(const Json&, Spec&, Problems&)) {
  if (const Json* part = f.object(key)) read(*part, out, problems);
}

void read_top(const Json& json, Job& job, Problems& problems) {
  Fields f(json, "", problems);
  int version = kJobVersion, resume = 0;
  f.get("job", version);
  if (json.is_object() && !f.has("job")) problems.add("job", "is missing: the version of the job file, 1");
  f.get("model", job.model);
  read_part(f, "dataset", job.dataset, problems, read_dataset);
  f.get("batch_size", job.batch_size, {.low = 1, .high = 1 << 20});
  f.get("epochs", job.epochs, {.low = 0, .high = 1e6, .low_open = true});
  f.get_name("precision", kPrecisions, job.precision);
  f.get("seed", job.seed);
  f.get("threads", job.threads, {.low = 0, .high = 4096});
  f.get_name("kernels", kKernels, job.kernels);
  read_part(f, "optimizer", job.optimizer, problems, read_optimizer);
  read_part(f, "schedule", job.schedule, problems, read_schedule);
  f.get("label_smoothing", job.label_smoothing, {.low = 0, .high = 0.999});
  f.get("accumulate", job.accumulate, {.low = 1, .high = 1 << 20});
  read_average(f, json, job.average, problems);
  read_part(f, "augment", job.augment, problems, read_augment);
  read_resize(f, job.resize, problems);
  read_part(f, "sync", job.sync, problems, read_sync);
  read_part(f, "pace", job.pace, problems, read_pace);
  read_part(f, "cluster", job.cluster, problems, read_cluster);
  read_part(f, "task", job.task, problems, read_task);
  read_part(f, "checkpoint", job.checkpoint, problems, read_checkpoint);
  read_part(f, "evaluate", job.evaluate, problems, read_evaluate);
  read_part(f, "directories", job.directories, problems, read_directories);
  f.get_name("resume", kResume, resume);
  job.resume = static_cast<Resume>(resume);
  f.get("secrets", job.secrets);
  f.get("progress", job.progress);
  f.get("metrics", job.metrics);
  f.get("report", job.report);
  read_part(f, "interruption", job.interruption, problems, read_interruption);
  f.get("peer_timeout_seconds", job.peer_timeout_seconds, {.low = 0.1, .high = 3600});
  f.get("start_timeout_seconds", job.start_timeout_seconds, {.low = 0.1, .high = 86400});
}

std::string beside(const std::filesystem::path& folder, const std::string& path) {
  const bool elsewhere = path.find("://") != std::string::npos;  // s3://..., https://...
  if (path.empty() || elsewhere || std::filesystem::path(path).is_absolute()) return path;
  return (folder / path).lexically_normal().string();
}

}  // namespace

std::string_view sync_mode_name(SyncMode mode) { return kModes[static_cast<size_t>(mode)]; }
std::string_view encoding_name(Encoding encoding) { return kEncodings[static_cast<size_t>(encoding)]; }

std::vector<KeyInfo> job_keys() {
  std::vector<KeyInfo> keys;
  Problems problems(keys);
  Job job;
  read_top(Json::object(), job, problems);
  return keys;
}

Result<Job> parse_job(std::string_view text, std::string_view file) {
  Result<Json> json = parse_json_strict(text, file);
  if (!json) return std::move(json).status();
  if (json->is_object() && json->contains("job") && (*json)["job"].is_number_integer() &&
      (*json)["job"].get<int64_t>() != kJobVersion) {
    return Status(Code::Unsupported,
                  fmt::format("{}: job: version {} is not known here, this program reads version {}", file,
                              (*json)["job"].get<int64_t>(), kJobVersion));
  }
  Job job;
  Problems problems;
  read_top(*json, job, problems);
  if (problems.empty()) check_all(job, problems);
  if (Status wrong = problems.status(file); !wrong.ok()) return wrong;
  return job;
}

Result<Job> read_job(const std::string& path) {
  Result<std::string> text = read_file(path, 16 << 20);
  if (!text) return std::move(text).status();
  Result<Job> job = parse_job(*text, path);
  if (!job) return job;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  for (std::string* p : {&job->dataset.directory, &job->directories.checkpoint, &job->directories.events,
                         &job->directories.model, &job->secrets, &job->progress, &job->report}) {
    *p = beside(folder, *p);
  }
  return job;
}

}  // namespace radl::engine
