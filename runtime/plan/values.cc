#include "runtime/plan/values.h"

#include "common/digest.h"

namespace radl {

UnknownName split_unknown(const std::string& name) {
  size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::optional<Json> node_attribute(const ResourceRecord& node, const std::string& attribute) {
  if (attribute == "id") return Json(node.id);
  auto value_of = [&](const char* key) -> std::optional<Json> {
    auto found = node.attributes.find(key);
    if (found == node.attributes.end() || found->is_null()) return std::nullopt;
    return *found;
  };
  if (attribute == "ip") {
    std::optional<Json> address = value_of("public_ip");
    return address ? address : value_of("private_ip");
  }
  return value_of(attribute.c_str());
}

bool is_stopped(const Json& attributes) {
  auto state = attributes.find("state");
  return state != attributes.end() && *state == "stopped";
}

bool is_trusted_on_first_use(const Json& attributes) {
  auto from = attributes.find(kHostKeyFrom);
  return from != attributes.end() && *from == kFromFirstUse;
}

std::optional<Json> known_value(const Snapshot& snapshot, const std::string& name) {
  UnknownName parts = split_unknown(name);
  if (auto node = snapshot.resources.find(parts.owner); node != snapshot.resources.end()) {
    return node_attribute(node->second, parts.attribute);
  }
  auto step = snapshot.steps.find(parts.owner);
  if (step == snapshot.steps.end() || step->second.status != StepStatus::Done) return std::nullopt;
  const Json& output = step->second.output;
  if (!output.is_object()) return std::nullopt;
  auto value = output.find(parts.attribute);
  if (value == output.end() || value->is_null()) return std::nullopt;
  return *value;
}

std::string value_fingerprint(const Json& value) {
  // The files of a program count by their content, not by where they lie.
  if (value.is_object() && value.contains("sha256") && value.contains("path"))
    return value_fingerprint(value["sha256"]);
  return sha256_hex(value.dump(-1, ' ', false, Json::error_handler_t::replace)).substr(0, 32);
}

}  // namespace radl
