#include "runtime/farm/shares.h"

#include <algorithm>
#include <tuple>

namespace radl::farm {
namespace {

double dominant(const Resources& used, const Resources& all) {
  double most = 0;
  const auto add = [&](int64_t part, int64_t whole) {
    if (whole > 0 && whole < kUnknownAmount)
      most = std::max(most, static_cast<double>(part) / static_cast<double>(whole));
  };
  add(used.cpu, all.cpu);
  add(used.memory, all.memory);
  add(used.gpu, all.gpu);
  add(used.disk, all.disk);
  return most;
}

Resources sum_of(const std::map<std::string, Resources>& uses) {
  Resources sum;
  for (const auto& [node, used] : uses) sum += used;
  return sum;
}

}  // namespace

const Claim* Shares::find(const std::string& farm) const {
  const auto found = std::ranges::find(claims_, farm, &Claim::farm);
  return found == claims_.end() ? nullptr : &*found;
}

Resources Shares::all_nodes() const {
  std::map<std::string, Resources> nodes;
  for (const Claim& claim : claims_) nodes.insert(claim.nodes.begin(), claim.nodes.end());
  return sum_of(nodes);
}

Resources Shares::taken_by_others(const std::string& farm, const std::string& node) const {
  Resources taken;
  for (const Claim& claim : claims_) {
    const auto used = claim.uses.find(node);
    if (claim.farm != farm && used != claim.uses.end()) taken += used->second;
  }
  return taken;
}

Resources Shares::room_on(const std::string& node) const {
  Resources room;
  for (const Claim& claim : claims_)
    if (const auto has = claim.nodes.find(node); has != claim.nodes.end()) room = has->second;
  room -= taken_by_others("", node);
  return room;
}

double Shares::share_of_user(const std::string& user) const {
  Resources used;
  for (const Claim& claim : claims_)
    if (claim.user == user) used += sum_of(claim.uses);
  return dominant(used, all_nodes());
}

double Shares::share_of_farm(const std::string& farm) const {
  const Claim* claim = find(farm);
  return claim == nullptr ? 0 : dominant(sum_of(claim->uses), all_nodes()) / std::max(claim->weight, 1e-9);
}

bool Shares::is_behind(const Claim& one, const Claim& other) const {
  const auto key = [&](const Claim& claim) {
    return std::tuple(share_of_user(claim.user), std::cref(claim.user).get(), share_of_farm(claim.farm),
                      std::cref(claim.farm).get());
  };
  return key(one) < key(other);
}

// The node that is kept free for a farm that has waited for too long: the first that is large enough.
std::string Shares::reserved_for(const Claim& claim) const {
  if (claim.waits_since <= 0 || now_ - claim.waits_since < reserve_after_) return "";
  for (const auto& [node, has] : claim.nodes)
    for (const Resources& needs : claim.wants)
      if (needs.fits(has)) return node;
  return "";
}

std::string Shares::goes_first(const std::string& farm, const std::string& node,
                               const std::vector<std::string>& passes) const {
  const Claim* own = find(farm);
  if (own == nullptr) return "";
  const Resources room = room_on(node);
  const bool waited_long = reserved_for(*own) == node;
  for (const Claim& other : claims_) {
    if (other.farm == farm || !other.nodes.contains(node)) continue;
    if (std::ranges::find(passes, other.farm) != passes.end()) continue;
    const bool other_waited = reserved_for(other) == node;
    if (other_waited &&
        (!waited_long || std::tie(other.waits_since, other.farm) < std::tie(own->waits_since, own->farm)))
      return other.farm;
    if (waited_long || !is_behind(other, *own)) continue;
    if (std::ranges::any_of(other.wants, [&](const Resources& wanted) { return wanted.fits(room); }))
      return other.farm;
  }
  return "";
}

std::vector<Claim> Shares::others(const std::string& farm) const {
  std::vector<Claim> others = claims_;
  std::erase_if(others, [&](const Claim& claim) { return claim.farm == farm; });
  return others;
}

void Shares::take(const std::string& farm, const Resources& needs, const std::string& node) {
  const auto found = std::ranges::find(claims_, farm, &Claim::farm);
  if (found != claims_.end()) found->uses[node] += needs;
}

}  // namespace radl::farm
