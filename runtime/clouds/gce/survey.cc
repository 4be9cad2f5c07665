#include "runtime/clouds/gce/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/human.h"
#include "common/text.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/marks.h"

namespace radl::gce {
namespace {

Status survey_images(Asking& call, const ir::Program& program, Json& facts) {
  facts["images"] = Json::object();
  for (const ir::Node& node : program.nodes) {
    auto wanted = image_wanted(node);
    if (!wanted.ok() || facts["images"].contains(*wanted)) continue;
    auto image = find_image(call, *wanted);
    if (!image.ok()) return Status(image.status()).at(node.address);
    facts["images"][*wanted] = image->path;
  }
  return {};
}

// How many machines of the infrastructure count against INSTANCES already.
Result<double> own_instances(Asking& call) {
  double own = 0;
  const std::string filter = fmt::format("name eq \"{}.*\"", name_prefix(call.context, call.cloud));
  Status asked = call.service.each(call.root() + "aggregated/instances", "instances", {{"filter", filter}},
                                   call.context.stop, [&](const Json&) { ++own; });
  if (!asked.ok()) return asked;
  return own;
}

}  // namespace

Result<Json> take_survey(Asking& call, const ir::Program& program) {
  Json facts = {{"project", call.project}, {"zones", Json::array()}, {"quotas", Json::object()}};
  auto region = read(call, "regions/" + call.cloud.region);
  if (!region.ok()) return region.status();
  for (const Json& zone : list_of(*region, "zones"))
    if (zone.is_string()) facts["zones"].push_back(last_part(zone.get<std::string>()));
  std::sort(facts["zones"].begin(), facts["zones"].end());
  auto own = own_instances(call);
  if (!own.ok()) return own.status();
  for (const Json& quota : list_of(*region, "quotas")) {
    const std::string metric = text_of(quota, "metric");
    if (metric != "INSTANCES" && metric != "STATIC_ADDRESSES") continue;
    facts["quotas"][metric] = {{"limit", number_of(quota, "limit")},
                               {"used", number_of(quota, "usage")},
                               {"ours", metric == "INSTANCES" ? *own : 0}};
  }
  if (Status asked = survey_images(call, program, facts); !asked.ok()) return asked;
  return facts;
}

Status check_quotas(const DesignInput& input, const Design& design) {
  const Json& quotas = member(input.survey.facts, "quotas");
  if (!quotas.is_object()) return {};
  const Json& one = member(quotas, "INSTANCES");
  const double limit = number_of(one, "limit", -1), others = number_of(one, "used") - number_of(one, "ours");
  const auto need = static_cast<double>(std::count_if(design.resources.begin(), design.resources.end(),
                                                      [](const Wanted& w) { return !w.node.empty(); }));
  if (limit < 0 || need + others <= limit) return {};
  return Status(Code::Quota,
                fmt::format("the region's quota INSTANCES is {}, others use {} of it, and this needs {}",
                            plain_number(limit), plain_number(others), plain_number(need)))
      .with_hint("ask for more: console.cloud.google.com/iam-admin/quotas");
}

std::vector<QuotaUse> quota_uses(const Survey& survey) {
  const Json& one = member(member(survey.facts, "quotas"), "INSTANCES");
  const double limit = number_of(one, "limit", -1);
  if (limit < 0) return {};
  return {{"INSTANCES of the region", 1, limit - number_of(one, "used") + number_of(one, "ours")}};
}

}  // namespace radl::gce
