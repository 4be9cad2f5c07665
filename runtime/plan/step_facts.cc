#include "runtime/plan/step_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/digest.h"
#include "common/human.h"
#include "common/shorten.h"
#include "common/store_address.h"
#include "compiler/ir/elastic_farm.h"
#include "compiler/resources/resource_schema.h"
#include "runtime/base/job_folder.h"
#include "runtime/base/job_members.h"
#include "runtime/farm/images.h"
#include "runtime/plan/values.h"

namespace radl {

std::string step_digest(const ir::Step& step, const std::map<std::string, std::string>& secrets) {
  std::string text = step.digest;
  for (const std::string& name : ir::secrets_in(step)) {
    auto fingerprint = secrets.find(name);
    text += "\n" + name + "=" + (fingerprint == secrets.end() ? "" : fingerprint->second);
  }
  return sha256_hex(text);
}

std::string job_content(const ir::Step& step, const std::map<std::string, std::string>& secrets) {
  if (step.kind != ir::StepKind::Training) return step_digest(step, secrets);
  ir::Step content = step;
  content.digest = sha256_hex(common_to_workers(step.training).dump());
  return step_digest(content, secrets);
}

std::vector<std::string> steps_below(const ir::Step& step,
                                     const std::map<std::string, const ir::Step*>& steps) {
  std::vector<std::string> below;
  if (ir::is_job(step.kind) || step.kind == ir::StepKind::Barrier) return below;
  for (const ir::Edge& edge : step.after) {
    auto found = steps.find(edge.to);
    if (found == steps.end() || ir::is_job(found->second->kind)) continue;
    if (found->second->nodes == step.nodes) below.push_back(edge.to);
  }
  return below;
}

std::string step_revision(const std::string& digest, const std::map<std::string, std::string>& below) {
  std::string text = digest;
  for (const auto& [id, revision] : below) text += "\n" + id + "=" + revision;
  return sha256_hex(text);
}

Json step_definition(const ir::Step& step) {
  Json definition = {{"recipe", step.recipe}, {"kind", ir::step_kind_name(step.kind)}};
  if (step.kind == ir::StepKind::Native) {
    Json resources = Json::array();
    for (const ir::Resource& resource : step.resources) {
      resources.push_back(
          {{"type", resource.type}, {"name", resource.name}, {"properties", resource.properties}});
    }
    definition["resources"] = std::move(resources);
  }
  if (!step.body.empty()) definition["body"] = step.body;
  if (step.kind == ir::StepKind::Training) definition["training"] = step.training;
  if (step.kind == ir::StepKind::Program) {
    definition["program"] = step.program;
    // What is sent is in its digest.
    if (auto source = definition["program"].find("source"); source != definition["program"].end())
      source->erase("sent");
    // Definitions are kept in the state.
    if (auto farm = definition["program"].find("farm");
        farm != definition["program"].end() && farm->is_string())
      *farm = farm::without_signatures(farm->get<std::string>());
  }
  return definition;
}

namespace {

// A script of several lines is named by the first one that does something: "'apt-get update ...' (4 lines)".
std::string quoted_name(const std::string& name) {
  constexpr size_t kLongest = 60;
  size_t lines = 0;
  std::string first;
  std::istringstream text(name);
  for (std::string line; std::getline(text, line);) {
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos) continue;
    ++lines;
    line = line.substr(start);
    if (first.empty() && !line.starts_with('#') && !line.starts_with("set -")) first = line;
  }
  if (first.empty()) first = name.substr(0, name.find('\n'));
  if (lines < 2) return "'" + first + "'";
  if (first.size() > kLongest)
    first.resize(beginning_of(first, std::min(first.find_last_of(' ', kLongest), kLongest)).size());
  return fmt::format("'{} ...' ({} lines)", first, lines);
}

std::string native_summary(const ir::Step& step) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < step.resources.size() && i < kShown; ++i)
    text += (i ? ", " : "") + step.resources[i].type + " " + quoted_name(step.resources[i].name);
  if (step.resources.size() > kShown)
    text += " and " + std::to_string(step.resources.size() - kShown) + " more";
  return text.empty() ? "nothing" : text;
}

bool same_values(const Json& properties, const StepRecord& record, const Snapshot& snapshot) {
  for (const std::string& name : ir::unknowns_in(properties)) {
    std::optional<Json> now = known_value(snapshot, name);
    auto before = record.inputs.find(name);
    if (!now || before == record.inputs.end() || before->second != value_fingerprint(*now)) return false;
  }
  return true;
}

bool same_secrets(const Json& properties, const Snapshot& snapshot,
                  const std::map<std::string, std::string>& secrets) {
  for (const std::string& name : ir::secrets_in(properties)) {
    auto now = secrets.find(name), before = snapshot.secrets.find(name);
    if (now == secrets.end() || before == snapshot.secrets.end() || now->second != before->second)
      return false;
  }
  return true;
}

bool is_bucket_place(const std::string& place) { return is_store_address(place); }

std::string training_summary(const ir::Step& step) {
  const Json& training = step.training;
  auto text_at = [&](const char* pointer) -> std::string {
    Json::json_pointer at(pointer);
    if (!training.contains(at)) return "";
    const Json& value = training.at(at);
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  auto count_at = [&](const char* role) -> size_t {
    Json::json_pointer at(std::string("/cluster/") + role);
    return training.contains(at) && training.at(at).is_array() ? training.at(at).size() : 0;
  };
  std::string text = text_at("/job/model");
  std::string dataset = text_at("/data/shown");
  if (dataset.empty()) dataset = text_at("/job/dataset/name");
  if (!dataset.empty()) text += " on " + dataset;
  if (std::string mode = text_at("/job/sync/mode"); !mode.empty()) text += ", " + mode;
  if (size_t servers = count_at("ps")) text += ", " + counted(servers, "server");
  if (size_t workers = count_at("worker")) text += ", " + counted(workers, "worker");
  const std::string result = text_at("/result"), checkpoints = text_at("/checkpoints");
  const bool together = checkpoints == result + "/checkpoints";
  if (is_bucket_place(result)) text += (together ? ", model and checkpoints to " : ", model to ") + result;
  if (!checkpoints.empty() && !together) text += ", checkpoints to " + checkpoints;
  return text;
}

// "; sends 14 files (1.2 MiB), leaves out 2 files and 1 folder".
std::string sent_summary(const Json& source) {
  if (!source.contains("sent")) return "";
  const Json& sent = source["sent"];
  auto count = [&](const char* key, const char* noun) { return counted(sent.value(key, size_t{0}), noun); };
  std::string text = "; sends " + count("files", "file") + " (" + bytes_text(sent.value("bytes", 0.0)) + ")";
  if (sent.contains("exclude"))
    text += ", leaves out " + count("excluded_files", "file") + " and " + count("excluded_folders", "folder");
  return text;
}

// "-m train of ./mnist on 3 nodes".
std::string program_summary(const ir::Step& step) {
  const Json& program = step.program;
  std::string text = program.value("main", "");
  if (const Json source = program.value("source", Json::object()); !source.empty()) {
    const std::string place = source.value("path", source.value("url", ""));
    text += " of " + place.substr(place.rfind('/') + 1);
    if (source.contains("commit")) text += " at " + source.value("commit", "").substr(0, 12);
  }
  text += " on " + counted(step.nodes.size(), "node");
  for (const Json& input : program.value("inputs", Json::array())) {
    if (!input.contains("files")) continue;
    for (const std::string& name : ir::unknowns_in(input["files"]))
      text += fmt::format(", with the files of {} as {}", name.substr(0, name.rfind('.')),
                          input.value("name", ""));
  }
  if (const std::string results = program.value("results", ""); is_bucket_place(results))
    text += ", results to " + results;
  return text + sent_summary(program.value("source", Json::object()));
}

}  // namespace

std::optional<ir::Step> applied_step(const StepRecord& record, const Snapshot& snapshot,
                                     const std::map<std::string, std::string>& secrets) {
  if (!record.definition || !record.definition->is_object()) return std::nullopt;
  ir::Step step;
  step.id = record.id;
  step.recipe = record.recipe;
  step.nodes = record.nodes;
  for (ir::StepKind kind : {ir::StepKind::Native, ir::StepKind::Ansible, ir::StepKind::CloudInit,
                            ir::StepKind::Training, ir::StepKind::Program}) {
    if (record.kind == ir::step_kind_name(kind)) step.kind = kind;
  }
  // A runner compares it with its output's: "has run to its end with the same content".
  step.digest = record.output.is_object() ? record.output.value("digest", "") : "";
  step.body = record.definition->value("body", "");
  step.training = record.definition->value("training", Json::object());
  step.program = record.definition->value("program", Json::object());
  for (const Json& resource : record.definition->value("resources", Json::array())) {
    const Json properties = resource.value("properties", Json::object());
    if (same_values(properties, record, snapshot) && same_secrets(properties, snapshot, secrets))
      step.resources.push_back({resource.value("type", ""), resource.value("name", ""), properties, {}});
  }
  return step;
}

LeftRunning left_running(const StepRecord& record, const Snapshot& snapshot) {
  LeftRunning left;
  for (const JobFolder& folder : record.jobs) {
    std::vector<std::string>& nodes = &folder == &record.jobs.back() ? left.newest : left.older;
    for (const std::string& address : folder.may_run) {
      auto node = snapshot.resources.find(address);
      auto made = folder.nodes.find(address);
      const bool same =
          node != snapshot.resources.end() && made != folder.nodes.end() && node->second.id == made->second;
      if (same && std::find(nodes.begin(), nodes.end(), address) == nodes.end()) nodes.push_back(address);
    }
  }
  return left;
}

bool can_miss(const ir::Step& step, const std::string& node) {
  if (ir::has_elastic_farm(step)) return true;
  if (step.kind == ir::StepKind::Program)
    return step.program->value("lost", "all") == "alone" && !step.nodes.empty() && node != step.nodes.front();
  return step.kind == ir::StepKind::Training && has_workers_only(step.training, node);
}

std::vector<const JobFolder*> folders_to_remove(const ir::Step& step, const StepRecord& record) {
  const bool trains = step.kind == ir::StepKind::Training;
  const Json& job = trains ? step.training : step.program;
  const std::string own =
      job_folder_name(job.value("name", trains ? "training" : ""), job.value("identity", step.digest));
  std::vector<const JobFolder*> older;
  for (const JobFolder& folder : record.jobs) {
    if (folder.name != own) older.push_back(&folder);
  }
  if (!older.empty()) older.pop_back();  // the newest
  return older;
}

namespace {

// A service has one name with and without ".service" (systemd.unit(5), systemctl(1)).
std::string unit_name(const std::string& service) {
  constexpr std::string_view kEnd = ".service";
  return service.ends_with(kEnd) ? service.substr(0, service.size() - kEnd.size()) : service;
}

// Also as a socket, or an instance of a template.
bool is_login(const std::string& service) {
  const std::string base = service.substr(0, service.find_first_of(".@"));
  return base == "ssh" || base == "sshd" || base == "dropbear";
}

}  // namespace

std::vector<std::string> services_left(const StepRecord& record, const ir::Program& program) {
  std::vector<std::string> names;
  if (record.kind != ir::step_kind_name(ir::StepKind::Native) || !record.definition) return names;
  std::set<std::string> kept;
  for (const ir::Step& step : program.steps) {
    const bool shared = std::any_of(step.nodes.begin(), step.nodes.end(), [&](const std::string& node) {
      return std::find(record.nodes.begin(), record.nodes.end(), node) != record.nodes.end();
    });
    if (!shared) continue;
    for (const ir::Resource& resource : step.resources)
      if (resource.type == "service") kept.insert(unit_name(resource.name));
  }
  for (const Json& resource : record.definition->value("resources", Json::array())) {
    const std::string name = resource.value("name", "");
    const Json properties = resource.value("properties", Json::object());
    if (resource.value("type", "") == "service" && properties.value("state", Json()) == "running" &&
        !is_login(name) && kept.insert(unit_name(name)).second)
      names.push_back(name);
  }
  return names;
}

std::vector<std::string> bucket_places(const Snapshot& snapshot) {
  std::set<std::string> places;
  for (const auto& [id, record] : snapshot.steps) {
    if (!ir::is_job_type(record.kind) || !record.definition) continue;
    const Json job = record.definition->value(record.kind, Json::object());
    for (const char* key : {"result", "results", "checkpoints"}) {
      if (const std::string place = job.value(key, ""); is_bucket_place(place)) places.insert(place);
    }
  }
  std::vector<std::string> out;
  for (const std::string& place : places) {
    const bool within = std::any_of(out.begin(), out.end(),
                                    [&](const std::string& other) { return place.starts_with(other + "/"); });
    if (!within) out.push_back(place);
  }
  return out;
}

std::string step_summary(const ir::Step& step) {
  switch (step.kind) {
    case ir::StepKind::Native:
      return native_summary(step);
    case ir::StepKind::Ansible:
      return "Ansible recipe '" + step.recipe + "'";
    case ir::StepKind::CloudInit:
      return "cloud-init recipe '" + step.recipe + "'";
    case ir::StepKind::Training:
      return training_summary(step);
    case ir::StepKind::Program:
      return program_summary(step);
    case ir::StepKind::Barrier:
      return "";
  }
  return "";
}

}  // namespace radl
