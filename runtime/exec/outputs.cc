// What a run leaves behind for its user: outputs, and outputs on this computer.
#include "compiler/resources/resource_schema.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/values.h"

namespace radl {

std::vector<OutputRecord> resolve_outputs(const ir::Program& program, const Snapshot& snapshot,
                                          const ir::Secrets* secrets) {
  auto unknown_value = [&](const std::string& name) { return known_value(snapshot, name); };
  ir::LookUp secret_value;
  if (secrets) {
    secret_value = [&](const std::string& name) -> std::optional<Json> {
      auto found = secrets->find(name);
      return found == secrets->end() ? std::nullopt : std::optional<Json>(found->second);
    };
  }
  std::vector<OutputRecord> records;
  for (const ir::Output& output : program.outputs) {
    Json value = ir::substitute(output.value, unknown_value, secret_value);
    if (output.sensitive && !secrets) value = nullptr;
    records.push_back({output.name, std::move(value), output.description, output.sensitive});
  }
  return records;
}

std::map<std::string, std::string> missing_outputs(
    const Snapshot& snapshot, const std::function<bool(const std::string& path)>& exists) {
  std::map<std::string, std::string> missing;
  for (const auto& [id, record] : snapshot.steps) {
    if (!ir::is_job_type(record.kind) || record.status != StepStatus::Done || !record.output.is_object())
      continue;
    auto path = record.output.find(record.kind == "training" ? "model_path" : "report_path");
    if (path == record.output.end() || !path->is_string()) continue;
    if (!exists(path->get<std::string>())) missing[id] = path->get<std::string>();
  }
  return missing;
}

}  // namespace radl
