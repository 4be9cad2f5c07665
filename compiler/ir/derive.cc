#include "compiler/ir/derive.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace radl::ir {
namespace {

std::string text_of(const Want& want) {
  return want.equals && want.equals->is_string() ? want.equals->get<std::string>() : std::string();
}

void take(Disk& disk, std::string_view feature, const Want& want) {
  if (feature == "size") disk.size_bytes = want.equals ? want.max : want.min ? want.min : want.max;
  if (feature == "device") disk.device = text_of(want);
  if (feature == "mount_path") disk.mount_path = text_of(want);
  if (feature == "fstype") disk.fstype = text_of(want);
  if (feature == "type") disk.type = text_of(want);
  if (feature != "image.url" || !want.equals) return;
  if (want.equals->is_string()) disk.image_urls = {want.equals->get<std::string>()};
  if (want.equals->is_array()) disk.image_urls = want.equals->get<std::vector<std::string>>();
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
  for (const auto& [name, want] : node.wants) {
    auto at = indexed_feature(name, "disk.");
    if (!at) continue;
    Disk& disk = disks[at->index];
    disk.index = at->index;
    take(disk, at->rest, want);
    if (at->index == 0 && at->rest == "os.credentials.username") node.user = text_of(want);
    if (at->rest == "applications" && want.equals && want.equals->is_array())
      take_applications(node, *want.equals);
  }
  node.disks.clear();
  for (auto& [index, disk] : disks) node.disks.push_back(std::move(disk));
}

}  // namespace radl::ir
