// Completes systems of `radl 2`: passes their cloud to their deploys, and adds the default network to those
// without one.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/build.h"

namespace radl::passes {

namespace {

constexpr std::string_view kDefaultNetwork = "default";

class Completion {
 public:
  explicit Completion(Build& build) : build_(build), arena_(build.values.arenas.front()) {
    for (hir::Part& part : build.values.parts)
      for (hir::Deploy& deploy : part.deploys) deploys_[deploy.system.text].push_back(&deploy);
  }

  void run() {
    for (const auto& [system, deploys] : deploys_) check_counts(system, deploys);
    for (hir::Part& part : build_.values.parts) {
      if (part.dialect != ast::Dialect::Radl2) continue;
      for (hir::Block& system : part.systems) take_cloud(system);
    }
    connect();
  }

 private:
  using Deploys = std::vector<hir::Deploy*>;

  void check_counts(std::string_view system, const Deploys& deploys) {
    auto counted =
        std::find_if(deploys.begin(), deploys.end(), [](const hir::Deploy* one) { return one->of_system; });
    if (counted == deploys.end()) return;
    for (const hir::Deploy* other : deploys) {
      if (other->of_system) continue;
      build_.diagnostics
          .report(DiagCode::DeployedTwice, other->span,
                  fmt::format("system `{}` has a `count` and is deployed here, too", system))
          .with_help("keep `count` and remove this `deploy`")
          .note((*counted)->span, "its `count`")
          .fix("remove this `deploy`", other->span, "");
    }
  }

  // `cloud` is not a feature of the nodes: it sets the cloud of the system's deploys.
  void take_cloud(hir::Block& system) {
    const auto& items = system.features.items;
    const bool written_at_all =
        std::any_of(items.begin(), items.end(), [](const hir::Feature& one) { return one.name == "cloud"; });
    if (!written_at_all) return;
    const hir::Feature* cloud = nullptr;
    List<hir::Feature> kept;
    for (const hir::Feature& feature : system.features.items) {
      if (feature.name != "cloud") {
        kept.push(arena_, feature);
        continue;
      }
      if (cloud != nullptr && cloud->layer == feature.layer)
        build_.diagnostics
            .report(DiagCode::ConflictingValues, feature.span, "`cloud` has another value already")
            .note(cloud->span, "first set here");
      cloud = &feature;
    }
    const hir::Feature written = *cloud;
    system.features.items = kept;
    const std::string_view name = cloud_named(written);
    if (name.empty()) return;
    const auto deployed = deploys_.find(system.name.text);
    if (deployed == deploys_.end()) return;
    for (hir::Deploy* deploy : deployed->second) {
      if (!deploy->cloud.text.empty())
        build_.diagnostics
            .report(
                DiagCode::DeployedTwice, deploy->cloud.span,
                fmt::format("system `{}` has a `cloud`, and its `deploy` names one, too", system.name.text))
            .with_help("keep the `cloud` of the system")
            .note(written.span, "its `cloud`")
            .fix("remove this cloud", deploy->cloud.span, "");
      deploy->cloud = {name, written.value.span()};
    }
  }

  // "" after a report.
  std::string_view cloud_named(const hir::Feature& cloud) {
    const hir::Value& value = cloud.value;
    if (value.sensitive())
      build_.diagnostics.report(DiagCode::SecretShown, value.span(),
                                "the cloud of a system is shown in plans: it cannot be a secret");
    else if (cloud.op != ast::Op::Eq)
      build_.diagnostics.report(DiagCode::FeatureExpression, cloud.op_span, "`cloud` takes `=`");
    else if (value.text() && !value.text()->empty())
      return *value.text();
    else if (value.kind() != hir::Kind::Error)
      build_.diagnostics.report(DiagCode::FeatureExpression, value.span(),
                                "the cloud of a system is a name, such as 'ec2'");
    return {};
  }

  static bool has_network(const hir::Block& system) {
    const auto& items = system.features.items;
    return std::any_of(items.begin(), items.end(), [](const hir::Feature& feature) {
      return feature.name.starts_with("net_interface.");
    });
  }

  // A network called `default` that the program declares itself takes the place of the one made here.
  void connect() {
    std::set<std::string_view> connected;
    bool declared = false;
    for (const hir::Part& part : build_.values.parts) {
      for (const hir::Block& system : part.systems)
        if (has_network(system)) connected.insert(system.name.text);
      for (const hir::Block& network : part.networks) declared |= network.name.text == kDefaultNetwork;
    }
    for (hir::Part& part : build_.values.parts) {
      if (part.dialect != ast::Dialect::Radl2) continue;
      for (hir::Block& system : part.systems) {
        if (!deploys_.contains(system.name.text) || !connected.insert(system.name.text).second) continue;
        system.features.items.push(arena_, feature(system, "net_interface.0.connection", kDefaultNetwork));
        if (!std::exchange(declared, true)) part.networks.push_back(default_network(system));
      }
    }
  }

  hir::Feature feature(const hir::Block& system, std::string_view name, std::string_view text) {
    const Span at = system.name.span;
    hir::Feature made;
    made.name = name;
    made.name_span = made.span = made.op_span = at;
    made.op = ast::Op::Eq;
    made.strict = true;
    made.value = hir::Value::text(arena_, text, at);
    return made;
  }

  // Public, so that radlc reaches its nodes by SSH; no other port is open from outside.
  hir::Block default_network(const hir::Block& system) {
    hir::Block network;
    network.keyword = {"network", system.keyword.span};
    network.name = {kDefaultNetwork, system.name.span};
    network.span = system.span;
    network.present = true;
    network.features.items.push(arena_, feature(system, "outbound", "yes"));
    return network;
  }

  Build& build_;
  Arena& arena_;
  std::map<std::string_view, Deploys> deploys_;  // by system
};

}  // namespace

void complete_systems(Build& build) { Completion(build).run(); }

}  // namespace radl::passes
