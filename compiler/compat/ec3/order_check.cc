#include "compiler/compat/ec3/order_check.h"

#include <set>

#include "compiler/check/features.h"

namespace radl::ec3 {
namespace {

std::string named(std::string_view keyword, std::string_view name) {
  return std::string(keyword) + " `" + std::string(name) + "`";
}

// What EC3 knows of disks and interfaces (IM2/radl/radl.py, `_system.check`): only these make one.
bool known_to_ec3(const sema::IndexedName& name) {
  using Names = std::set<std::string_view>;
  static const Names of_disks = {"image.url",
                                 "image.name",
                                 "type",
                                 "device",
                                 "size",
                                 "free_size",
                                 "os.name",
                                 "os.flavour",
                                 "os.version",
                                 "os.credentials.username",
                                 "os.credentials.password",
                                 "os.credentials.private_key",
                                 "os.credentials.public_key",
                                 "applications"};
  static const Names of_interfaces = {"connection", "dns_name"};
  return (name.kind == "disk" ? of_disks : of_interfaces).contains(name.rest);
}

// A disk or an interface of a system that has a gap before it.
struct Gap {
  std::string what;
  Span span;
};

// An interface that has a name and no network.
void unconnected(const Aspect& system, std::vector<Gap>& found) {
  for (const sema::Merged& item : system.features.items) {
    sema::IndexedName name = sema::split_index(item.name());
    if (name.kind != "net_interface" || !name.valid || !known_to_ec3(name)) continue;
    std::string connection = "net_interface." + std::string(name.index) + ".connection";
    if (system.features.find(connection) == nullptr)
      found.push_back({connection + " of " + named("system", system.name), item.first->name_span});
  }
}

void gaps(const Aspect& system, std::string_view kind, std::vector<Gap>& found) {
  std::map<int64_t, Span> numbers;
  for (const sema::Merged& item : system.features.items) {
    sema::IndexedName name = sema::split_index(item.name());
    if (name.kind == kind && name.valid && known_to_ec3(name))
      numbers.emplace(name.number, item.first->name_span);
  }
  int64_t expected = 0;
  for (const auto& [number, span] : numbers) {
    if (number != expected) {
      found.push_back(
          {std::string(kind) + "." + std::to_string(expected) + " of " + named("system", system.name), span});
      return;
    }
    ++expected;
  }
}

}  // namespace

std::vector<OrderCheck::Missing> OrderCheck::missing() const {
  std::vector<Missing> all;
  auto need = [&](std::string_view keyword, std::string_view name, Span at) {
    if (cluster_.find(keyword, name) == nullptr) all.push_back({named(keyword, name), at});
  };
  for (const ast::Deploy* deploy : cluster_.deploys) need("system", deploy->name.text, deploy->name.span);
  for (const ast::Contextualize* block : cluster_.contextualizes)
    for (const ast::Item* item : block->items) {
      need("system", item->system.text, item->system.span);
      need("configure", item->configure.text, item->configure.span);
    }
  for (const Aspect* aspect : cluster_.order) {
    if (aspect->keyword != "system") continue;
    for (const sema::Merged& item : aspect->features.items) {
      auto text = item.text();
      if (text && item.name().starts_with("net_interface.") && item.name().ends_with(".connection"))
        need("network", *text, item.value->span());
    }
    std::vector<Gap> found;
    gaps(*aspect, "disk", found);
    gaps(*aspect, "net_interface", found);
    unconnected(*aspect, found);
    for (Gap& gap : found) all.push_back({std::move(gap.what), gap.span});
  }
  return all;
}

void OrderCheck::look() {
  for (Missing& each : missing()) then_.emplace(each.what, each);
}

void OrderCheck::report() {
  std::set<std::string> still;
  for (const Missing& each : missing()) still.insert(each.what);
  for (const auto& [what, each] : then_) {
    if (still.contains(what)) continue;
    cluster_.diagnostics
        .report(DiagCode::TemplateOrder, each.span, what + " does not exist yet when this template is added")
        .with_help("give the template that defines it before this one");
  }
}

}  // namespace radl::ec3
