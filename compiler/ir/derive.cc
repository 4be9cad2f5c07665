#include "compiler/ir/derive.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace radl::ir {
namespace {

std::string text_of(const Requirement& requirement) {
  return requirement.equals && requirement.equals->is_string() ? requirement.equals->get<std::string>()
                                                               : std::string();
}

void take(Disk& disk, std::string_view feature, const Requirement& requirement) {
  if (feature == "size")
    disk.size_bytes = requirement.equals ? requirement.max
                      : requirement.min  ? requirement.min
                                         : requirement.max;
  if (feature == "device") disk.device = text_of(requirement);
  if (feature == "mount_path") disk.mount_path = text_of(requirement);
  if (feature == "fstype") disk.fstype = text_of(requirement);
  if (feature == "type") disk.type = text_of(requirement);
  if (feature != "image.url" || !requirement.equals) return;
  if (requirement.equals->is_string()) disk.image_urls = {requirement.equals->get<std::string>()};
  if (!requirement.equals->is_array()) return;
  disk.image_urls.clear();
  for (const Json& url : *requirement.equals)
    if (url.is_string()) disk.image_urls.push_back(url.get<std::string>());
}

void take_applications(Node& node, const Json& groups) {
  auto text = [](const Json& group, const char* key) {
    auto found = group.find(key);
    return found != group.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  for (const Json& group : groups) {
    if (!group.is_object() || text(group, "name").empty()) continue;
    node.applications.push_back({text(group, "name"), text(group, "version"), text(group, "path"),
                                 text(group, "preinstalled") == "yes"});
  }
}

}  // namespace

std::optional<IndexedFeature> indexed_feature(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  IndexedFeature made;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), made.index);
  if (error != std::errc() || end == name.data() + name.size() || *end != '.' || made.index < 0)
    return std::nullopt;
  made.rest = name.substr(static_cast<size_t>(end - name.data()) + 1);
  return made;
}

void derive_disks(Node& node) {
  node.applications.clear();
  std::map<int, Disk> disks;
  for (const auto& [name, requirement] : node.requirements) {
    auto at = indexed_feature(name, "disk.");
    if (!at) continue;
    Disk& disk = disks[at->index];
    disk.index = at->index;
    take(disk, at->rest, requirement);
    if (at->index == 0 && at->rest == "os.credentials.username") node.user = text_of(requirement);
    if (at->rest == "applications" && requirement.equals && requirement.equals->is_array())
      take_applications(node, *requirement.equals);
  }
  node.disks.clear();
  for (auto& [index, disk] : disks) node.disks.push_back(std::move(disk));
}

}  // namespace radl::ir
