#include <fmt/format.h>

#include <algorithm>

#include "common/digest.h"
#include "runtime/clouds/azure/images.h"
#include "runtime/clouds/azure/machine.h"
#include "runtime/clouds/user_data.h"
#include "runtime/clouds/wishes.h"
#include "runtime/net/ssh/keys.h"

namespace radl::azure {
namespace {

constexpr const char* kKeyName = "node_key";
constexpr const char* kRootType = "StandardSSD_LRS";  // every machine type takes it
constexpr size_t kLongestName = 64;

// Parts that are deleted with the machine, regardless of who deletes it.
constexpr const char* kGoes = "Delete";
constexpr const char* kStays = "Detach";

Result<Json> storage_of(Asking& call, const Order& order, const Image& image) {
  const Json root = order.spec.value("root", Json::object());
  double size = number_of(root, "size_gib");
  if (size > 0 && size < image.disk_gib)
    return invalid(fmt::format("{}: disk.0.size: the image needs {} GiB", order.address, image.disk_gib));
  size = root_disk_gib(root, image.disk_gib);
  std::string type = text_of(root, "type");
  if (type.empty()) type = kRootType;
  Json disk = {{"name", name_for(call.context, call.cloud, order) + "-os"},
               {"createOption", "FromImage"},
               {"caching", "ReadWrite"},
               {"managedDisk", {{"storageAccountType", type}}},
               {"deleteOption", kGoes}};
  if (root.contains("encryption_key"))
    disk["managedDisk"]["diskEncryptionSet"] = {{"id", root["encryption_key"]}};
  if (size > 0) disk["diskSizeGB"] = static_cast<long long>(size);
  Json further = Json::array();
  const Json volumes = order.spec.value("volumes", Json::object());
  for (const auto& [letter, wanted] : volumes.items()) {
    const std::string existing = text_of(wanted, "existing");
    auto link = existing.empty() ? link_to(call, order, wanted.get<std::string>())
                                 : Result<Json>(Json{{"id", call.full(existing)}});
    if (!link.ok()) return link.status();
    // By its letter, so that a look shows which one it is.
    further.push_back({{"lun", letter[0] - 'a'},
                       {"createOption", "Attach"},
                       {"managedDisk", std::move(*link)},
                       {"deleteOption", kStays}});
  }
  return Json{
      {"imageReference", image.reference}, {"osDisk", std::move(disk)}, {"dataDisks", std::move(further)}};
}

Result<Json> login_of(Asking& call, const Order& order, std::string& fingerprint) {
  auto key = ssh::make_key(call.context.work_directory, kKeyName);
  if (!key.ok()) return key.status();
  fingerprint = key->fingerprint;
  const std::string user = order.spec.value("user", kUsualUser), host = order.spec.value("hostname", "");
  const Json keys =
      Json::array({{{"path", "/home/" + user + "/.ssh/authorized_keys"}, {"keyData", key->public_line}}});
  return Json{
      {"computerName", host.substr(0, std::min(host.find('.'), kLongestName))},
      {"adminUsername", user},
      {"customData", base64_encode(user_data_of(order.spec))},
      {"linuxConfiguration", {{"disablePasswordAuthentication", true}, {"ssh", {{"publicKeys", keys}}}}}};
}

Result<Image> image_of(Asking& call, const Order& order) {
  const std::string image = order.spec.value("image", "");
  if (!order.references.count(image)) return find_image(call, image);
  auto link = link_to(call, order, image);
  if (!link.ok()) return link.status();
  return Image{std::move(*link), nullptr, 0};
}

}  // namespace

Result<Json> launch_of(Asking& call, const Order& order) {
  const Json& spec = order.spec;
  auto image = image_of(call, order);
  if (!image.ok()) return image.status();
  auto storage = storage_of(call, order, *image);
  if (!storage.ok()) return storage.status();
  std::string fingerprint;
  auto login = login_of(call, order, fingerprint);
  if (!login.ok()) return login.status();
  auto interface = link_to(call, order, spec.value("interface", ""));
  if (!interface.ok()) return interface.status();
  (*interface)["properties"] = {{"primary", true}, {"deleteOption", kStays}};
  Json properties = {{"hardwareProfile", {{"vmSize", spec.value("type", "")}}},
                     {"storageProfile", std::move(*storage)},
                     {"osProfile", std::move(*login)},
                     {"networkProfile", {{"networkInterfaces", Json::array({std::move(*interface)})}}},
                     {"diagnosticsProfile", {{"bootDiagnostics", {{"enabled", true}}}}}};
  if (spec.value("market", "") == "spot") {
    properties["priority"] = "Spot";
    // Deallocated it would wait for room in one place, and its disk be paid for.
    properties["evictionPolicy"] = "Delete";
    properties["billingProfile"] = {{"maxPrice", spec.value("max_price", -1.0)}};
  }
  if (const std::string placement = spec.value("placement", ""); !placement.empty()) {
    auto link = link_to(call, order, placement);
    if (!link.ok()) return link.status();
    properties["proximityPlacementGroup"] = std::move(*link);
  }
  Json body = {{"properties", std::move(properties)}};
  if (const std::string zone = spec.value("zone", ""); !zone.empty()) body["zones"] = Json::array({zone});
  if (!image->plan.is_null()) body["plan"] = image->plan;
  body["tags"] = {{kKeyTag, std::move(fingerprint)}};
  return body;
}

}  // namespace radl::azure
