#include "runtime/plan/regions.h"

#include <fmt/format.h>
#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl {

namespace {

constexpr const char* kZones = "availability_zone";

// A node as it would be in one region.
struct Variant {
  std::string cloud;
  ir::Node node;
};

Variant& variant_of(std::vector<Variant>& variants, const std::string& cloud, const ir::Node& node) {
  auto known =
      std::find_if(variants.begin(), variants.end(), [&](const Variant& one) { return one.cloud == cloud; });
  if (known != variants.end()) return *known;
  variants.push_back({cloud, node});
  variants.back().node.cloud = cloud;
  return variants.back();
}

std::vector<Variant> by_zones(const ir::Node& node, const std::vector<std::string>& zones,
                              const CloudSet& clouds) {
  std::vector<Variant> variants;
  std::map<std::string, std::vector<std::string>> of_cloud;
  ir::Node one = node;
  for (const std::string& zone : zones) {
    one.requirements[kZones].equals = zone;
    const std::string cloud = clouds.id_for(one);
    of_cloud[cloud].push_back(zone);
    variant_of(variants, cloud, node).node.requirements[kZones].equals = join(of_cloud[cloud], ",");
  }
  return variants;
}

std::vector<Variant> by_images(const ir::Node& node, const ir::Disk& disk, const CloudSet& clouds) {
  std::vector<Variant> variants;
  ir::Node one = node;
  auto place =
      std::find_if(one.disks.begin(), one.disks.end(), [](const ir::Disk& each) { return each.index == 0; });
  for (const std::string& url : disk.image_urls) {
    place->image_urls = {url};
    (void)variant_of(variants, clouds.id_for(one), one);
  }
  return variants;
}

std::vector<Variant> variants_of(const ir::Node& node, const CloudSet& clouds) {
  const std::vector<std::string> zones = texts_wanted(node, kZones);
  if (zones.size() > 1) return by_zones(node, zones, clouds);
  auto disk = std::find_if(node.disks.begin(), node.disks.end(),
                           [](const ir::Disk& each) { return each.index == 0; });
  const bool images = zones.empty() && disk != node.disks.end() && disk->image_urls.size() > 1;
  return images ? by_images(node, *disk, clouds) : std::vector<Variant>();
}

// Nodes that name the same regions.
struct Together {
  std::vector<const ir::Node*> nodes;
  std::vector<std::vector<Variant>> variants;  // of each; their clouds are the same, in the same order
};

class Placer {
 public:
  Placer(const ir::Program& program, const Snapshot& snapshot, const CloudSet& clouds, const Catalog& catalog,
         const NoRoom& no_room)
      : program_(program), snapshot_(snapshot), clouds_(clouds), catalog_(catalog), no_room_(no_room) {}

  Placement place() {
    std::map<std::string, Together> groups;
    for (const ir::Node& node : program_.nodes) {
      std::vector<Variant> variants = that_can_be_had(node, variants_of(node, clouds_));
      if (variants.size() < 2 && !several_) continue;
      std::string key;
      for (const Variant& one : variants) key += one.cloud + "\n";
      groups[key].nodes.push_back(&node);
      groups[key].variants.push_back(std::move(variants));
    }
    if (groups.empty()) return std::move(placement_);
    placement_.program = program_;
    for (ir::Node& node : placement_.program->nodes) placed_[node.address] = &node;
    for (auto& [key, group] : groups) settle(group);
    return std::move(placement_);
  }

 private:
  std::vector<Variant> that_can_be_had(const ir::Node& node, std::vector<Variant> variants) {
    several_ = false;
    if (variants.size() < 2) return variants;
    const Survey none;
    std::map<std::string, std::string> why;
    std::vector<Variant> fit;
    for (Variant& one : variants) {
      Cloud* cloud = clouds_.find(one.cloud);
      const DesignInput asked{program_, {}, none, catalog_, true};
      Status can = cloud ? cloud->can_make(one.node, asked) : clouds_.why_not(one.cloud);
      if (can.ok())
        fit.push_back(std::move(one));
      else
        why[one.cloud] = can.message();
    }
    if (fit.empty()) return {};  // the plan reports the reason for the node as written
    // Among several images, those for other kinds of clouds are irrelevant.
    if (texts_wanted(node, kZones).empty()) {
      if (fit.size() == 1 && fit[0].cloud == clouds_.id_for(node)) fit.clear();
      why.clear();
    }
    several_ = !fit.empty();
    for (const auto& [cloud, reason] : why)
      note(fmt::format("system '{}': {} is left out: {}", node.system, cloud, reason));
    return fit;
  }

  void settle(Together& group) {
    const std::vector<Variant>& clouds = group.variants.front();
    std::vector<size_t> there(clouds.size(), 0);
    std::vector<bool> full(clouds.size(), false);
    for (size_t c = 0; c < clouds.size(); ++c) {
      for (const ir::Node* node : group.nodes) {
        auto record = snapshot_.resources.find(node->address);
        there[c] += record != snapshot_.resources.end() && record->second.cloud == clouds[c].cloud;
        auto refused = no_room_.find(node->address);
        full[c] = full[c] || (refused != no_room_.end() && refused->second.count(clouds[c].cloud));
      }
    }
    size_t chosen = clouds.size();
    for (size_t c = 0; c < clouds.size(); ++c) {
      if (full[c]) continue;
      if (chosen == clouds.size() || there[c] > there[chosen]) chosen = c;
    }
    if (chosen == clouds.size()) chosen = 0;
    for (size_t n = 0; n < group.nodes.size(); ++n) put(*group.nodes[n], group.variants[n], chosen, full);
    if (clouds.size() > 1) tell(group, chosen);
  }

  void put(const ir::Node& node, std::vector<Variant>& variants, size_t chosen,
           const std::vector<bool>& full) {
    *placed_.at(node.address) = variants[chosen].node;
    auto& left = placement_.left[node.address];
    for (size_t c = 0; c < variants.size(); ++c)
      if (c != chosen && !full[c]) left.push_back(std::move(variants[c].node));
    if (left.empty()) placement_.left.erase(node.address);
  }

  void tell(const Together& group, size_t chosen) {
    std::set<std::string> systems;
    for (const ir::Node* node : group.nodes) systems.insert(node->system);
    std::string order;
    for (size_t c = 0; c < group.variants.front().size(); ++c)
      order += (c ? ", " : "") + group.variants.front()[c].cloud;
    note(
        fmt::format("{}: of {} in this order the first that has room for all of its nodes is taken; this "
                    "plan has them in {}",
                    join(std::vector<std::string>(systems.begin(), systems.end()), ", "), order,
                    group.variants.front()[chosen].cloud));
  }

  void note(const std::string& text) {
    if (noted_.insert(text).second) placement_.notes.push_back(text);
  }

  const ir::Program& program_;
  const Snapshot& snapshot_;
  const CloudSet& clouds_;
  const Catalog& catalog_;
  const NoRoom& no_room_;
  bool several_ = false;  // whether the node that was looked at last names more than one region
  std::set<std::string> noted_;
  std::map<std::string, ir::Node*> placed_;  // by address, of placement_.program
  Placement placement_;
};

std::string region_of(const std::string& cloud) {
  Result<CloudId> id = CloudId::parse(cloud);
  return id.ok() && !id->region.empty() ? id->region : cloud;
}

// What a node could be in another region.
std::vector<Offer> offers_there(const PlanInput& input, const ir::Node& node) {
  Cloud* cloud = input.clouds.find(node.cloud);
  if (!cloud) return {};
  auto survey = input.surveys.find(node.cloud);
  const Survey none;
  Result<Design> design = cloud->design(
      {input.program, {&node}, survey == input.surveys.end() ? none : survey->second, input.catalog, true});
  if (!design.ok()) return {};
  for (Wanted& wanted : design->resources)
    if (wanted.node == node.address) return std::move(wanted.offers);
  return {};
}

}  // namespace

Placement place_nodes(const ir::Program& program, const Snapshot& snapshot, const CloudSet& clouds,
                      const Catalog& catalog, const NoRoom& no_room) {
  return Placer(program, snapshot, clouds, catalog, no_room).place();
}

void add_candidates_left(const PlanInput& input, const Placement& placement, Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::vector<Offer>> known;  // by system and cloud
  for (ResourceCost& cost : plan.costs) {
    auto left = placement.left.find(cost.address);
    if (left == placement.left.end()) continue;
    for (const ir::Node& node : left->second) {
      auto [offers, first] = known.try_emplace({node.system, node.cloud});
      if (first) offers->second = offers_there(input, node);
      std::set<std::pair<std::string, std::string>> shown;
      for (Offer offer : offers->second) {
        if (!shown.insert({offer.name, offer.facts.market}).second) continue;
        offer.zone = region_of(node.cloud);
        offer.name += " in " + offer.zone;
        cost.candidates.push_back(std::move(offer));
      }
    }
  }
}

RoomSought room_elsewhere(const Placement& placement, const Snapshot& now, const Plan& plan, NoRoom no_room,
                          const std::map<std::string, std::string>& failed, double since) {
  RoomSought sought;
  for (const auto& [address, why] : failed) {
    const Action* action = plan.find(address);
    auto left = placement.left.find(address);
    if (!action || left == placement.left.end()) continue;
    std::string older;  // a node of the same regions that was there before
    for (const auto& [other, others_left] : placement.left) {
      auto record = now.resources.find(other);
      const bool same = record != now.resources.end() && record->second.cloud == action->cloud &&
                        others_left.size() == left->second.size() &&
                        others_left.front().cloud == left->second.front().cloud;
      if (same && record->second.created_at < since) older = other;
    }
    if (!older.empty()) {
      sought.why.push_back(
          fmt::format("{} has no capacity for {} ({}), and {} exists there already. Nodes that name the same "
                      "regions stay "
                      "together; `radlc destroy` and another apply move all of them",
                      action->cloud, address, why, older));
      sought.elsewhere = false;
      return sought;
    }
    no_room[address].insert(action->cloud);
    sought.elsewhere = true;
    sought.why.push_back(
        fmt::format("{} has no capacity for {} ({}): the nodes that name the same regions move to {}",
                    action->cloud, address, why, left->second.front().cloud));
  }
  sought.no_room = std::move(no_room);
  return sought;
}

}  // namespace radl
