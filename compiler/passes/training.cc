// A `training` resource to what the runtime writes job files from (docs/ir.md, "Training steps").
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "common/store_address.h"
#include "compiler/passes/recipes.h"

namespace radl::passes {

namespace {

// Puts a value at a path of at most two keys: "optimizer.name".
void put(ir::Json& job, std::string_view path, const ir::Json& value) {
  size_t dot = path.find('.');
  if (dot == path.npos)
    job[std::string(path)] = value;
  else
    job[std::string(path.substr(0, dot))][std::string(path.substr(dot + 1))] = value;
}

// The dataset with the training's own settings for it.
ir::Json dataset_of(const ir::Json& given) {
  ir::Json dataset = given["dataset"];
  for (const char* key : {"train", "test", "source", "mirror", "skip_corrupt", "corrupt_limit"}) {
    if (given.contains(key)) dataset[key] = given[key];
  }
  if (dataset.contains("mirror") && !dataset.contains("source")) dataset["source"] = "mirror";
  return dataset;
}

// What the runner brings to nodes that lack it.
ir::Json data_of(const ir::Json& dataset) {
  ir::Json data = {{"source", dataset.value("source", "auto")}, {"mirror", dataset.value("mirror", "")}};
  for (const char* key : {"path", "path_sha256", "shown", "skip_corrupt", "corrupt_limit"}) {
    if (dataset.contains(key)) data[key] = dataset[key];
  }
  return data;
}

ir::Json job_of(const ir::Resource& resource, const ir::Json& dataset) {
  const ir::ResourceType& type = *ir::find_resource_type("training");
  ir::Json job = {{"job", 1}};
  for (const ir::Property& property : type.properties) {
    auto found = resource.properties->find(std::string(property.name));
    if (!property.job_key.empty() && found != resource.properties->end()) put(job, property.job_key, *found);
  }
  for (const char* key : {"name", "directory", "train", "test", "skip_corrupt"}) {
    if (dataset.contains(key)) job["dataset"][key] = dataset[key];
  }
  return job;
}

// Mode `local_steps` is the job's mode `allreduce` with a delayed outer step.
void spell_local_steps(ir::Json& job) {
  ir::Json& sync = job["sync"];
  if (sync.value("mode", "") != "local_steps") return;
  sync["mode"] = "allreduce";
  const int steps = sync.value("local_steps", 16);
  sync["local_steps"] = steps;
  sync["delay"] = sync.value("delay", std::max(1, steps / 4));
}

// Settings that must not change for a checkpoint to be usable: all but those listed in docs/job.md.
std::string identity_of(const ir::Json& job, const ir::Json& dataset) {
  ir::Json part = job;
  // The content's digest; for a remote place its address.
  if (dataset.contains("path"))
    part["dataset"]["content"] = dataset.value("path_sha256", dataset.value("path", ""));
  for (const char* key :
       {"job", "epochs", "threads", "kernels", "checkpoint", "evaluate", "peer_timeout_seconds", "metrics"})
    part.erase(key);
  part["dataset"].erase("directory");
  part["dataset"].erase("test");
  return json_digest(part);
}

}  // namespace

namespace {

// Why gradients cannot be compressed as requested by `gradients`; "" if they can, or are sent whole.
std::string compression_problem(const ir::Json& given, const std::string& mode, bool local_steps) {
  const std::string gradients = given.value("gradients", ""), optimizer = given.value("optimizer", "");
  if (given.contains("density") && gradients != "top_k") return "'density' needs 'gradients' = 'top_k'";
  if (given.contains("rank") && gradients != "power_sgd") return "'rank' needs 'gradients' = 'power_sgd'";
  if (gradients != "top_k" && gradients != "power_sgd") return "";
  if (mode != "allreduce" || local_steps)
    return fmt::format("'gradients' = '{}' needs mode 'allreduce' without 'local_steps'", gradients);
  if (gradients == "power_sgd")
    return optimizer != "muon" ? ""
                               : "'gradients' = 'power_sgd' leaves out the small directions of a matrix, and "
                                 "'muon' makes all equally large: take 'sgd', 'adamw' or 'lars'";
  if (!optimizer.empty() && optimizer != "sgd")
    return fmt::format("'gradients' = 'top_k' has the momentum of 'sgd' in it and cannot train with '{}'",
                       optimizer);
  if (std::max(given.value("weight_decay", 0.0), given.value("bias_decay", 0.0)) >
      (1 - given.value("momentum", 0.9)) * (1 + 1e-9))
    return "with 'gradients' = 'top_k', 'weight_decay' and 'bias_decay' can be at most 1 - 'momentum'";
  return given.value("clip", 0.0) > 0
             ? "'clip' has no meaning with 'gradients' = 'top_k': no worker sees the "
               "whole gradient"
             : "";
}

// Whether a text is HOST:PORT. Members of a machine take the ports from this one on.
bool names_port(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  int port = 0;
  const char* end = address.data() + address.size();
  const auto read = std::from_chars(address.data() + colon + 1, end, port);
  return read.ec == std::errc() && read.ptr == end && port >= 1 && port <= 65000;
}

std::optional<ir::Json> training_json(Build& build, const ir::Resource& resource, Span at,
                                      const std::string& folder) {
  const ir::Json& given = resource.properties;
  auto wrong = [&](std::string message) {
    build.diagnostics.report(DiagCode::PropertyValue, at, std::move(message));
    return std::nullopt;
  };
  std::string mode = given.value("mode", "async");
  ir::Json workers = given["workers"], servers = given.value("servers", ir::Json::array()),
           chief = given.value("chief", ir::Json::array());
  if (workers.empty())
    return wrong(fmt::format("training '{}' has no worker: its systems are not deployed", resource.name));
  const bool local_steps =
      mode == "local_steps" || (mode == "allreduce" && given.value("local_steps", 1) > 1);
  const bool all_reduce = mode == "allreduce" || mode == "local_steps" || mode == "auto";
  if (all_reduce && !servers.empty())
    return wrong(fmt::format("mode '{}' has no parameter servers: take 'servers' out", mode));
  if (all_reduce && !chief.empty())
    return wrong(fmt::format("in mode '{}' the first worker is the chief: take 'chief' out", mode));
  if (given.contains("servers") && servers.empty())
    return wrong(fmt::format("training '{}' has no server: its system is not deployed", resource.name));
  if (given.contains("chief") && chief.empty())
    return wrong(fmt::format("training '{}' has no chief: its system is not deployed", resource.name));
  if (mode != "stale" && given.value("staleness", 0) > 0)
    return wrong(fmt::format("'staleness' has no meaning in mode '{}'", mode));
  if (all_reduce && given.value("weights", "fp32") != "fp32")
    return wrong(fmt::format(
        "'weights' has no meaning in mode '{}', in which no weights travel: 'gradients' has", mode));
  const int between = given.value("local_steps", mode == "local_steps" ? 16 : 1);  // exchanges
  const int delay = given.value("delay", mode == "local_steps" ? std::max(1, between / 4) : 0);
  if (local_steps && delay == 0 && given.value("optimizer", "") == "adamw" &&
      given.value("gradients", "") == "int8") {
    build.diagnostics
        .report(DiagCode::PropertyValue, at,
                "'gradients' = 'int8' is too coarse for the mean squares of 'adamw', which are exchanged too "
                "if 'local_steps' have no 'delay'")
        .with_help("set 'delay' to at least 1, or 'gradients' to 'bf16'");
    return std::nullopt;
  }
  if (std::string problem = compression_problem(given, mode, local_steps); !problem.empty())
    return wrong(std::move(problem));
  if (!local_steps && given.value("local_steps", 1) > 1)
    return wrong("'local_steps' above 1 needs mode 'allreduce' or 'local_steps'");
  for (const char* key : {"delay", "outer_rate", "outer_momentum"})
    if (!local_steps && given.contains(key))
      return wrong(fmt::format("'{}' needs mode 'local_steps', or 'allreduce' with 'local_steps'", key));
  if (mode == "local_steps" && given.value("local_steps", 16) < 2)
    return wrong(
        "mode 'local_steps' needs at least 2 'local_steps': take mode 'allreduce' to exchange each step");
  if (delay > between)
    return wrong(fmt::format("'delay' is more than the {} steps of 'local_steps'", between));
  if (given.contains("metrics") &&
      !(given["metrics"].is_string() && names_port(given["metrics"].get<std::string>())))
    return wrong("'metrics' is not HOST:PORT with a port from 1 to 65000");
  if (given.value("schedule", "") == "step" && !given.contains("milestones"))
    return wrong("schedule 'step' needs 'milestones'");

  ir::Json first = ir::Json::array({!chief.empty() ? chief[0] : !servers.empty() ? servers[0] : workers[0]});
  if (servers.empty() && !all_reduce) servers = first;
  ir::Json dataset = dataset_of(given);
  ir::Json job = job_of(resource, dataset);
  spell_local_steps(job);
  ir::Json training = {
      {"name", resource.name},
      {"cluster", {{"chief", first}, {"ps", servers}, {"worker", workers}}},
      {"data", data_of(dataset)},
      {"result", given.contains("result") ? given["result"].get<std::string>()
                                          : absolute_path(folder, resource.name + "-run")},
      {"identity", identity_of(job, dataset)},
  };
  const std::string result = training["result"];
  if (given.contains("checkpoints"))
    training["checkpoints"] = given["checkpoints"];
  else if (is_store_address(result))
    training["checkpoints"] = result + "/checkpoints";
  training["job"] = std::move(job);
  return training;
}

}  // namespace

namespace {

bool asks_for_gpus(const std::map<std::string, ir::Requirement>& requirements) {
  for (const auto& [name, requirement] : requirements) {
    if (!name.starts_with("gpu.")) continue;
    if (requirement.equals && requirement.equals->is_number() && *requirement.equals == 0) continue;
    if (requirement.max && *requirement.max < 1 && name == "gpu.count") continue;
    if (!requirement.equals && requirement.min == 0.0 && !requirement.min_strict) continue;
    return true;
  }
  return false;
}

bool asks_for_gpus(const ir::Node& node) {
  return asks_for_gpus(node.requirements) ||
         std::any_of(node.softs.begin(), node.softs.end(),
                     [](const ir::Soft& soft) { return asks_for_gpus(soft.requirements); });
}

void warn_about_gpus(Build& build, const ir::Step& step, const std::string& name, Span at) {
  const std::set<std::string> members(step.nodes.begin(), step.nodes.end());
  std::set<std::string> systems;
  for (const ir::Node& node : build.program.nodes) {
    if (members.contains(node.address) && asks_for_gpus(node)) systems.insert(node.system);
  }
  if (systems.empty()) return;
  build.diagnostics
      .report(DiagCode::IdleGpu, at,
              fmt::format("training '{}' uses no GPU, and {} '{}' asks for some", name,
                          systems.size() == 1 ? "system" : "each of the systems", fmt::join(systems, "', '")))
      .with_help("the native engine trains on CPUs; use std/training/torch for GPUs");
}

}  // namespace

std::string result_for_digest(const std::string& result, const std::string& folder) {
  if (is_store_address(result)) return result;
  return std::filesystem::path(result).lexically_relative(absolute_path(folder, ".")).generic_string();
}

bool training_step(Build& build, const ir::Resource& resource, Span at, const std::string& folder,
                   ir::Step& step) {
  auto json = training_json(build, resource, at, folder);
  if (!json) return false;
  step.kind = ir::StepKind::Training;
  step.training = std::move(*json);
  std::set<std::string> seen;
  for (const char* role : {"chief", "ps", "worker"}) {
    for (const ir::Json& node : step.training["cluster"][role]) {
      if (seen.insert(node.get<std::string>()).second) step.nodes.push_back(node.get<std::string>());
    }
  }
  warn_about_gpus(build, step, resource.name, at);
  ir::Json depends = step.training;
  depends.erase("identity");
  depends["data"].erase("shown");
  if (depends["data"].contains("path_sha256")) depends["data"].erase("path");
  depends["result"] = result_for_digest(depends["result"], folder);
  step.digest = json_digest({{"kind", "training"}, {"training", std::move(depends)}});
  return true;
}

}  // namespace radl::passes
