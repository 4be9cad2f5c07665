#include "runtime/serve/tosca.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "common/text.h"
#include "common/yaml_document.h"

namespace radl::serve {
namespace {

using Json = nlohmann::json;

Status unsupported(const std::string& place, const std::string& what) {
  return Status(Code::Unsupported, "TOSCA: " + place + ": " + what + " is not supported");
}

class Template {
 public:
  Status load(const std::string& text) {
    YamlFault fault;
    if (!yaml_.load(text, fault))
      return Status(Code::Invalid, fmt::format("TOSCA, line {}: {}", fault.line, fault.problem));
    const YamlNode topology = yaml_.root().is_map() ? yaml_.root().find("topology_template") : yaml_.root();
    if (!yaml_.root().is_map() || !topology.is_map())
      return Status(Code::Invalid, "not a TOSCA document: topology_template is missing");
    for (const auto& [name, input] : section(topology, "inputs")) {
      const YamlNode value = child(input, "default");
      if (value.is_scalar() && !value.is_null()) inputs_[name.text()] = value.text();
    }
    for (const auto& [name, node] : section(topology, "node_templates"))
      nodes_.emplace_back(name.text(), node);
    for (const auto& [name, output] : section(topology, "outputs"))
      outputs_.emplace_back(name.text(), output);
    if (nodes_.empty()) return Status(Code::Invalid, "the TOSCA document has no node_templates");
    return {};
  }

  const std::vector<std::pair<std::string, YamlNode>>& nodes() const { return nodes_; }
  const std::vector<std::pair<std::string, YamlNode>>& outputs() const { return outputs_; }

  // A scalar, or the input that get_input names.
  Result<std::string> text(const YamlNode& value, const std::string& place) const {
    if (value.is_scalar()) return value.is_null() ? std::string() : value.text();
    const YamlNode input = child(value, "get_input");
    if (!value.is_map() || !input.is_scalar()) return unsupported(place, "this expression");
    const auto found = inputs_.find(input.text());
    if (found == inputs_.end())
      return Status(Code::Invalid, "TOSCA: input " + input.text() + " has no default value");
    return found->second;
  }

  static std::vector<std::pair<YamlNode, YamlNode>> section(const YamlNode& of, const char* name) {
    const YamlNode found = child(of, name);
    return found.is_map() ? found.entries() : std::vector<std::pair<YamlNode, YamlNode>>();
  }
  static YamlNode child(const YamlNode& of, const char* name) { return of.find(name); }

 private:
  YamlDocument yaml_;
  std::map<std::string, std::string> inputs_;
  std::vector<std::pair<std::string, YamlNode>> nodes_, outputs_;
};

bool is_compute(const YamlNode& node) { return Template::child(node, "type").text().ends_with(".Compute"); }

// A RADL id: "web-server" is "web_server".
std::string id_of(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

// "4 GB" as 4G. Nothing: not a size.
std::optional<std::string> size_of(std::string text) {
  std::erase(text, ' ');
  const size_t end = text.find_first_not_of("0123456789.");
  if (end == 0 || text.empty()) return {};
  if (end == text.npos) return text;
  const char unit = char(std::toupper(static_cast<unsigned char>(text[end])));
  constexpr std::string_view kUnits = "BKMGT";
  if (kUnits.find(unit) == kUnits.npos) return {};
  return unit == 'B' ? text.substr(0, end) : text.substr(0, end) + unit;
}

struct System {
  std::vector<std::string> features;
  std::string ports;  // of its public network: "80/tcp"
  bool is_public = false;
  std::string count = "1";
};

class Translation {
 public:
  explicit Translation(const Template& from) : from_(from) {}

  Result<std::string> run() {
    for (const auto& [name, node] : from_.nodes())
      if (is_compute(node))
        if (Status taken = take_compute(name, node); !taken.ok()) return taken;
    if (systems_.empty()) return Status(Code::Invalid, "the TOSCA document has no Compute node");
    for (const auto& [name, node] : from_.nodes())
      if (!is_compute(node))
        if (Status taken = take_software(name, node); !taken.ok()) return taken;
    return text();
  }

 private:
  Status take_compute(const std::string& name, const YamlNode& node) {
    System system;
    for (const auto& [capability, body] : Template::section(node, "capabilities"))
      for (const auto& [property, value] : Template::section(body, "properties")) {
        const std::string place = name + ": " + capability.text() + "." + property.text();
        if (capability.text() == "endpoint" && property.text() == "ports") {
          if (Status taken = take_ports(place, value, system); !taken.ok()) return taken;
          continue;
        }
        auto given = from_.text(value, place);
        if (!given.ok()) return given.status();
        if (Status taken = take(capability.text() + "." + property.text(), *given, place, system);
            !taken.ok())
          return taken;
      }
    systems_.emplace_back(name, std::move(system));
    return {};
  }

  static Status take(const std::string& what, const std::string& value, const std::string& place,
                     System& system) {
    static const std::map<std::string, std::string> kTexts = {
        {"host.instance_type", "instance_type = "},
        {"os.image", "disk.0.image.url = "},
        {"os.type", "disk.0.os.name = "},
        {"os.distribution", "disk.0.os.flavour = "},
        {"os.version", "disk.0.os.version = "},
        {"os.architecture", "cpu.arch = "},
        {"host.gpu_vendor", "gpu.vendor = "},
        {"host.gpu_model", "gpu.model = "},
        {"endpoint.dns_name", "net_interface.0.dns_name = "}};
    static const std::map<std::string, std::string> kNumbers = {{"host.num_cpus", "cpu.count >= "},
                                                                {"host.num_gpus", "gpu.count >= "}};
    static const std::map<std::string, std::string> kSizes = {{"host.mem_size", "memory.size >= "},
                                                              {"host.disk_size", "disk.0.size >= "}};
    if (value.empty()) return {};
    if (value.find_first_of("'\n\r") != value.npos)
      return Status(Code::Invalid, "TOSCA: " + place + ": bad text");
    const bool digits = value.find_first_not_of("0123456789") == value.npos;
    if (const auto found = kTexts.find(what); found != kTexts.end()) {
      system.features.push_back(found->second + in_quotes(value));
    } else if (const auto number = kNumbers.find(what); number != kNumbers.end()) {
      if (!digits) return Status(Code::Invalid, "TOSCA: " + place + ": not a number");
      system.features.push_back(number->second + value);
    } else if (const auto size = kSizes.find(what); size != kSizes.end()) {
      const auto bytes = size_of(value);
      if (!bytes) return Status(Code::Invalid, "TOSCA: " + place + ": not a size");
      system.features.push_back(size->second + *bytes);
    } else if (what == "scalable.count" || what == "scalable.default_instances") {
      if (!digits) return Status(Code::Invalid, "TOSCA: " + place + ": not a number");
      system.count = value;
    } else if (what == "endpoint.network_name") {
      if (value != "PUBLIC" && value != "PRIVATE") return unsupported(place, "a network by its name");
      system.is_public = value == "PUBLIC";
    } else if (!what.starts_with("scalable.")) {
      return unsupported(place, "this property");
    }
    return {};
  }

  Status take_ports(const std::string& place, const YamlNode& ports, System& system) {
    for (const auto& [name, port] : ports.entries()) {
      const std::string protocol = Template::child(port, "protocol").text();
      std::string number = Template::child(port, "source").text();
      if (const YamlNode range = Template::child(port, "source_range");
          range.is_list() && range.items().size() == 2)
        number = range.items()[0].text() + ":" + range.items()[1].text();
      if (number.empty() || number.find_first_not_of("0123456789:") != number.npos)
        return Status(Code::Invalid, "TOSCA: " + place + "." + name.text() + ": not a port");
      system.ports += (system.ports.empty() ? "" : ",") + number + "/" + (protocol == "udp" ? "udp" : "tcp");
    }
    return {};
  }

  Status take_software(const std::string& name, const YamlNode& node) {
    std::string host;
    const YamlNode requirements = Template::child(node, "requirements");
    if (requirements.is_list())
      for (const YamlNode& one : requirements.items()) {
        if (!one.is_map()) continue;
        for (const auto& [kind, to] : one.entries())
          if (kind.text() == "host") host = to.is_map() ? Template::child(to, "node").text() : to.text();
      }
    const auto on = std::ranges::find(systems_, host, &std::pair<std::string, System>::first);
    if (on == systems_.end())
      return unsupported(
          name, "a node of type " + Template::child(node, "type").text() + " without a Compute host");
    std::string roles;
    for (const auto& [key, artifact] : Template::section(node, "artifacts")) {
      const std::string type = Template::child(artifact, "type").text();
      const std::string file = Template::child(artifact, "file").text();
      if (!type.ends_with("AnsibleGalaxy.role"))
        return unsupported(name + ": " + key.text(), "an artifact of type " + type);
      if (file.empty() || file.find_first_of("'\n ") != file.npos)
        return Status(Code::Invalid, "TOSCA: " + name + ": " + key.text() + ": not a role");
      on->second.features.push_back("disk.0.applications contains (name = 'ansible.modules." + file + "')");
      roles += "    - role: " + file.substr(0, file.find(',')) + "\n";
    }
    std::string variables;
    for (const auto& [interface, operations] : Template::section(node, "interfaces"))
      if (Status taken = take_operations(name, operations, variables); !taken.ok()) return taken;
    if (roles.empty()) return {};
    const std::string id = id_of(name);
    recipes_ += "configure " + id + " (\n@begin\n---\n" +
                (variables.empty() ? "" : "  - vars:\n" + variables) +
                (variables.empty() ? "  - roles:\n" : "    roles:\n") + roles + "@end\n)\n";
    bindings_ += "  system " + id_of(host) + " configure " + id + "\n";
    return {};
  }

  Status take_operations(const std::string& name, const YamlNode& operations, std::string& variables) {
    if (!operations.is_map()) return {};
    for (const auto& [operation, body] : operations.entries()) {
      const std::string place = name + ": " + operation.text();
      const YamlNode script = body.is_map() ? Template::child(body, "implementation") : body;
      if (script.is_scalar() && !script.is_null() && !script.text().empty())
        return unsupported(place, "the playbook " + script.text() +
                                      ", which would have to be fetched (use an artifact of type "
                                      "tosca.artifacts.AnsibleGalaxy.role)");
      if (!body.is_map()) continue;
      for (const auto& [key, value] : Template::section(body, "inputs")) {
        if (id_of(key.text()) != key.text())
          return Status(Code::Invalid,
                        "TOSCA: " + place + ": " + key.text() + ": not the name of a variable");
        auto given = from_.text(value, place + "." + key.text());
        if (!given.ok()) return given.status();
        variables += "      " + key.text() + ": " + Json(*given).dump() + "\n";
      }
    }
    return {};
  }

  std::string text() const {
    std::string out = "network private ()\n", ports;
    bool any_public = false;
    for (const auto& [name, system] : systems_) {
      any_public |= system.is_public;
      if (!system.ports.empty()) ports += (ports.empty() ? "" : ",") + system.ports;
    }
    if (any_public)
      out += "network public (outbound = 'yes'" +
             (ports.empty() ? "" : " and outports = " + in_quotes(ports)) + ")\n";
    std::string deploys;
    for (const auto& [name, system] : systems_) {
      const std::string id = id_of(name);
      auto features = system.features;
      features.push_back(std::string("net_interface.0.connection = ") +
                         (system.is_public ? "'public'" : "'private'"));
      if (system.is_public) features.push_back("net_interface.1.connection = 'private'");
      out += "system " + id + " (\n  " + fmt::format("{}", fmt::join(features, " and\n  ")) + "\n)\n";
      deploys += "deploy " + id + " " + system.count + "\n";
    }
    out += recipes_;
    if (!bindings_.empty()) out += "contextualize (\n" + bindings_ + ")\n";
    return out + deploys;
  }

  const Template& from_;
  std::vector<std::pair<std::string, System>> systems_;
  std::string recipes_, bindings_;
};

}  // namespace

Result<std::string> tosca_to_radl(const std::string& tosca) {
  Template from;
  if (Status loaded = from.load(tosca); !loaded.ok()) return loaded;
  return Translation(from).run();
}

Result<Json> tosca_outputs(const std::string& tosca, const ToscaAttribute& attribute) {
  Template from;
  if (Status loaded = from.load(tosca); !loaded.ok()) return loaded;
  Json outputs = Json::object();
  for (const auto& [name, output] : from.outputs()) {
    const YamlNode value = Template::child(output, "value");
    const YamlNode path = value.is_map() ? Template::child(value, "get_attribute") : value;
    if (!value.is_map() || !path.is_list()) {
      auto text = from.text(value, "output " + name);
      if (!text.ok()) return text.status();
      outputs[name] = *text;
      continue;
    }
    const auto parts = path.items();
    if (parts.size() < 2) return unsupported("output " + name, "this attribute");
    size_t index = 0;
    if (parts.size() > 2 && !parts[2].text().empty() &&
        parts[2].text().find_first_not_of("0123456789") == std::string::npos && parts[2].text().size() < 6)
      index = std::stoul(parts[2].text());
    const auto found = attribute(id_of(parts[0].text()), parts[1].text(), index);
    outputs[name] = found ? *found : Json();
  }
  return outputs;
}

}  // namespace radl::serve
