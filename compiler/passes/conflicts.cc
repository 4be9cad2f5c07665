// Conflicting recipes on one node: each would undo the other's changes at every apply.
//
// Compares resources of different steps property by property. A property that only one of them sets is
// not a conflict; neither are properties that add up (groups of a user) or that say how, not what (a
// timeout).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/passes/build.h"
#include "compiler/resources/resource_schema.h"

namespace radl::passes {

namespace {

// A resource, and the item that requests it.
struct Wanted {
  const BoundItem* item;
  const ir::Resource* resource;
  Span span;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a resource is about: two with one key mean the same thing on a node. "": nothing lasting.
std::string key_of(const ir::Resource& resource) {
  if (is_one_of(resource.type, {"command", "wait_for", "training", "program", "dataset"})) return {};
  const ir::ResourceType* type = ir::find_resource_type(resource.type);
  if (type == nullptr || !type->name_is_path) return resource.type + " " + resource.name;
  std::string path = std::filesystem::path(resource.name).lexically_normal().string();
  if (path.size() > 1 && path.back() == '/') path.pop_back();
  return resource.type == "mount" ? "mount " + path : "path " + path;
}

// Groups and keys add to existing ones, `system` matters only at creation, the others say how to proceed.
bool adds_up(std::string_view property) {
  return is_one_of(property, {"groups", "authorized_keys", "system", "timeout", "restart", "retries"});
}

class Comparing {
 public:
  explicit Comparing(Build& build) : build_(build) {}

  // The property in which they contradict each other, "type" where they are no one thing at all; "": none.
  std::string contradiction(const ir::Resource& a, const ir::Resource& b) const {
    bool a_gone = absent(a), b_gone = absent(b);
    if (a_gone || b_gone) return a_gone == b_gone ? "" : "state";
    if (a.type != b.type) return may_share(a, b) ? "" : "type";
    if (gives_content(a) && gives_content(b) && content(a) != content(b))
      return a.properties->contains("content") ? "content" : "source";
    for (const auto& [name, value] : a.properties->items()) {
      if (adds_up(name) || is_one_of(name, {"content", "source", "source_sha256"})) continue;
      auto other = b.properties->find(name);
      if (other == b.properties->end() || plain(value) == plain(*other)) continue;
      if (a.type == "package" && name == "state") continue;  // `latest` is present too
      return name;
    }
    return {};
  }

 private:
  static bool absent(const ir::Resource& resource) {
    auto state = resource.properties->find("state");
    return state != resource.properties->end() && state->is_string() && *state == "absent";
  }

  static bool gives_content(const ir::Resource& resource) {
    return is_one_of(resource.type, {"download", "upload"}) || resource.properties->contains("content") ||
           resource.properties->contains("source");
  }

  // Different types of one path: a `file` without content only sets permissions, which an upload may share.
  static bool may_share(const ir::Resource& a, const ir::Resource& b) {
    auto both = [&](std::string_view one, std::string_view other) {
      return (a.type == one && b.type == other) || (a.type == other && b.type == one);
    };
    if (both("directory", "upload")) return true;
    return !both("file", "directory") && !(gives_content(a) && gives_content(b));
  }

  // Compares local files by digest, because their location does not matter.
  ir::Json content(const ir::Resource& resource) const {
    if (auto digest = resource.properties->find("source_sha256"); digest != resource.properties->end())
      return *digest;
    if (auto digest = resource.properties->find("sha256"); digest != resource.properties->end())
      return *digest;
    auto text = resource.properties->find("content");
    return text == resource.properties->end() ? ir::Json() : plain(*text);
  }

  // Secrets are named after their place, so that equal ones have different names.
  ir::Json plain(const ir::Json& value) const {
    return ir::substitute(
        value, [](const std::string&) { return std::optional<ir::Json>(); },
        [this](const std::string& name) -> std::optional<ir::Json> {
          auto found = build_.secrets.find(name);
          return found == build_.secrets.end() ? std::nullopt : std::optional<ir::Json>(found->second);
        });
  }

  Build& build_;
};

class Finder {
 public:
  explicit Finder(Build& build) : build_(build), comparing_(build) {}

  void run() {
    std::map<std::string_view, std::vector<const BoundItem*>> by_system;
    for (const BoundItem& item : build_.items) {
      if (item.kind == ir::StepKind::Native && !item.steps.empty()) by_system[item.system].push_back(&item);
    }
    for (const auto& [system, items] : by_system) {
      if (items.size() > 1) look_at(items);
    }
  }

 private:
  // A system's nodes run the same items. If their resources are equal too, checks only one node.
  void look_at(const std::vector<const BoundItem*>& items) {
    auto alike = [&](const BoundItem* item) {
      return std::all_of(item->steps.begin(), item->steps.end(), [&](size_t step) {
        return build_.steps[step].digest == build_.steps[item->steps[0]].digest;
      });
    };
    size_t nodes = items[0]->steps.size();
    if (std::all_of(items.begin(), items.end(), alike)) nodes = 1;
    for (size_t node = 0; node < nodes; node++) look_at(items, node);
  }

  void look_at(const std::vector<const BoundItem*>& items, size_t node) {
    std::map<std::string, Wanted> first;
    for (const BoundItem* item : items) {
      if (node >= item->steps.size()) continue;
      const ir::Step& step = build_.steps[item->steps[node]];
      for (const ir::Resource& resource : step.resources) {
        std::string key = key_of(resource);
        if (key.empty()) continue;
        Wanted wanted{item, &resource, span_of(resource)};
        auto [found, fresh] = first.emplace(std::move(key), wanted);
        if (!fresh && found->second.item != item) compare(found->second, wanted, step.nodes[0]);
      }
    }
  }

  // Where it is written: its type.
  Span span_of(const ir::Resource& resource) const {
    const SourceFile* file = build_.sources.find(std::string_view(resource.origin.path));
    if (file == nullptr) return {};
    uint32_t begin = file->offset(Position{resource.origin.line, resource.origin.column});
    return {file->id(), begin, begin + static_cast<uint32_t>(resource.type.size())};
  }

  void compare(const Wanted& first, const Wanted& second, const std::string& node) {
    std::string property = comparing_.contradiction(*first.resource, *second.resource);
    if (property.empty() || !reported_.emplace(first.span.begin, second.span.begin, property).second) return;
    const std::string &one = first.item->recipe, &other = second.item->recipe;
    std::string what = property == "type"
                           ? fmt::format("'{}' is a {} in {} and a {} in {}", second.resource->name,
                                         first.resource->type, one, second.resource->type, other)
                           : fmt::format("{} and {} want different {} of {} '{}'", one, other, property,
                                         second.resource->type, second.resource->name);
    auto& report = build_.diagnostics.report(DiagCode::ResourceConflict, second.span,
                                             fmt::format("{}, and both run on {}", what, node));
    report.with_help("each apply would undo what the other did: keep one, or give them names of their own");
    if (first.span.file != second.span.file || first.span.begin != second.span.begin)
      return void(report.note(first.span, "the other one"));
    // Two instances of one module: what tells them apart is where they are used.
    for (const Wanted* each : {&first, &second}) {
      if (const ast::Use* use = each->item->instance->use; use != nullptr)
        report.note(use->name.span, "one of the instances");
    }
  }

  Build& build_;
  Comparing comparing_;
  std::set<std::tuple<uint32_t, uint32_t, std::string>> reported_;
};

}  // namespace

void conflicts(Build& build) { Finder(build).run(); }

}  // namespace radl::passes
