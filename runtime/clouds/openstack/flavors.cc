#include "runtime/clouds/openstack/flavors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl::openstack {
namespace {

// Flavors to try, until the cloud reports a lack of capacity.
constexpr size_t kFlavorsTried = 3;
constexpr const char* kFeatures[] = {"cpu.count",  "memory.size", "gpu.count",    "gpu.memory",
                                     "gpu.vendor", "gpu.model",   "instance_type"};
// Of a flavor that names none: the scheduler chooses a host for the image's.
constexpr const char* kAnyArchitecture = "x86_64,arm64,i386";

double number_of_text(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Makers as people write them, in the names of aliases: "nvidia-a100", "gpu_v100".
void take_model(InstanceType& type, const std::string& alias) {
  const std::string lower = to_lower(alias);
  constexpr std::pair<const char*, const char*> kMakers[] = {
      {"nvidia", "NVIDIA"}, {"tesla", "NVIDIA"}, {"amd", "AMD"}, {"intel", "Intel"}};
  for (const auto& [word, maker] : kMakers)
    if (type.gpu_vendor.empty() && lower.find(word) != lower.npos) type.gpu_vendor = maker;
  if (type.gpu_model.empty()) type.gpu_model = alias;
}

// Extra specs: pci_passthrough:alias = "NAME:COUNT,..", resources:VGPU = "1", and what EGI's sites publish:
// Accelerator:Type, :Number, :Vendor, :Model.
void take_extra(InstanceType& type, const Json& extra) {
  if (text_of(extra, "Accelerator:Type") == "GPU") {
    type.gpu = std::max(1.0, number_of_text(text_of(extra, "Accelerator:Number")));
    type.gpu_vendor = text_of(extra, "Accelerator:Vendor");
    type.gpu_model = text_of(extra, "Accelerator:Model");
    return;
  }
  const std::string aliases = text_of(extra, "pci_passthrough:alias");
  for (std::string_view alias : split(aliases, ',')) {
    const size_t colon = alias.rfind(':');
    const std::string_view count = colon == alias.npos ? "1" : alias.substr(colon + 1);
    const std::string name(trim(alias.substr(0, colon)));
    if (name.empty()) continue;
    type.gpu += number_of_text(trim(count));
    take_model(type, name);
  }
  if (const std::string shares = text_of(extra, "resources:VGPU"); !shares.empty()) {
    type.gpu += number_of_text(shares);
    if (type.gpu_model.empty()) type.gpu_model = "VGPU";
  }
}

// Nova documentation, "Extra Specs": a trait that hosts must have ("trait:HW_ARCH_AARCH64" = "required"), or
// a capability ("capabilities:cpu_info:arch" = "aarch64", "s== aarch64").
void take_architecture(InstanceType& type, const Json& extra) {
  constexpr std::string_view kTrait = "trait:HW_ARCH_";
  std::string found = text_of(extra, "capabilities:cpu_info:arch");
  if (const size_t space = found.rfind(' '); space != found.npos) found.erase(0, space + 1);
  if (extra.is_object())
    for (const auto& [name, value] : extra.items())
      if (name.starts_with(kTrait) && value == "required") found = name.substr(kTrait.size());
  if (found.empty()) return;
  const std::string name = architecture_name(found);
  type.architectures = name == "x86_64" ? "x86_64,i386" : name;
}

// Flavors have no price. A core of what is rented mostly comes with 4 GiB: one with a core less and a hundred
// times the memory is not smaller.
double size_of(const Flavor& flavor) { return flavor.type.cpu + flavor.type.memory_bytes / (4 * kGiB); }

bool smaller(const Flavor* a, const Flavor* b) {
  const double first = size_of(*a), second = size_of(*b);
  return std::tie(a->type.gpu, first, a->disk_gib, a->type.name) <
         std::tie(b->type.gpu, second, b->disk_gib, b->type.name);
}

}  // namespace

Json flavor_wanted(const ir::Node& node) {
  Json wanted = Json::object();
  for (const char* feature : kFeatures) {
    auto found = node.requirements.find(feature);
    if (found == node.requirements.end()) continue;
    Json one = Json::object();
    if (found->second.min) one["min"] = *found->second.min;
    if (found->second.max) one["max"] = *found->second.max;
    if (found->second.min_strict) one["min_strict"] = true;
    if (found->second.max_strict) one["max_strict"] = true;
    if (found->second.equals) one["equals"] = *found->second.equals;
    wanted[feature] = std::move(one);
  }
  return wanted;
}

ir::Node node_of_wish(const std::string& address, const Json& wanted) {
  ir::Node node;
  node.address = address;
  if (!wanted.is_object()) return node;
  for (const auto& [feature, one] : wanted.items()) {
    ir::Requirement& requirement = node.requirements[feature];
    if (member(one, "min").is_number()) requirement.min = number_of(one, "min");
    if (member(one, "max").is_number()) requirement.max = number_of(one, "max");
    requirement.min_strict = flag_of(one, "min_strict");
    requirement.max_strict = flag_of(one, "max_strict");
    if (const Json& equals = member(one, "equals"); !equals.is_null()) requirement.equals = equals;
  }
  return node;
}

Flavor flavor_in(const Json& item) {
  Flavor flavor;
  flavor.id = text_of(item, "id");
  flavor.disk_gib = number_of(item, "disk");
  flavor.type.cloud = "openstack";
  flavor.type.name = text_of(item, "name");
  flavor.type.cpu = number_of(item, "vcpus");
  flavor.type.memory_bytes = number_of(item, "ram") * kMiB;
  flavor.type.architectures = kAnyArchitecture;
  take_extra(flavor.type, member(item, "extra_specs"));
  take_architecture(flavor.type, member(item, "extra_specs"));
  return flavor;
}

Json to_json(const Flavor& flavor) {
  return {{"id", flavor.id},
          {"name", flavor.type.name},
          {"cpu", flavor.type.cpu},
          {"memory_bytes", flavor.type.memory_bytes},
          {"disk_gib", flavor.disk_gib},
          {"architectures", flavor.type.architectures},
          {"gpu", flavor.type.gpu},
          {"gpu_vendor", flavor.type.gpu_vendor},
          {"gpu_model", flavor.type.gpu_model}};
}

Flavor flavor_from_json(const Json& json) {
  Flavor flavor;
  flavor.id = text_of(json, "id");
  flavor.disk_gib = number_of(json, "disk_gib");
  flavor.type.cloud = "openstack";
  flavor.type.name = text_of(json, "name");
  flavor.type.cpu = number_of(json, "cpu");
  flavor.type.memory_bytes = number_of(json, "memory_bytes");
  flavor.type.gpu = number_of(json, "gpu");
  flavor.type.gpu_vendor = text_of(json, "gpu_vendor");
  flavor.type.gpu_model = text_of(json, "gpu_model");
  flavor.type.architectures = json.value("architectures", kAnyArchitecture);
  return flavor;
}

bool may_boot(const Flavor& flavor, const std::string& architecture) {
  const std::string name = architecture_name(architecture);
  return name.empty() || flavor.type.architectures == kAnyArchitecture || flavor.type.runs(name);
}

Result<std::vector<const Flavor*>> fitting_flavors(const ir::Node& node, const std::vector<Flavor>& flavors,
                                                   const std::string& cloud) {
  std::vector<const InstanceType*> types;
  for (const Flavor& flavor : flavors) types.push_back(&flavor.type);
  auto fit = fitting_types({node, types, cloud, ""});
  if (!fit.ok()) return fit.status();
  std::vector<const Flavor*> found;
  for (const InstanceType* type : *fit) {
    auto at = std::find_if(flavors.begin(), flavors.end(),
                           [&](const Flavor& flavor) { return &flavor.type == type; });
    found.push_back(&*at);
  }
  // Those of the first name that the file gives come first; fitting_types() has put them so.
  if (texts_wanted(node, "instance_type").size() < 2) std::stable_sort(found.begin(), found.end(), smaller);
  return found;
}

Result<std::vector<Flavor>> flavors_there(Asking& call) {
  return call.memory.flavors.get("", [&]() -> Result<std::vector<Flavor>> {
    std::vector<Flavor> flavors;
    Status asked = call.services.compute.each("/flavors/detail", "flavors", {}, waits(call.context),
                                              [&](const Json& item) {
                                                Flavor flavor = flavor_in(item);
                                                if (!flavor.id.empty()) flavors.push_back(std::move(flavor));
                                              });
    if (!asked.ok()) return asked;
    // Extra specs are in the list since 2.61; before, they are asked for one by one.
    auto in_list = call.services.compute.knows("2.61", call.context.stop);
    if (!in_list.ok()) return in_list.status();
    for (Flavor& flavor : flavors) {
      if (*in_list) break;
      auto extra =
          read(call.services.compute, call.context, fmt::format("/flavors/{}/os-extra_specs", flavor.id));
      if (!extra.ok()) continue;
      take_extra(flavor.type, member(*extra, "extra_specs"));
      take_architecture(flavor.type, member(*extra, "extra_specs"));
    }
    return flavors;
  });
}

ir::Node wish_of(const Order& order) {
  ir::Node wish = node_of_wish(order.address, order.spec.value("flavor", Json::object()));
  if (const std::string arch = text_of(order.spec, "arch"); !arch.empty())
    wish.requirements["cpu.arch"].equals = arch;
  return wish;
}

const Flavor* first_for(const std::vector<const Flavor*>& fit, const Image& image, double root_gib) {
  auto has_memory = [&](const Flavor* one) { return one->type.memory_bytes >= image.min_memory_bytes; };
  // A flavor without a disk gives the image's own size.
  auto has_room = [&](const Flavor* one) {
    return has_memory(one) && (one->disk_gib == 0 || std::max(one->disk_gib, root_gib) >= image.min_disk_gib);
  };
  auto found = std::find_if(fit.begin(), fit.end(), has_room);
  if (found == fit.end()) found = std::find_if(fit.begin(), fit.end(), has_memory);
  return found == fit.end() ? nullptr : *found;
}

Result<Flavor> flavor_for(Asking& call, const Order& order, const Image* image) {
  auto flavors = flavors_there(call);
  if (!flavors.ok()) return flavors.status();
  const std::string cloud = call.cloud.text();
  if (const std::string type = order.spec.value("type", ""); !type.empty()) {
    std::vector<std::string> names;
    for (const Flavor& flavor : *flavors) {
      if (flavor.type.name == type || flavor.id == type) return flavor;
      names.push_back(flavor.type.name);
    }
    const std::string near = nearest(type, names);
    std::sort(names.begin(), names.end());
    return not_found(
               fmt::format("{}: instance_type = '{}' is not a flavor of {}", order.address, type, cloud))
        .with_hint(near.empty() ? "it has " + join(names, ", ") : "did you mean " + near + "?");
  }
  auto fit = fitting_flavors(wish_of(order), *flavors, cloud);
  if (!fit.ok()) return fit.status();
  if (!image) return *fit->front();
  const std::string wanted = image->architecture;
  std::erase_if(*fit, [&](const Flavor* one) { return !may_boot(*one, wanted); });
  if (fit->empty())
    return invalid(fmt::format("{}: image {} is for {}, but every flavor that fits is for another processor",
                               order.address, image->name, wanted));
  std::vector<std::string> full;
  const std::string zone = text_of(order.spec, "zone");
  std::erase_if(*fit, [&](const Flavor* one) {
    const bool is_full = call.memory.is_full(one->type.name, zone);
    if (is_full) full.push_back(one->type.name);
    return is_full;
  });
  if (fit->empty() || full.size() >= kFlavorsTried)
    return Status(Code::Quota, fmt::format("{}: no host has room for a flavor that fits: {}", order.address,
                                           join(full, ", ")));
  const double root = number_of(member(order.spec, "root"), "size_gib");
  if (const Flavor* found = first_for(*fit, *image, root)) return *found;
  return invalid(fmt::format("{}: image {} needs {:.0f} MiB of memory, which no flavor that fits has",
                             order.address, image->name, image->min_memory_bytes / kMiB));
}

}  // namespace radl::openstack
