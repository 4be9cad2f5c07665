#include "runtime/clouds/gce/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "common/text.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/marks.h"
#include "runtime/clouds/gce/zones.h"

namespace radl::gce {
namespace {

// Which of a distribution's images it will be.
bool asks_for_arm(const ir::Node& node) {
  if (const std::string arch = text_wanted(node, "cpu.arch"); !arch.empty())
    return equal_ignoring_case(arch, "arm64") || equal_ignoring_case(arch, "aarch64");
  const std::vector<std::string> types = texts_wanted(node, "instance_type");
  return !types.empty() && std::all_of(types.begin(), types.end(), is_arm);
}

Status survey_images(Asking& call, const ir::Program& program, Json& facts) {
  facts["images"] = Json::object();
  for (const ir::Node& node : program.nodes) {
    auto wanted = image_wanted(node, asks_for_arm(node));
    if (!wanted.ok() || facts["images"].contains(*wanted)) continue;
    auto image = find_image(call, *wanted);
    if (!image.ok()) return Status(image.status()).at(node.address);
    facts["images"][*wanted] = image->path;
    facts["image_architectures"][*wanted] = architecture_name(image->architecture);
  }
  return {};
}

// What of the quotas' use is this infrastructure's.
Status survey_own(Asking& call, Json& facts) {
  const std::string filter = fmt::format("name eq \"{}.*\"", name_prefix(call.context, call.cloud));
  facts["own"] = Json::object();
  return call.service.each(call.root() + "aggregated/instances", {"instances", call.cloud.region},
                           {{"filter", filter}}, waits(call.context), [&](const Json& item) {
                             const InstanceNow now = instance_in(item);
                             count_own(facts, now.type.text(), now.spot ? Market::Spot : Market::OnDemand);
                           });
}

void take_quotas(const Json& of, std::string_view ending, Json& quotas) {
  for (const Json& quota : list_of(of, "quotas"))
    if (const std::string metric = text_of(quota, "metric"); metric.ends_with(ending))
      quotas[metric] = {{"limit", number_of(quota, "limit")}, {"used", number_of(quota, "usage")}};
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Families that came before quotas had families share one.
std::string cpu_metric(const std::string& type) {
  const std::string family = type.substr(0, type.find('-'));
  for (const char* old : {"n1", "e2", "f1", "g1"})
    if (family == old) return "CPUS";
  return upper(family) + "_CPUS";
}

// NVIDIA's "T4": "NVIDIA_T4_GPUS"
std::string gpu_metric(const InstanceType& type) {
  std::string model = upper(type.gpu_vendor + " " + type.gpu_model);
  std::replace(model.begin(), model.end(), ' ', '_');
  return model + "_GPUS";
}

// Disks that the file names with their zone; of others it is not known yet where the machine will be.
Status survey_disks(Asking& call, const ir::Program& program) {
  const std::string own = name_prefix(call.context, call.cloud);
  std::set<std::string> looked;  // every node of a system has the whole list
  for (const ir::Node& node : program.nodes) {
    for (const ir::Disk& disk : node.disks) {
      for (const std::string& url : disk.image_urls) {
        const std::string named = disk.index == 0 ? "" : disk_in_url(url);
        if (named.find('/') == named.npos || !looked.insert(named).second) continue;
        const std::string feature =
            fmt::format("{}: disk.{}.image.url = '{}'", node.address, disk.index, url);
        auto there = read(call, disk_path(named, ""));
        if (there.status().code() == Code::NotFound)
          return not_found(feature + ": disk not found")
              .with_hint("Run `gcloud compute disks list` to see the disks.");
        if (!there.ok()) return Status(there.status()).at(node.address);
        for (const Json& user : list_of(*there, "users"))
          if (user.is_string() && !last_part(user.get<std::string>()).starts_with(own))
            return invalid(
                fmt::format("{}: it is attached to {}", feature, last_part(user.get<std::string>())));
      }
    }
  }
  return {};
}

}  // namespace

Result<Json> take_survey(Asking& call, const ir::Program& program) {
  Json facts = {{"project", call.project}, {"zones", Json::array()}, {"quotas", Json::object()}};
  auto region = read(call, "regions/" + call.cloud.region);
  if (!region.ok()) return region.status();
  for (const Json& zone : list_of(*region, "zones"))
    if (zone.is_string()) facts["zones"].push_back(last_part(zone.get<std::string>()));
  std::sort(facts["zones"].begin(), facts["zones"].end());
  auto project = read(call, "");
  if (!project.ok()) return project.status();
  take_quotas(*region, "", facts["quotas"]);
  take_quotas(*project, "_ALL_REGIONS", facts["quotas"]);
  if (Status asked = survey_own(call, facts); !asked.ok()) return asked;
  if (Status asked = survey_images(call, program, facts); !asked.ok()) return asked;
  if (Status asked = survey_disks(call, program); !asked.ok()) return asked;
  return facts;
}

QuotasTaken quotas_taken(const Survey& survey) {
  return [&survey](const InstanceType& type, Market market) {
    // Without a quota of their own, spot machines take from the one on demand.
    auto of_market = [&](const std::string& metric) {
      const Json& own = member(member(survey.facts, "quotas"), "PREEMPTIBLE_" + metric);
      return market == Market::Spot && number_of(own, "limit") > 0 ? "PREEMPTIBLE_" + metric : metric;
    };
    const bool spot = of_market("CPUS") != "CPUS";
    std::vector<QuotaTaken> taken = {{"INSTANCES", 1}, {"CPUS_ALL_REGIONS", type.cpu}};
    taken.push_back({spot ? "PREEMPTIBLE_CPUS" : cpu_metric(type.name), type.cpu});
    if (type.gpu > 0) {
      taken.push_back({of_market(gpu_metric(type)), type.gpu});
      taken.push_back({"GPUS_ALL_REGIONS", type.gpu});
    }
    return taken;
  };
}

}  // namespace radl::gce
