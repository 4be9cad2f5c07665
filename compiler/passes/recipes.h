// Evaluates native recipes and jobs: resources of the language to resources of the IR.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/dataset_digest.h"
#include "compiler/eval/properties.h"
#include "compiler/passes/build.h"

namespace radl::passes {

class Recipes {
 public:
  explicit Recipes(Build& build)
      : build_(build), files_(user_cache(Environment(build.options.environment))) {}

  struct Made {
    std::vector<ir::Resource> resources;
    std::string digest;      // SHA-256 over the result, without paths of local files
    bool used_self = false;  // if true, valid only for this node
  };
  // `place` is the prefix for names of secrets. nullopt after a report.
  std::optional<Made> native(const ast::Configure& configure, const Instance& instance,
                             const std::string& place, const Self* self);
  // The `training` or `program` of a configure, or those that its `each` makes, as steps without edges.
  std::vector<ir::Step> jobs(const ast::Configure& configure, const Instance& instance);

  LocalFiles& files() { return files_; }

 private:
  // The resources of a configure on one node, with `each` expanded.
  struct Pass {
    const Instance& instance;
    const std::string& place;
    Made made;
    std::map<std::pair<std::string, std::string>, Span> seen;
    ir::Json digest = ir::Json::array();
  };
  bool stands_alone(const ast::Configure& configure, const ast::Resource& job);
  std::optional<ir::Step> job(const ast::Resource& written, const ast::Configure& configure,
                              const Instance& instance, const Self* self);
  void add(const List<ast::Resource*>& resources, const Self* self, Pass& pass);
  void add_each(const ast::Resource& repeated, const Self* self, Pass& pass);
  // The value of `when`: true if missing, nullopt after a report.
  std::optional<bool> wanted(const ast::Resource& written, const Instance& instance, const Self* self,
                             bool& used_self);
  // Applies the entries of `with` as properties, except those given individually. False after a report.
  bool properties_with(const ast::Feature& with, const ir::ResourceType& type, const PropertyContext& context,
                       const Instance& instance, const Self* self, bool& used_self,
                       std::set<std::string_view>& present, ir::Json& into);
  std::optional<ir::Resource> resource(const ast::Resource& written, const Instance& instance,
                                       const std::string& place, const Self* self, bool& used_self);
  std::optional<expr::Value> resource_name(const ast::Resource& written, const ir::ResourceType& type,
                                           const Instance& instance, const Self* self, bool& used_self);
  // Sets `path` of a `dataset` whose name is a place, and its directory on the nodes. False after a report.
  bool place_dataset(const expr::Value& name, Span at, ir::Resource& made);
  bool property(const ast::Feature& feature, const ir::ResourceType& type, const PropertyContext& context,
                const Instance& instance, const Self* self, bool& used_self, ir::Json& into);
  // Adds defaults and checks required and exclusive properties. `present`: properties with a value.
  bool complete(const ast::Resource& written, const ir::ResourceType& type,
                const std::set<std::string_view>& present, ir::Json& properties);
  expr::Value group_value(const ast::Features& group, const Instance& instance, const Self* self,
                          bool& used_self);

  Build& build_;
  LocalFiles files_;
  std::set<std::string_view> nulls_;  // of the current resource: properties given as `none`
};

// SHA-256 over a JSON value's canonical text (sorted keys).
std::string json_digest(const ir::Json& json);

// A result's location for the step's digest: relative to the program, so that moving the project changes
// nothing.
std::string result_for_digest(const std::string& result, const std::string& folder);

// Converts the properties of a `training` or `program` resource to a step's (docs/ir.md,
// "Training steps", "Program steps"). `folder`: of the program's file. False after reporting a
// conflict.
bool training_step(Build& build, const ir::Resource& resource, Span at, const std::string& folder,
                   ir::Step& step);
bool program_step(Build& build, LocalFiles& files, const ir::Resource& resource, const ast::Resource& written,
                  const std::string& folder, ir::Step& step);

}  // namespace radl::passes
