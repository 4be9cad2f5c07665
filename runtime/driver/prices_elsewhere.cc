#include "runtime/driver/prices_elsewhere.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan/render.h"

namespace radl::driver {

namespace {

constexpr size_t kMostNodes = 1000;  // a plan for each cloud: a fraction of a second in all

// Without a total where currencies differ: those stay in the order of their names.
bool is_cheaper(const PriceElsewhere& a, const PriceElsewhere& b) {
  if (a.complete != b.complete) return a.complete;
  const Result<Money> one = a.per_hour.total(), other = b.per_hour.total();
  return one.ok() && other.ok() && one->currency == other->currency && one->micros < other->micros;
}

}  // namespace

std::vector<PriceElsewhere> prices_elsewhere(const Project& project, const Machinery& machinery) {
  std::vector<PriceElsewhere> prices;
  const ir::Program& program = project.compiled.program;
  CloudSet clouds = machinery.clouds();
  const bool open = std::any_of(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
    return node.cloud.empty() && clouds.name_for(node) == clouds.fallback;
  });
  if (!open || !clouds.asked.empty() || program.nodes.size() > kMostNodes) return prices;
  const Snapshot nothing;
  for (const std::string& name : clouds.with_credentials()) {
    clouds.asked = name;
    auto plan = make_plan({program,
                           nothing,
                           clouds,
                           machinery.catalog(),
                           fingerprints(nothing, project.compiled.secrets),
                           nullptr,
                           {},
                           {}});
    if (!plan.ok()) continue;
    PriceElsewhere price{name, clouds.id_for(ir::Node()), plan->totals.price_per_hour, true};
    for (const ResourceCost& cost : plan->costs) price.complete = price.complete && cost.priced();
    prices.push_back(std::move(price));
  }
  std::stable_sort(prices.begin(), prices.end(), is_cheaper);
  return prices;
}

std::string render_text(const std::vector<PriceElsewhere>& prices) {
  if (prices.empty()) return {};
  std::string list;
  for (const PriceElsewhere& price : prices) {
    list += list.empty() ? "" : ", ";
    list += price.complete ? price.name + " " + price_text(price.per_hour, "USD")
                           : price.name + " (price unknown)";
  }
  return fmt::format("with the credentials there are, by the catalogue: {} (`--cloud {}`)\n", list,
                     prices.front().name);
}

Json to_json(const std::vector<PriceElsewhere>& prices) {
  Json list = Json::array();
  for (const PriceElsewhere& price : prices) {
    list.push_back({{"name", price.name},
                    {"cloud", price.cloud},
                    {"price_per_hour", price.per_hour},
                    {"complete", price.complete}});
  }
  return list;
}

}  // namespace radl::driver
