#include "runtime/driver/given_back.h"

#include <fmt/format.h>

#include <map>

#include "runtime/clouds/hosts/hosts_cloud.h"

namespace radl::driver {
namespace {

constexpr size_t kNamesShown = 20;  // of one type

// "file '/a', '/b'; user 'ana'; not undone: command 'make install', Ansible recipe 'tools'"
class WhatSteps {
 public:
  void add(const StepRecord& step) {
    const bool native = step.kind == ir::step_kind_name(ir::StepKind::Native);
    if (step.kind == ir::step_kind_name(ir::StepKind::Training)) return;  // its folders are radlc's own
    if (!native) return put("recipe of " + step.kind, step.recipe, false);
    if (!step.definition || !step.definition->contains("resources")) return;
    for (const Json& resource : step.definition->at("resources")) add_resource(resource);
  }

  std::string text() const {
    return lists(undone_by_hand_) + (not_undone_.empty() ? ""
                                                         : (undone_by_hand_.empty() ? "" : "; ") +
                                                               ("not undone: " + lists(not_undone_)));
  }

 private:
  struct Names {
    std::vector<std::string> shown;
    size_t more = 0;
  };
  using Lists = std::map<std::string, Names>;

  void add_resource(const Json& resource) {
    const std::string type = resource.value("type", "");
    const Json properties = resource.value("properties", Json::object());
    const bool absent = properties.contains("state") && properties["state"] == "absent";
    // What joins networks is taken away with the machine.
    if (absent || type == "wait_for" || type.starts_with("wireguard")) return;
    put(type, resource.value("name", ""), type != "command");
  }

  void put(const std::string& type, const std::string& name, bool known) {
    Names& names = (known ? undone_by_hand_ : not_undone_)[type];
    for (const std::string& one : names.shown) {
      if (one == name) return;
    }
    if (names.shown.size() < kNamesShown)
      names.shown.push_back(name);
    else
      ++names.more;
  }

  static std::string lists(const Lists& lists) {
    std::string text;
    for (const auto& [type, names] : lists) {
      text += (text.empty() ? "" : "; ") + type;
      for (size_t i = 0; i < names.shown.size(); ++i) text += (i == 0 ? " '" : ", '") + names.shown[i] + "'";
      if (names.more > 0) text += fmt::format(" and {} more", names.more);
    }
    return text;
  }

  Lists undone_by_hand_, not_undone_;
};

}  // namespace

void tell_what_stays(Plan& plan, const Snapshot& snapshot) {
  std::map<std::string, std::string> nodes_by_text;  // nodes whose steps made the same stand in one note
  for (const Action& action : plan.actions) {
    if (action.is_step || action.verb != Verb::Delete || action.cloud != hosts::kCloudName) continue;
    WhatSteps made;
    for (const auto& [id, step] : snapshot.steps) {
      if (step.nodes.size() == 1 && step.nodes[0] == action.id) made.add(step);
    }
    const std::string text = made.text();
    if (text.empty()) continue;
    std::string& nodes = nodes_by_text[text];
    nodes += (nodes.empty() ? "" : ", ") + action.id;
  }
  for (const auto& [text, nodes] : nodes_by_text)
    plan.notes.push_back(
        nodes + (nodes.find(", ") == std::string::npos ? " is" : " are") +
        " given back without radlc's keys and folders; what the steps made there stays: " + text);
}

}  // namespace radl::driver
