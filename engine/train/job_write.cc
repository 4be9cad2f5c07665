// Writing a job file, its digest, and the TF_CONFIG form of a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/shorten.h"
#include "engine/train/job.h"
#include "engine/train/json_fields.h"

namespace radl::engine {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string_view resume_name(Resume resume) {
  return resume == Resume::Auto ? "auto" : resume == Resume::Never ? "never" : "require";
}

// What decides the result of the training.
OrderedJson result_part(const Job& job) {
  const ScheduleSpec& s = job.schedule;
  OrderedJson out;
  out["job"] = kJobVersion;
  out["model"] = job.model;
  out["dataset"] = {{"name", job.dataset.name},
                    {"directory", job.dataset.directory},
                    {"train", job.dataset.train},
                    {"test", job.dataset.test},
                    {"validation", job.dataset.validation},
                    {"skip_corrupt", job.dataset.skip_corrupt},
                    {"shape", job.dataset.shape}};
  if (job.batch_size != kChosenSize) out["batch_size"] = job.batch_size;
  out["epochs"] = job.epochs;
  out["precision"] = job.precision;
  out["seed"] = job.seed;
  for_settings(job.optimizer,
               [&out](const char* key, const auto& value, auto...) { out["optimizer"][key] = value; });
  out["schedule"]["name"] = s.name;
  if (s.peak != kChosen) out["schedule"]["peak"] = s.peak;
  if (s.warmup != kChosen) out["schedule"]["warmup"] = s.warmup;
  out["schedule"].update(OrderedJson{{"final", s.final}, {"milestones", s.milestones}, {"gamma", s.gamma}});
  out["label_smoothing"] = job.label_smoothing;
  out["accumulate"] = job.accumulate;
  out["average"] = {{"kind", job.average.kind}, {"decay", job.average.decay}, {"from", job.average.from}};
  const AugmentSpec& a = job.augment;
  out["augment"] = {{"flip", a.flip},         {"translate", a.translate},  {"padding", a.padding},
                    {"cutout", a.cutout},     {"crop_area", a.crop_area},  {"brightness", a.brightness},
                    {"contrast", a.contrast}, {"saturation", a.saturation}};
  OrderedJson resize = OrderedJson::array();
  for (const ResizeSpec& r : job.resize) resize.push_back({{"scale", r.scale}, {"until", r.until}});
  out["resize"] = resize;
  out["sync"] = {{"mode", sync_mode_name(job.sync.mode)},
                 {"staleness", job.sync.staleness},
                 {"gradients", encoding_name(job.sync.gradients)},
                 {"weights", encoding_name(job.sync.weights)},
                 {"local_steps", job.sync.local_steps}};
  if (job.sync.density != SyncSpec().density) out["sync"]["density"] = job.sync.density;
  if (job.sync.rank != SyncSpec().rank) out["sync"]["rank"] = job.sync.rank;
  if (job.sync.backup_workers > 0) out["sync"]["backup_workers"] = job.sync.backup_workers;
  if (job.sync.compensation > 0) out["sync"]["compensation"] = job.sync.compensation;
  if (!job.sync.overlap) out["sync"]["overlap"] = false;
  if (job.sync.delay > 0) out["sync"]["delay"] = job.sync.delay;
  if (job.sync.outer_rate != SyncSpec().outer_rate) out["sync"]["outer_rate"] = job.sync.outer_rate;
  if (job.sync.outer_momentum != kChosen) out["sync"]["outer_momentum"] = job.sync.outer_momentum;
  if (job.pace.given())
    out["pace"] = {{"fixed_seconds", job.pace.fixed_seconds},
                   {"seconds_per_image", job.pace.seconds_per_image},
                   {"spread", job.pace.spread}};
  return out;
}

OrderedJson interruption_part(const NoticeSpec& notice) {
  OrderedJson out = {{"url", notice.url}};
  if (!notice.headers.empty()) out["headers"] = notice.headers;
  if (!notice.session_url.empty()) {
    out["session_url"] = notice.session_url;
    out["session_header"] = notice.session_header;
    out["session_headers"] = notice.session_headers;
  }
  out["every_seconds"] = notice.every_seconds;
  if (!notice.says.empty()) out["says"] = notice.says;
  if (!notice.list.empty()) out["list"] = notice.list;
  if (!notice.where.empty()) out["where"] = notice.where;
  out["action"] = notice.action;
  out["time"] = notice.time;
  return out;
}

Status tf_error(std::string what) { return invalid("TF_CONFIG: " + std::move(what)); }

// A list of addresses, or one address.
Status read_addresses(const nlohmann::json& value, const std::string& name, std::vector<std::string>& out) {
  std::string path = "cluster." + name;
  out.clear();
  if (value.is_string()) {
    out.push_back(value.get<std::string>());
    return {};
  }
  if (value.is_array()) {
    for (const nlohmann::json& entry : value) {
      if (!entry.is_string()) return tf_error(path + " must be a list of \"host:port\"");
      out.push_back(entry.get<std::string>());
    }
    return {};
  }
  return tf_error(path + " must be a list of \"host:port\"");
}

}  // namespace

std::string write_job(const Job& job) {
  OrderedJson out = result_part(job);
  out["threads"] = job.threads;
  out["kernels"] = job.kernels;
  if (!job.cluster.empty()) {
    OrderedJson cluster = OrderedJson::object();
    if (!job.cluster.chief.empty()) cluster["chief"] = job.cluster.chief;
    if (!job.cluster.ps.empty()) cluster["ps"] = job.cluster.ps;
    cluster["worker"] = job.cluster.worker;
    if (!job.cluster.evaluator.empty()) cluster["evaluator"] = job.cluster.evaluator;
    out["cluster"] = cluster;
    out["task"] = {{"type", job.task.type}, {"index", job.task.index}};
    if (!job.task.listen.empty()) out["task"]["listen"] = job.task.listen;
  }
  out["checkpoint"] = {{"every_epochs", job.checkpoint.every_epochs},
                       {"every_seconds", job.checkpoint.every_seconds},
                       {"keep", job.checkpoint.keep},
                       {"share", job.checkpoint.share}};
  out["evaluate"] = {{"every_epochs", job.evaluate.every_epochs},
                     {"flip", job.evaluate.flip},
                     {"translate", job.evaluate.translate}};
  OrderedJson directories = OrderedJson::object();
  if (!job.directories.checkpoint.empty()) directories["checkpoint"] = job.directories.checkpoint;
  if (!job.directories.events.empty()) directories["events"] = job.directories.events;
  if (!job.directories.model.empty()) directories["model"] = job.directories.model;
  out["directories"] = directories;
  out["resume"] = resume_name(job.resume);
  if (!job.secrets.empty()) out["secrets"] = job.secrets;
  if (!job.progress.empty()) out["progress"] = job.progress;
  if (!job.metrics.empty()) out["metrics"] = job.metrics;
  if (!job.report.empty()) out["report"] = job.report;
  if (job.interruption.given()) out["interruption"] = interruption_part(job.interruption);
  out["peer_timeout_seconds"] = job.peer_timeout_seconds;
  out["start_timeout_seconds"] = job.start_timeout_seconds;
  return out.dump(2) + "\n";
}

std::string job_digest(const Job& job) {
  OrderedJson part = result_part(job);
  part["dataset"].erase("directory");
  return sha256_hex(part.dump());
}

std::string resume_settings(const Job& job) {
  OrderedJson part = result_part(job);
  part.erase("job");
  part.erase("epochs");
  part["dataset"].erase("directory");
  part["dataset"].erase("test");
  return part.dump();
}

std::string differing_settings(const std::string& before, const std::string& now) {
  OrderedJson old_parts = OrderedJson::parse(before, nullptr, false),
              new_parts = OrderedJson::parse(now, nullptr, false);
  if (!old_parts.is_structured() || !new_parts.is_structured()) return before == now ? "" : "all settings";
  OrderedJson was = old_parts.flatten(), is = new_parts.flatten();
  std::string out;
  auto text = [](const OrderedJson& from, const std::string& key) {
    std::string value = from.contains(key) ? from[key].dump() : "not given";
    return shorten(value, 60);
  };
  auto tell = [&](const std::string& key) {
    std::string name = key.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    out += fmt::format("{}{} ({}, now {})", out.empty() ? "" : ", ", name, text(was, key), text(is, key));
  };
  for (const auto& [key, value] : is.items()) {
    if (!was.contains(key) || was[key] != value) tell(key);
  }
  for (const auto& [key, value] : was.items()) {
    if (!is.contains(key)) tell(key);
  }
  return out;
}

Status apply_tf_config(Job& job, std::string_view text) {
  Result<nlohmann::json> parsed = parse_json_strict(text, "TF_CONFIG");
  if (!parsed) return std::move(parsed).status();
  if (!parsed->is_object()) return tf_error("must be an object");
  if (!parsed->contains("cluster")) return {};  // a job of one process, as TensorFlow takes it
  const nlohmann::json& cluster = (*parsed)["cluster"];
  if (!cluster.is_object()) return tf_error("cluster must be an object");
  ClusterSpec spec;
  for (const auto& [name, value] : cluster.items()) {
    std::vector<std::string>* list = name == "chief" || name == "master" ? &spec.chief
                                     : name == "ps"                      ? &spec.ps
                                     : name == "worker"                  ? &spec.worker
                                     : name == "evaluator"               ? &spec.evaluator
                                                                         : nullptr;
    if (list == nullptr)
      return tf_error("cluster." + name + " is not one of chief, master, ps, worker, evaluator");
    if (!list->empty()) return tf_error("cluster has both a chief and a master");
    if (Status read = read_addresses(value, name, *list); !read.ok()) return read;
  }
  if (!parsed->contains("task") || !(*parsed)["task"].is_object()) return tf_error("task is missing");
  const nlohmann::json& task = (*parsed)["task"];
  if (!task.contains("type") || !task["type"].is_string()) return tf_error("task.type must be a string");
  TaskSpec who{task["type"].get<std::string>(), 0};
  if (who.type == "master") who.type = "chief";
  if (who.type != "chief" && who.type != "ps" && who.type != "worker") {
    return tf_error(fmt::format("task.type \"{}\" is not one of chief, master, ps, worker", who.type));
  }
  if (task.contains("index")) {  // a number, or a number as text: both are in use
    const nlohmann::json& index = task["index"];
    std::string digits = index.is_string() ? index.get<std::string>() : index.dump();
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != std::string::npos) {
      return tf_error("task.index must be an integer, at least 0");
    }
    who.index = std::stoi(digits);
  }
  job.cluster = spec;
  job.task = who;
  return check_job(job);
}

}  // namespace radl::engine
