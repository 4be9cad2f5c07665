#include "tools/graph/graph.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace radl {
namespace {

std::string dot_text(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

std::string amount(const ir::Requirement& requirement) {
  auto number = [](double value) {
    if (value >= 1e9) return std::to_string(static_cast<long long>(value / 1e9 + 0.5)) + "G";
    if (value >= 1e6) return std::to_string(static_cast<long long>(value / 1e6 + 0.5)) + "M";
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  };
  if (requirement.min && requirement.max && *requirement.min == *requirement.max)
    return number(*requirement.min);
  if (requirement.min) return ">= " + number(*requirement.min);
  if (requirement.max) return "<= " + number(*requirement.max);
  if (requirement.equals && requirement.equals->is_string()) return requirement.equals->get<std::string>();
  return requirement.equals && requirement.equals->is_number() ? number(requirement.equals->get<double>())
                                                               : "";
}

class Drawing {
 public:
  Drawing(const ir::Program& program, const GraphOptions& options) : program_(program), options_(options) {
    for (const ir::Node& node : program.nodes) {
      ++count_[node.system];
      system_[node.address] = node.system;
    }
  }

  std::string run() {
    out_ = "digraph " + dot_text(program_.name) +
           " {\n  rankdir=LR;\n  node [fontname=\"sans-serif\" fontsize=11];\n"
           "  edge [fontname=\"sans-serif\" fontsize=9];\n";
    if (options_.machines) machines();
    if (options_.steps) steps();
    return out_ + "}\n";
  }

 private:
  void line(const std::string& text) { out_ += "  " + text + "\n"; }

  std::string machine_id(const ir::Node& node) const {
    return "node:" + (options_.each_node ? node.address : node.system);
  }

  void machines() {
    for (const ir::Network& network : program_.networks) {
      std::string label = network.name + (network.is_public ? "\npublic" : "");
      if (!network.ports.empty()) {
        label += "\n";
        size_t shown = 0;
        for (const ir::PortRule& port : network.ports) {
          if (++shown > 6) {
            label += " ...";
            break;
          }
          label += (shown > 1 ? " " : "") + std::to_string(port.remote) +
                   (port.remote_end > port.remote ? "-" + std::to_string(port.remote_end) : "") + "/" +
                   port.protocol;
        }
      }
      line(dot_text("network:" + network.name) + " [shape=ellipse style=filled fillcolor=" +
           (network.is_public ? "\"#fde9c8\"" : "\"#e8eef7\"") + " label=" + dot_text(label) + "];");
    }
    std::set<std::string> drawn;
    for (const ir::Node& node : program_.nodes) {
      if (!drawn.insert(machine_id(node)).second) continue;
      machine(node);
    }
  }

  void machine(const ir::Node& node) {
    std::string label = options_.each_node ? node.address : node.system;
    if (!options_.each_node && count_[node.system] > 1)
      label += " \xC3\x97 " + std::to_string(count_[node.system]);
    for (const char* feature : {"cpu.count", "memory.size", "gpu.count", "instance_type"}) {
      auto requirement = node.requirements.find(feature);
      if (requirement != node.requirements.end())
        label += "\n" + std::string(feature) + " " + amount(requirement->second);
    }
    line(dot_text(machine_id(node)) +
         " [shape=box3d style=filled fillcolor=\"#e6f4e6\" label=" + dot_text(label) + "];");
    for (const ir::Interface& interface : node.interfaces) {
      line(dot_text(machine_id(node)) + " -> " + dot_text("network:" + interface.network) +
           " [dir=none label=" + dot_text(interface.host_name) + "];");
    }
  }

  // A step's box: by itself, or one for all nodes of a system.
  std::string step_id(const ir::Step& step) const {
    if (options_.each_node || ir::is_job(step.kind) || step.nodes.empty()) return "step:" + step.id;
    auto system = system_.find(step.nodes[0]);
    return "step:" + (system == system_.end() ? step.nodes[0] : system->second) + "/" + step.recipe;
  }

  void steps() {
    std::map<std::string, std::string> box;  // step id -> its box
    std::set<std::string> drawn;
    for (const ir::Step& step : program_.steps) {
      std::string id = step_id(step);
      box[step.id] = id;
      if (!drawn.insert(id).second) continue;
      const char* kind = step.kind == ir::StepKind::Native      ? "native"
                         : step.kind == ir::StepKind::Ansible   ? "Ansible"
                         : step.kind == ir::StepKind::CloudInit ? "cloud-init"
                         : step.kind == ir::StepKind::Program   ? "program"
                                                                : "training";
      std::string label = id.substr(5) + "\n" + kind;
      if (step.group > 0) label += ", step " + std::to_string(step.group);
      line(dot_text(id) +
           " [shape=box style=\"rounded,filled\" fillcolor=\"#f4e6f2\" label=" + dot_text(label) + "];");
      if (options_.machines) runs_on(step, id);
    }
    order(box);
  }

  void runs_on(const ir::Step& step, const std::string& id) {
    std::set<std::string> machines;
    for (const std::string& address : step.nodes) {
      auto system = system_.find(address);
      machines.insert("node:" + (options_.each_node || system == system_.end() ? address : system->second));
    }
    for (const std::string& machine : machines) {
      line(dot_text(id) + " -> " + dot_text(machine) + " [style=dotted arrowhead=none];");
    }
  }

  void order(const std::map<std::string, std::string>& box) {
    std::map<std::pair<std::string, std::string>, std::string> edges;  // first, then -> reason
    for (const ir::Step& step : program_.steps) {
      for (const ir::Edge& edge : step.after) {
        auto from = box.find(edge.to), to = box.find(step.id);
        if (from == box.end() || from->second == to->second) continue;
        edges.emplace(std::pair(from->second, to->second), edge.reason);
      }
    }
    for (const auto& [ends, reason] : edges) {
      line(dot_text(ends.first) + " -> " + dot_text(ends.second) + " [label=" + dot_text(reason) + "];");
    }
  }

  const ir::Program& program_;
  const GraphOptions& options_;
  std::map<std::string, int> count_;           // by system
  std::map<std::string, std::string> system_;  // by address
  std::string out_;
};

}  // namespace

std::string program_dot(const ir::Program& program, const GraphOptions& options) {
  return Drawing(program, options).run();
}

}  // namespace radl
