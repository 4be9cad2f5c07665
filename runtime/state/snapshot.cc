// The snapshot as JSON, and fingerprints of secrets.
#include "runtime/state/snapshot.h"

#include "common/digest.h"

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
  }
  return "unknown";
}

namespace {

Json to_json(const ResourceRecord& record) {
  Json json = {{"address", record.address},
               {"type", record.type},
               {"cloud", record.cloud},
               {"id", record.id},
               {"status", resource_status_name(record.status)},
               {"spec", record.spec},
               {"attributes", record.attributes},
               {"needs", record.needs},
               {"created_at", record.created_at},
               {"price_per_hour", record.price_per_hour}};
  if (!record.is_node()) return json;
  json["system"] = record.system;
  json["ordinal"] = record.ordinal;
  json["number"] = record.number;
  json["reachable"] = record.reachable;
  return json;
}

Json to_json(const StepRecord& record) {
  Json json = {{"id", record.id},
               {"recipe", record.recipe},
               {"kind", record.kind},
               {"nodes", record.nodes},
               {"status", step_status_name(record.status)},
               {"digest", record.digest},
               {"output", record.output},
               {"seconds", record.seconds},
               {"finished_at", record.finished_at}};
  if (!record.error.empty()) json["error"] = record.error;
  return json;
}

void add_rest(const StepRecord& record, Json& json) {
  json["revision"] = record.revision;
  json["made_on"] = record.made_on;
  json["inputs"] = record.inputs;
  json["definition"] = record.definition ? *record.definition : Json();
}

Json to_json(const Snapshot& snapshot, bool whole) {
  Json resources = Json::array(), steps = Json::array(), outputs = Json::array();
  for (const auto& [address, record] : snapshot.resources) {
    resources.push_back(to_json(record));
    if (whole) resources.back()["token"] = record.token;
  }
  for (const auto& [id, record] : snapshot.steps) {
    steps.push_back(to_json(record));
    if (whole) add_rest(record, steps.back());
  }
  for (const OutputRecord& output : snapshot.outputs) {
    outputs.push_back({{"name", output.name},
                       {"value", output.value},
                       {"description", output.description},
                       {"sensitive", output.sensitive}});
  }
  return {{"state", 2},
          {"name", snapshot.name},
          {"lineage", snapshot.lineage},
          {"serial", snapshot.serial},
          {"source_digest", snapshot.source_digest},
          {"source_paths", snapshot.source_paths},
          {"open_intents", snapshot.open_intents},
          {"resources", std::move(resources)},
          {"steps", std::move(steps)},
          {"outputs", std::move(outputs)}};
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
