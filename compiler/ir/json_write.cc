// Program -> JSON. Fields that are empty or have their default are left out; json_read.cc gives them back.
#include "compiler/ir/ir.h"

namespace radl::ir {

std::string_view step_kind_name(StepKind kind) {
  switch (kind) {
    case StepKind::Native:
      return "native";
    case StepKind::Ansible:
      return "ansible";
    case StepKind::CloudInit:
      return "cloud_init";
    case StepKind::Training:
      return "training";
    case StepKind::Program:
      return "program";
    case StepKind::Barrier:
      return "barrier";
  }
  return "?";
}

namespace {

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put_origin(Json& object, const Origin& origin) {
  if (origin.path.empty() && origin.line == 0) return;
  object["origin"] = {{"path", origin.path}, {"line", origin.line}, {"column", origin.column}};
}

template <class T, class Write>
Json list(const std::vector<T>& items, Write write) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(write(item));
  return array;
}

template <class T, class Write>
void put_list(Json& object, const char* key, const std::vector<T>& items, Write write) {
  if (!items.empty()) object[key] = list(items, write);
}

Json write_port(const PortRule& port) {
  return {{"protocol", port.protocol},     {"cidr", port.cidr},   {"remote", port.remote},
          {"remote_end", port.remote_end}, {"local", port.local}, {"local_end", port.local_end}};
}

Json write_network(const Network& network) {
  Json object = {{"address", network.address}, {"name", network.name}, {"public", network.is_public}};
  if (network.reference) object["reference"] = true;
  put_list(object, "ports", network.ports, write_port);
  if (!network.features.empty()) object["features"] = network.features;
  put_origin(object, network.origin);
  return object;
}

Json write_requirement(const Requirement& requirement) {
  Json object = Json::object();
  if (requirement.min) object["min"] = *requirement.min;
  if (requirement.max) object["max"] = *requirement.max;
  if (requirement.min_strict) object["min_strict"] = true;
  if (requirement.max_strict) object["max_strict"] = true;
  if (requirement.equals) object["equals"] = *requirement.equals;
  if (!requirement.versions.empty()) object["versions"] = requirement.versions;
  put(object, "unit", requirement.unit);
  return object;
}

Json write_requirements(const std::map<std::string, Requirement>& requirements) {
  Json object = Json::object();
  for (const auto& [name, requirement] : requirements) object[name] = write_requirement(requirement);
  return object;
}

Json write_interface(const Interface& interface) {
  Json object = {{"index", interface.index}, {"network", interface.network}, {"domain", interface.domain}};
  put(object, "host_name", interface.host_name);
  put(object, "fixed_ip", interface.fixed_ip);
  put(object, "wireguard_ip", interface.wireguard_ip);
  return object;
}

Json write_disk(const Disk& disk) {
  Json object = {{"index", disk.index}};
  if (disk.size_bytes) object["size_bytes"] = *disk.size_bytes;
  put(object, "device", disk.device);
  put(object, "mount_path", disk.mount_path);
  put(object, "fstype", disk.fstype);
  put(object, "type", disk.type);
  if (!disk.image_urls.empty()) object["image_urls"] = disk.image_urls;
  return object;
}

Json write_application(const Application& application) {
  Json object = {{"name", application.name}};
  put(object, "version", application.version);
  put(object, "path", application.path);
  if (application.preinstalled) object["preinstalled"] = true;
  return object;
}

Json write_node(const Node& node) {
  Json object = {
      {"address", node.address}, {"system", node.system}, {"ordinal", node.ordinal}, {"number", node.number}};
  put(object, "cloud", node.cloud);
  if (!node.requirements.empty()) object["requirements"] = write_requirements(node.requirements);
  put_list(object, "softs", node.softs, [](const Soft& soft) {
    return Json{{"weight", soft.weight}, {"requirements", write_requirements(soft.requirements)}};
  });
  put_list(object, "interfaces", node.interfaces, write_interface);
  put_list(object, "disks", node.disks, write_disk);
  put_list(object, "applications", node.applications, write_application);
  put(object, "user", node.user);
  if (!node.secrets.empty()) object["secrets"] = node.secrets;
  if (!node.configured) object["configured"] = false;
  put_origin(object, node.origin);
  return object;
}

Json write_resource(const Resource& resource) {
  Json object = {{"type", resource.type}, {"name", resource.name}};
  if (!resource.properties.empty()) object["properties"] = resource.properties;
  put_origin(object, resource.origin);
  return object;
}

Json write_step(const Step& step) {
  Json object = {{"id", step.id}, {"kind", step_kind_name(step.kind)}};
  put(object, "recipe", step.recipe);
  if (!step.nodes.empty()) object["nodes"] = step.nodes;
  if (step.group != 0) object["group"] = step.group;
  put_list(object, "after", step.after, [](const Edge& edge) {
    return Json{{"to", edge.to}, {"reason", edge.reason}};
  });
  put_list(object, "resources", step.resources, write_resource);
  put(object, "body", step.body);
  if (step.needs_success) object["needs_success"] = true;
  if (!step.training.empty()) object["training"] = step.training;
  if (!step.program.empty()) object["program"] = step.program;
  put(object, "digest", step.digest);
  put_origin(object, step.origin);
  return object;
}

Json write_output(const Output& output) {
  Json object = {{"name", output.name}, {"value", output.value}};
  put(object, "description", output.description);
  if (output.sensitive) object["sensitive"] = true;
  put_origin(object, output.origin);
  return object;
}

Json write_ansible_host(const AnsibleHost& host) {
  Json object = {{"name", host.name}, {"host", host.host}, {"user", host.user}};
  if (!host.secrets.empty()) object["secrets"] = host.secrets;
  put_origin(object, host.origin);
  return object;
}

Json write_move(const Move& move) {
  Json object = {{"from", move.from}, {"to", move.to}};
  put_origin(object, move.origin);
  return object;
}

}  // namespace

Json to_json(const Program& program) {
  Json object = {
      {"ir", program.version},
      {"name", program.name},
      {"sources", list(program.sources,
                       [](const Source& s) {
                         return Json{{"path", s.path}, {"sha256", s.sha256}};
                       })},
      {"source_digest", program.source_digest},
      {"inputs", Json(program.inputs)},
      {"networks", list(program.networks, write_network)},
      {"nodes", list(program.nodes, write_node)},
      {"steps", list(program.steps, write_step)},
      {"outputs", list(program.outputs, write_output)},
      {"contextualize", program.contextualize},
      {"max_time_seconds", program.max_time_seconds},
  };
  if (program.inputs.empty()) object["inputs"] = Json::object();
  put_list(object, "ansible_hosts", program.ansible_hosts, write_ansible_host);
  put_list(object, "moves", program.moves, write_move);
  if (!program.options.empty()) object["options"] = program.options;
  return object;
}

}  // namespace radl::ir
