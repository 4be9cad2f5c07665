// JSON -> Program. Every complaint names the field: "nodes[3].requirements.cpu.count.min: expected a number,
// got text". Fields that this version does not know are refused: a reader that drops what it does not
// understand would apply something else than what was written.
#include <fmt/format.h>

#include "compiler/ir/json_reader.h"

namespace radl::ir {

namespace {

constexpr int kMaxDepth = 64;

using Reader = JsonReader;

Origin read_origin(Reader& reader) {
  if (!reader.has("origin")) return {};
  Json held = reader.object("origin");
  Reader inner = reader.inner(held, reader.at("origin"));
  Origin origin{inner.text("path"), inner.integer("line", 0), inner.integer("column", 0)};
  inner.finish();
  return origin;
}

PortRule read_port(Reader reader) {
  PortRule port;
  port.protocol = reader.text("protocol", true);
  port.cidr = reader.text("cidr", true);
  port.remote = reader.integer("remote", 0, true);
  port.remote_end = reader.integer("remote_end", 0, true);
  port.local = reader.integer("local", 0, true);
  port.local_end = reader.integer("local_end", 0, true);
  reader.finish();
  return port;
}

Network read_network(Reader reader) {
  Network network;
  network.address = reader.text("address", true);
  network.name = reader.text("name", true);
  network.is_public = reader.boolean("public", false);
  network.reference = reader.boolean("reference", false);
  network.ports = reader.list<PortRule>("ports", read_port);
  network.features = reader.object("features");
  network.origin = read_origin(reader);
  reader.finish();
  return network;
}

Requirement read_requirement(Reader reader) {
  Requirement requirement;
  requirement.min = reader.optional_number("min");
  requirement.max = reader.optional_number("max");
  requirement.min_strict = reader.boolean("min_strict", false);
  requirement.max_strict = reader.boolean("max_strict", false);
  if (reader.has("equals")) requirement.equals = reader.any("equals");
  for (const auto& [op, text] : reader.values("versions")) {
    if (!text.is_string())
      reader.complain("versions", "expected strings");
    else
      requirement.versions[op] = text.get<std::string>();
  }
  requirement.unit = reader.text("unit");
  reader.finish();
  return requirement;
}

std::map<std::string, Requirement> read_requirements(Reader& reader) {
  std::map<std::string, Requirement> requirements;
  Json held = reader.object("requirements");
  for (const auto& [name, value] : held.items()) {
    requirements.emplace(name, read_requirement(reader.inner(value, reader.at("requirements") + "." + name)));
  }
  return requirements;
}

Soft read_soft(Reader reader) {
  Soft soft;
  soft.weight = reader.number("weight", 0);
  soft.requirements = read_requirements(reader);
  reader.finish();
  return soft;
}

Interface read_interface(Reader reader) {
  Interface interface;
  interface.index = reader.integer("index", 0, true);
  interface.network = reader.text("network", true);
  interface.host_name = reader.text("host_name");
  interface.domain = reader.text("domain");
  interface.fixed_ip = reader.text("fixed_ip");
  interface.wireguard_ip = reader.text("wireguard_ip");
  reader.finish();
  return interface;
}

Disk read_disk(Reader reader) {
  Disk disk;
  disk.index = reader.integer("index", 0, true);
  disk.size_bytes = reader.optional_number("size_bytes");
  disk.device = reader.text("device");
  disk.mount_path = reader.text("mount_path");
  disk.fstype = reader.text("fstype");
  disk.type = reader.text("type");
  disk.image_urls = reader.texts("image_urls");
  reader.finish();
  return disk;
}

Application read_application(Reader reader) {
  Application application;
  application.name = reader.text("name", true);
  application.version = reader.text("version");
  application.path = reader.text("path");
  application.preinstalled = reader.boolean("preinstalled", false);
  reader.finish();
  return application;
}

Node read_node(Reader reader) {
  Node node;
  node.address = reader.text("address", true);
  node.system = reader.text("system", true);
  node.ordinal = reader.integer("ordinal", 0, true);
  node.number = reader.integer("number", 0, true);
  node.cloud = reader.text("cloud");
  node.requirements = read_requirements(reader);
  node.softs = reader.list<Soft>("softs", read_soft);
  node.interfaces = reader.list<Interface>("interfaces", read_interface);
  node.disks = reader.list<Disk>("disks", read_disk);
  node.applications = reader.list<Application>("applications", read_application);
  node.user = reader.text("user");
  node.secrets = reader.values("secrets");
  node.configured = reader.boolean("configured", true);
  node.origin = read_origin(reader);
  reader.finish();
  return node;
}

StepKind read_kind(Reader& reader) {
  std::string name = reader.text("kind", true);
  for (StepKind kind : {StepKind::Native, StepKind::Ansible, StepKind::CloudInit, StepKind::Training,
                        StepKind::Program, StepKind::Barrier}) {
    if (name == step_kind_name(kind)) return kind;
  }
  reader.complain("kind", fmt::format("'{}' is no kind of step", name));
  return StepKind::Native;
}

Edge read_edge(Reader reader) {
  Edge edge{reader.text("to", true), reader.text("reason")};
  reader.finish();
  return edge;
}

Resource read_resource(Reader reader) {
  Resource resource;
  resource.type = reader.text("type", true);
  resource.name = reader.text("name", true);
  resource.properties = reader.object("properties");
  resource.origin = read_origin(reader);
  reader.finish();
  return resource;
}

Step read_step(Reader reader) {
  Step step;
  step.id = reader.text("id", true);
  step.kind = read_kind(reader);
  step.recipe = reader.text("recipe");
  step.nodes = reader.texts("nodes");
  step.group = reader.integer("group", 0);
  step.after = reader.list<Edge>("after", read_edge);
  step.resources = reader.list<Resource>("resources", read_resource);
  step.body = reader.text("body");
  step.needs_success = reader.boolean("needs_success", false);
  step.training = reader.object("training");
  step.program = reader.object("program");
  step.digest = reader.text("digest");
  step.origin = read_origin(reader);
  reader.finish();
  return step;
}

Output read_output(Reader reader) {
  Output output;
  output.name = reader.text("name", true);
  output.value = reader.any("value");
  output.description = reader.text("description");
  output.sensitive = reader.boolean("sensitive", false);
  output.origin = read_origin(reader);
  reader.finish();
  return output;
}

AnsibleHost read_ansible_host(Reader reader) {
  AnsibleHost host;
  host.name = reader.text("name", true);
  host.host = reader.text("host", true);
  host.user = reader.text("user", true);
  host.secrets = reader.values("secrets");
  host.origin = read_origin(reader);
  reader.finish();
  return host;
}

Move read_move(Reader reader) {
  Move move;
  move.from = reader.text("from", true);
  move.to = reader.text("to", true);
  move.origin = read_origin(reader);
  reader.finish();
  return move;
}

Source read_source(Reader reader) {
  Source source{reader.text("path", true), reader.text("sha256", true)};
  reader.finish();
  return source;
}

}  // namespace

Result<Program> from_json(const Json& json) {
  Status status;
  Reader reader(json, "", status);
  Program program;
  program.version = reader.integer("ir", 0, true);
  if (!status.ok()) return status;
  if (program.version != kVersion) {
    return Status(invalid(fmt::format("IR version {} is not supported: this radlc reads version {}",
                                      program.version, kVersion)))
        .with_hint(program.version > kVersion ? "it was written by a newer radlc"
                                              : "compile the source again");
  }
  program.name = reader.text("name", true);
  program.sources = reader.list<Source>("sources", read_source, true);
  program.source_digest = reader.text("source_digest", true);
  program.inputs = reader.values("inputs");
  program.networks = reader.list<Network>("networks", read_network, true);
  program.ansible_hosts = reader.list<AnsibleHost>("ansible_hosts", read_ansible_host);
  program.nodes = reader.list<Node>("nodes", read_node, true);
  program.steps = reader.list<Step>("steps", read_step, true);
  program.outputs = reader.list<Output>("outputs", read_output);
  program.moves = reader.list<Move>("moves", read_move);
  program.contextualize = reader.boolean("contextualize", true);
  program.max_time_seconds = reader.number("max_time_seconds", program.max_time_seconds);
  program.options = reader.values("options");
  reader.finish();
  if (status.ok()) status = verify(program);
  if (!status.ok()) return status;
  return program;
}

Result<Program> parse_program(std::string_view text) {
  bool too_deep = false;
  auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  // A cheap look first: the parser itself is iterative, but copying and freeing a deep document is not.
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size() && depth <= kMaxDepth; i++) {
    char c = text[i];
    if (quoted) {
      if (c == '\\')
        i++;
      else
        quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if (c == '}' || c == ']') {
      depth--;
    }
  }
  if (depth > kMaxDepth) return invalid(fmt::format("IR: nested deeper than {}", kMaxDepth));
  Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (json.is_discarded() || too_deep) return invalid("IR: this is not JSON (is the file complete?)");
  return from_json(json);
}

}  // namespace radl::ir
