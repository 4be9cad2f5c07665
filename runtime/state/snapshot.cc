// The snapshot as JSON, and fingerprints of secrets.
#include "runtime/state/snapshot.h"

#include "common/digest.h"
#include "runtime/state/records.h"
#include "runtime/state/schema.h"

namespace radl {

std::string_view resource_status_name(ResourceStatus status) {
  switch (status) {
    case ResourceStatus::Ready:
      return "ready";
    case ResourceStatus::Tainted:
      return "tainted";
    case ResourceStatus::Deleting:
      return "deleting";
  }
  return "unknown";
}

std::string_view step_status_name(StepStatus status) {
  switch (status) {
    case StepStatus::Done:
      return "done";
    case StepStatus::Failed:
      return "failed";
    case StepStatus::Interrupted:
      return "interrupted";
    case StepStatus::Detached:
      return "detached";
  }
  return "unknown";
}

void to_json(Json& json, const JobFolder& folder) {
  json = {{"name", folder.name},
          {"nodes", folder.nodes},
          {"may_run", folder.may_run},
          {"signal", folder.signal},
          {"grace_seconds", folder.grace_seconds}};
}

void from_json(const Json& json, JobFolder& folder) {
  json.at("name").get_to(folder.name);
  json.at("nodes").get_to(folder.nodes);
  json.at("may_run").get_to(folder.may_run);
  json.at("signal").get_to(folder.signal);
  json.at("grace_seconds").get_to(folder.grace_seconds);
}

namespace {

// Omits internal data and tokens, with which resources could be created in the infrastructure's name.
Json shown(const ResourceRecord& record, bool whole) {
  Json json = row_json(record);
  for (const char* stored : {"price_micros", "currency"}) json.erase(stored);
  json["price_per_hour"] = record.price_per_hour;
  if (!whole) json.erase("token");
  if (record.is_node()) return json;
  for (const char* of_nodes : {"system", "ordinal", "number", "reachable", "protected_by"})
    json.erase(of_nodes);
  return json;
}

Json shown(const StepRecord& record, bool whole) {
  Json json = row_json(StepRow{record, "", false});
  for (const char* stored : {"wide", "definition"}) json.erase(stored);
  if (record.error.empty()) json.erase("error");
  if (record.jobs.empty()) json.erase("jobs");
  if (whole) {
    json["definition"] = record.definition ? *record.definition : Json();
  } else {
    for (const char* inner : {"revision", "made_on", "inputs"}) json.erase(inner);
  }
  return json;
}

Json to_json(const Snapshot& snapshot, bool whole) {
  Json resources = Json::array(), steps = Json::array(), outputs = Json::array();
  for (const auto& [address, record] : snapshot.resources) resources.push_back(shown(record, whole));
  for (const auto& [id, record] : snapshot.steps) steps.push_back(shown(record, whole));
  for (const OutputRecord& output : snapshot.outputs) outputs.push_back(row_json(output));
  Json json = {{"state", kStateVersion},
               {"name", snapshot.name},
               {"lineage", snapshot.lineage},
               {"serial", snapshot.serial},
               {"source_digest", snapshot.source_digest},
               {"source_paths", snapshot.source_paths},
               {"owners", snapshot.owners},
               {"open_intents", snapshot.open_intents},
               {"resources", std::move(resources)},
               {"steps", std::move(steps)},
               {"outputs", std::move(outputs)}};
  if (!snapshot.at_work.empty()) json["at_work"] = snapshot.at_work;
  if (!snapshot.supervised.empty()) json["supervised"] = snapshot.supervised;
  if (!snapshot.scaled.empty()) json["scaled"] = scalings_json(snapshot.scaled);
  if (!snapshot.released.empty()) json["released"] = released_json(snapshot.released);
  return json;
}

}  // namespace

Json to_json(const Snapshot& snapshot) { return to_json(snapshot, false); }
Json whole_json(const Snapshot& snapshot) { return to_json(snapshot, true); }

std::string infrastructure_tag(const std::string& name, const std::string& lineage) {
  return name + "-" + lineage.substr(0, 8);
}

std::string secret_fingerprint(const Snapshot& snapshot, const std::string& secret) {
  return to_hex(hmac_sha256("radl secret " + snapshot.salt, secret)).substr(0, 32);
}

}  // namespace radl
