#include "runtime/clouds/azure/images.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/azure/kind.h"
#include "runtime/clouds/fitting.h"

namespace radl::azure {
namespace {

constexpr std::string_view kScheme = "azr://";

struct Distribution {
  const char *flavour, *version, *image, *first_generation, *arm;
};
// Those that their makers publish without a price of their own. The first of a flavour is its usual one.
constexpr Distribution kDistributions[] = {
    {"debian", "12", "Debian/debian-12/12-gen2/latest", "Debian/debian-12/12/latest",
     "Debian/debian-12/12-arm64/latest"},
    {"debian", "11", "Debian/debian-11/11-gen2/latest", "Debian/debian-11/11/latest", ""},
    {"ubuntu", "22.04", "Canonical/0001-com-ubuntu-server-jammy/22_04-lts-gen2/latest",
     "Canonical/0001-com-ubuntu-server-jammy/22_04-lts/latest",
     "Canonical/0001-com-ubuntu-server-jammy/22_04-lts-arm64/latest"},
    {"ubuntu", "24.04", "Canonical/ubuntu-24_04-lts/server/latest",
     "Canonical/ubuntu-24_04-lts/server-gen1/latest", "Canonical/ubuntu-24_04-lts/server-arm64/latest"},
    {"ubuntu", "20.04", "Canonical/0001-com-ubuntu-server-focal/20_04-lts-gen2/latest",
     "Canonical/0001-com-ubuntu-server-focal/20_04-lts/latest",
     "Canonical/0001-com-ubuntu-server-focal/20_04-lts-arm64/latest"}};

// The part after azr://; "" if it is not an image.
std::string parsed(const std::string& text) {
  if (const std::string id = id_in(text); !id.empty()) {
    const bool image = id.find("/images/") != id.npos;
    const bool snapshot = id.find("/snapshots/") != id.npos;
    return snapshot ? "snapshot:" + id : image ? "id:" + id : "";
  }
  std::vector<std::string> parts;
  for (std::string_view part : split(text, '/')) parts.emplace_back(part);
  if (std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); }))
    return "";
  const std::string kind = to_lower(parts.front());
  if (parts.size() == 3 && (kind == "snapshot" || kind == "snapshots"))
    return "snapshot:" +
           id_in("resourceGroups/" + parts[1] + "/providers/Microsoft.Compute/snapshots/" + parts[2]);
  if (parts.size() == 3 && (kind == "image" || kind == "images"))
    return "id:" + id_in("resourceGroups/" + parts[1] + "/providers/Microsoft.Compute/images/" + parts[2]);
  if (parts.size() == 3 && kind == "disk") return "";
  if (parts.size() == 3) parts.emplace_back("latest");
  if (parts.size() != 4) return "";
  return fmt::format("{}/{}/{}/{}", parts[0], parts[1], parts[2], parts[3]);
}

Result<Image> in_marketplace(Asking& call, const std::string& text) {
  const auto parts = split(text, '/');
  std::string version(parts[3]);
  const std::string folder = fmt::format(
      "providers/Microsoft.Compute/locations/{}/publishers/{}/artifacttypes/vmimage/offers/{}/skus/{}/"
      "versions",
      call.cloud.region, parts[0], parts[1], parts[2]);
  const std::string what = fmt::format("image azr://{} not found in {}", text, call.cloud.region);
  if (version == "latest") {
    auto newest = read(call, folder, kCompute, {{"$top", "1"}, {"$orderby", "name desc"}});
    if (!newest.ok() && newest.status().code() != Code::NotFound) return newest.status();
    version = newest.ok() && newest->is_array() && !newest->empty() ? text_of((*newest)[0], "name") : "";
    if (version.empty())
      return not_found(what).with_hint(fmt::format(
          "run `az vm image list --all --publisher {} --offer {}` to list images", parts[0], parts[1]));
  }
  auto found = read(call, folder + "/" + version, kCompute);
  if (!found.ok()) return found.status();
  Image image;
  image.reference = {{"publisher", parts[0]}, {"offer", parts[1]}, {"sku", parts[2]}, {"version", version}};
  const Json& properties = member(*found, "properties");
  const Json& plan = member(properties, "plan");
  if (plan.is_object())
    image.plan = {{"name", text_of(plan, "name")},
                  {"publisher", text_of(plan, "publisher")},
                  {"product", text_of(plan, "product")}};
  image.disk_gib = number_of(member(properties, "osDiskImage"), "sizeInGb");
  image.architecture = text_of(properties, "architecture");
  return image;
}

Result<Image> of_ones_own(Asking& call, const std::string& id) {
  auto found = read(call, id, kCompute);
  // One of a gallery that is shared may not be looked at, and yet be started from.
  if (!found.ok() && !(found.status().code() == Code::Auth && id.find("/galleries/") != id.npos))
    return found.status();
  Image image;
  image.reference = {{"id", call.full(id)}};
  if (found.ok()) {
    const Json& properties = member(*found, "properties");
    image.disk_gib = number_of(member(member(properties, "storageProfile"), "osDisk"), "diskSizeGB");
    image.architecture = text_of(properties, "architecture");  // of a gallery's image
  }
  return image;
}

// An image of a snapshot of a generalized disk: machines start from images.
class ImageOfSnapshot : public Kind {
 public:
  const char* type() const override { return "image"; }
  const char* provider() const override { return "Microsoft.Compute"; }
  const char* collection() const override { return "images"; }
  const char* version() const override { return kCompute; }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto snapshot = read(call, order.spec.value("snapshot", ""), kDisks);
    if (!snapshot.ok()) return snapshot.status();
    std::string generation = text_of(member(*snapshot, "properties"), "hyperVGeneration");
    if (generation.empty()) generation = "V1";
    return Json{{"properties",
                 {{"hyperVGeneration", generation},
                  {"storageProfile",
                   {{"osDisk",
                     {{"osType", "Linux"},
                      {"osState", "Generalized"},
                      {"snapshot", {{"id", call.full(order.spec.value("snapshot", ""))}}}}}}}}}};
  }
  Status fill(Asking&, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    return {};
  }
};

}  // namespace

Result<std::string> image_wanted(const ir::Node& node) {
  const std::vector<std::string> urls = image_urls(node);
  for (const std::string& url : urls) {
    if (!url.starts_with(kScheme)) continue;
    if (std::string image = parsed(url.substr(kScheme.size())); !image.empty()) return image;
    return invalid(fmt::format(
        "{}: disk.0.image.url = '{}': must be azr://PUBLISHER/OFFER/SKU/VERSION, "
        "azr://images/RESOURCE-GROUP/NAME, azr://snapshots/RESOURCE-GROUP/NAME, or azr:/// and the "
        "whole id of an image",
        node.address, url));
  }
  if (!urls.empty())
    return invalid(fmt::format(
        "{}: disk.0.image.url = '{}' is not an image of Azure (azr://PUBLISHER/OFFER/SKU/VERSION)",
        node.address, urls.front()));
  const std::string flavour = to_lower(text_wanted(node, "disk.0.os.flavour")),
                    version = os_version_wanted(node);
  for (const Distribution& one : kDistributions)
    if ((flavour.empty() ? version.empty() : flavour == one.flavour) &&
        (version.empty() || version == one.version))
      return std::string(one.image);
  return invalid(fmt::format("{}: disk.0.os.flavour: radlc knows no image of Azure for '{} {}'", node.address,
                             flavour, version))
      .with_hint("name the image: disk.0.image.url = 'azr://PUBLISHER/OFFER/SKU/VERSION'");
}

std::string first_generation(const std::string& image) {
  for (const Distribution& one : kDistributions)
    if (image == one.image) return one.first_generation;
  return "";
}

std::string for_arm(const std::string& image) {
  for (const Distribution& one : kDistributions)
    if (image == one.image) return one.arm;
  return image;
}

bool is_first_generation(const std::string& type) {
  if (type.starts_with("Basic_") || type.starts_with("Standard_A")) return true;
  const bool old = type.find("_v") == type.npos || type.ends_with("_v2");
  // D and NC of the first two makes, without premium disks.
  const bool plain = type.find('s', 9) == type.npos;
  return old && plain && (type.starts_with("Standard_D") || type.starts_with("Standard_NC"));
}

std::string snapshot_of(const std::string& image) {
  constexpr std::string_view kWord = "snapshot:";
  return image.starts_with(kWord) ? image.substr(kWord.size()) : "";
}

Result<Image> find_image(Asking& call, const std::string& image) {
  return call.memory.images.get(image, [&]() -> Result<Image> {
    return image.starts_with("id:") ? of_ones_own(call, image.substr(3)) : in_marketplace(call, image);
  });
}

std::unique_ptr<Kind> make_image() { return std::make_unique<ImageOfSnapshot>(); }

}  // namespace radl::azure
