#include "runtime/steps/farm/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/http/closed_address.h"
#include "common/json_values.h"
#include "runtime/farm/images.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/farm/task_script.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program/starting.h"
#include "runtime/steps/training/engine_bundle.h"

namespace radl::farm {
namespace {

constexpr const char* kEngine = "farm-engine/radl-train";  // below the job's folder

bool has_text(const Json& json, const std::string& text) {
  if (json.is_string()) return json.get_ref<const std::string&>().find(text) != std::string::npos;
  return json.is_structured() &&
         std::any_of(json.begin(), json.end(), [&](const Json& one) { return has_text(one, text); });
}

Json confined(Json environment) {
  environment[http::kConfined] = "1";
  return environment;
}

}  // namespace

Pool::Pool(const Json& program, const std::vector<NodeHandle>& nodes, const Context& context,
           const std::string& job, bool engine, const Scheduler& scheduler, program::Preparing::Tell tell)
    : program_(program),
      nodes_(nodes),
      context_(context),
      engine_(engine),
      scheduler_(scheduler),
      preparing_(program_, nodes_, members_, context, std::move(tell)) {
  for (const NodeHandle& node : nodes_) {
    members_.push_back(std::make_unique<jobs::Member>(node, context, job));
    places_.push_back({jobs::address_of(node), 0});
  }
}

std::optional<size_t> Pool::find(const std::string& address) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].address == address) return i;
  }
  return std::nullopt;
}

Status Pool::look() {
  looks_.resize(nodes_.size());
  return jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
    auto look = members_[i]->look(preparing_.looking_script());
    if (!look) return std::move(look).status();
    looks_[i] = std::move(*look);
    return {};
  });
}

Result<std::vector<Pool::Left>> Pool::prepare(const std::string& run, bool fresh, jobs::MayRun& may_run) {
  Status looked = look();
  if (looked.ok()) {
    may_run.take(looks_);
    looked = preparing_.look(looks_);
  }
  if (!looked.ok()) return looked;
  may_run.everywhere();
  std::vector<Left> left;
  for (const auto& look : looks_)
    left.push_back(fresh || look.run != run ? Left::Nothing : look.cancelled ? Left::Outputs : Left::Tasks);
  Status ready = jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
    if (left[i] == Left::Tasks) return write_secrets(i);
    if (Status brought = preparing_.bring(i, fresh); !brought.ok()) return brought;
    const std::string farm = shell_path(members_[i]->folder()) + "/farm";
    auto removed = members_[i]->exec(left[i] == Left::Nothing ? "rm -rf " + farm : ":");
    if (!removed) return std::move(removed).status();
    if (Status brought = bring_engine(i); !brought.ok()) return brought;
    if (Status written = write_secrets(i); !written.ok()) return written;
    return members_[i]->write_run(run);
  });
  if (!ready.ok()) return ready;
  return left;
}

Status Pool::write_secrets(size_t node) const {
  Json secrets = Json::array();
  const std::map<std::string, std::string> none;
  for (const auto& [name, value] : context_.secrets != nullptr ? *context_.secrets : none)
    if (!value.empty() && has_text(program_, value)) secrets.push_back(value);
  const std::string text = secrets.dump(-1, ' ', false, Json::error_handler_t::replace);
  return members_[node]->put_bytes(text, kSecretsFile, context_.stop, 0600);
}

Status Pool::bring_engine(size_t node) const {
  if (!engine_) return {};
  auto engine = training::place_engine(nodes_[node], context_);
  if (!engine) return std::move(engine).status().at(nodes_[node].address);
  const std::string script = fmt::format("#!/bin/sh\nexec {} \"$@\"\n", engine->command);
  return members_[node]->put_bytes(script, kEngine, context_.stop, 0755);
}

int64_t Pool::local_nodes() const {
  return std::max<int64_t>(static_cast<int64_t>(shared_by_),
                           std::count_if(nodes_.begin(), nodes_.end(), jobs::is_local));
}

std::pair<int64_t, int64_t> Pool::devices_of(size_t node) const {
  const int64_t all = preparing_.facts(node).gpus;
  if (!jobs::is_local(nodes_[node])) return {0, all};
  const auto place = nodes_.begin() + static_cast<std::ptrdiff_t>(node);
  const int64_t before = shared_by_ > 0 && nodes_[node].node != nullptr  // others come and go
                             ? nodes_[node].node->ordinal
                             : std::count_if(nodes_.begin(), place, jobs::is_local);
  const int64_t share = local_nodes();
  return {all * before / share, all * (before + 1) / share};
}

Resources Pool::capacity(size_t node) const {
  const program::NodeFacts& facts = preparing_.facts(node);
  const int64_t share = jobs::is_local(nodes_[node]) ? local_nodes() : int64_t{1};
  const auto [first, end] = devices_of(node);
  return {std::max<int64_t>(1000, int64_t{1000} * facts.processors / share),
          static_cast<int64_t>(facts.memory_bytes) / share, end - first, kUnknownAmount};
}

std::string Pool::script(size_t node, TaskRecord task) const {
  if (scheduler_.is_cluster()) task.devices.clear();  // its scheduler chooses them
  // What reads URLs on the node keeps to the addresses that this radlc may contact.
  if (task.task.spec.contains(kImages) && http::is_confined(context_.environment))
    task.task.spec.set("environment", confined(json::member(task.task.spec, "environment")));
  for (int& device : task.devices) device += static_cast<int>(devices_of(node).first);
  program::MemberSetting setting;
  setting.index = node;
  setting.home = looks_[node].home;
  setting.folder = program::job_folder(looks_[node], *members_[node]);
  setting.folder_below = sftp_path(members_[node]->folder());
  setting.resumes = task.attempt > 1;
  setting.facts = preparing_.facts(node);
  const std::string environment = preparing_.environment(node);
  if (!environment.empty()) setting.environment = setting.home + "/" + sftp_path(environment);
  return scheduler_.header(task, program_.value("timeout_seconds", 0.0)) +
         task_script(program_, setting, places_, task, engine_ ? setting.folder + "/" + kEngine : "");
}

}  // namespace radl::farm
