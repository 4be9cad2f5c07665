#include "runtime/clouds/ec2/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "common/utc.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/ec2/instance.h"
#include "runtime/clouds/fitting.h"

namespace radl::ec2 {
namespace {

// The nodes that may be this region's: which cloud a node is for is not this cloud's to say.
bool may_be_here(const ir::Node& node, const CloudId& cloud) {
  const std::string region = region_named(node);
  return (region.empty() || region == cloud.region) && image_wanted(node, "x86_64", cloud.region).ok();
}

Status survey_zones(Call& call, Json& facts) {
  facts["zones"] = Json::array();
  return call.api.each(call.context, "DescribeAvailabilityZones", {}, "availabilityZoneInfo",
                       [&](pugi::xml_node item) {
                         if (text_of(item, "zoneState") == "available")
                           facts["zones"].push_back(text_of(item, "zoneName"));
                       });
}

Status survey_images(Call& call, const ir::Program& program, Json& facts) {
  facts["images"] = Json::object();
  for (const ir::Node& node : program.nodes) {
    if (!may_be_here(node, call.cloud)) continue;
    const std::string wanted = image_wanted(node, "x86_64", call.cloud.region)->text;
    if (facts["images"].contains(wanted)) continue;
    auto image = find_image(call, wanted);
    if (!image.ok()) return std::move(image).status().at(node.address);
    facts["images"][wanted] = image->id;
    facts["image_architectures"][wanted] = image->architecture;
  }
  return {};
}

bool on_spot(const ir::Node& node) { return market_wanted(node) == Market::Spot; }

// The types that these nodes name; none where a node leaves the choice open. A region has thousands of
// prices.
std::vector<std::string> spot_types(const ir::Program& program) {
  std::set<std::string> named;
  for (const ir::Node& node : program.nodes) {
    if (!on_spot(node)) continue;
    const auto names = texts_wanted(node, "instance_type");
    if (names.empty()) return {};
    for (const std::string& name : names) {
      if (name.find_first_of("*?") != name.npos) return {};
      named.insert(name);
    }
  }
  return {named.begin(), named.end()};
}

// The lowest of the zones, for each type.
Status survey_spot(Call& call, const ir::Program& program, Json& facts) {
  Parameters parameters = {{"StartTime", utc_text(std::time(nullptr))},
                           {"ProductDescription.1", "Linux/UNIX"}};
  // Sent as a filter, because a node of another cloud may name a type that EC2 lacks.
  const auto types = in_portions(Selection::By::Ids, spot_types(program));
  if (types.size() == 1) add_filter(parameters, "instance-type", types.front().values);
  std::map<std::string, double> lowest;
  Status asked = call.api.each(call.context, "DescribeSpotPriceHistory", parameters, "spotPriceHistorySet",
                               [&](pugi::xml_node item) {
                                 const double price = item.child("spotPrice").text().as_double();
                                 if (price <= 0) return;
                                 auto [known, first] = lowest.emplace(text_of(item, "instanceType"), price);
                                 if (!first) known->second = std::min(known->second, price);
                               });
  facts["spot"] = lowest;
  return asked;
}

// EC2's word for what it refuses: "... is not authorized to perform: ec2:CreateTags on resource: ...".
std::string permission_in(const std::string& message) {
  constexpr std::string_view kBefore = "to perform: ";
  const size_t at = message.find(kBefore);
  if (at == message.npos) return "ec2:RunInstances";
  const std::string rest = message.substr(at + kBefore.size());
  return rest.substr(0, rest.find_first_of(" ,\n"));
}

// The parameters of a dry run: those of the real request, without references to missing resources.
Result<Parameters> dry_run_of(Call& call, Order order) {
  for (const char* later : {"groups", "address", "placement_group", "cloud_init"}) order.spec.erase(later);
  auto launch = launch_of(call, order);
  if (!launch.ok()) return launch.status();
  Parameters parameters = launched_in(*launch, launch->subnets.front(), order.token);
  parameters.emplace_back("DryRun", "true");
  return parameters;
}

}  // namespace

Result<Json> take_survey(Call& call, const ir::Program& program) {
  Json facts = Json::object();
  if (Status asked = survey_zones(call, facts); !asked.ok()) return asked;
  if (Status asked = survey_images(call, program, facts); !asked.ok()) return asked;
  if (std::any_of(program.nodes.begin(), program.nodes.end(), on_spot)) {
    if (Status asked = survey_spot(call, program, facts); !asked.ok()) return asked;
  }
  return facts;
}

std::vector<std::string> refused_launches(Call& call, const std::vector<Order>& orders) {
  constexpr size_t kMost = 8;
  std::vector<std::string> refused;
  // Other servers may ignore DryRun and would create the machine, so a read-only action is tested
  // first.
  if (call.api.post(call.context, "DescribeAvailabilityZones", {{"DryRun", "true"}}, true).code !=
      "DryRunOperation")
    return refused;
  std::set<std::string> asked;  // machines of one system differ in nothing that a policy looks at
  for (const Order& order : orders) {
    const std::string kind = order.spec.value("type", "") + order.spec.value("tags", Json::object()).dump() +
                             order.spec.value("image", "") + order.spec.value("subnet", "");
    if (asked.size() >= kMost || !asked.insert(kind).second) continue;
    auto parameters = dry_run_of(call, order);
    if (!parameters.ok()) continue;  // the survey says what cannot be found
    Posted posted = call.api.post(call.context, "RunInstances", *parameters, true);
    if (posted.code != "UnauthorizedOperation" && posted.code != "AccessDenied") continue;
    std::string message = posted.asked.status.message();
    message = message.substr(0, message.find(" Encoded authorization failure message"));
    refused.push_back(
        fmt::format("{}: these credentials lack the permission {} for a {} with the file's tags: {}",
                    order.address, permission_in(message), order.spec.value("type", ""), message));
  }
  return refused;
}

}  // namespace radl::ec2
