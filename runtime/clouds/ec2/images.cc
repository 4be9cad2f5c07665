#include "runtime/clouds/ec2/images.h"

#include <fmt/format.h>

#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl::ec2 {
namespace {

constexpr std::string_view kScheme = "aws://";

// Public images of the distributions themselves.
struct Distribution {
  const char *flavour, *version, *owner, *pattern, *x86_64, *arm64, *user;
};
constexpr Distribution kDistributions[] = {
    {"debian", "12", "136693071363", "debian-12-{}-*", "amd64", "arm64", "admin"},
    {"debian", "13", "136693071363", "debian-13-{}-*", "amd64", "arm64", "admin"},
    {"debian", "11", "136693071363", "debian-11-{}-*", "amd64", "arm64", "admin"},
    {"ubuntu", "24.04", "099720109477", "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-{}-server-*", "amd64",
     "arm64", "ubuntu"},
    {"ubuntu", "22.04", "099720109477", "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-{}-server-*", "amd64",
     "arm64", "ubuntu"},
    {"ubuntu", "20.04", "099720109477", "ubuntu/images/hvm-ssd/ubuntu-focal-20.04-{}-server-*", "amd64",
     "arm64", "ubuntu"},
    {"amazon linux", "2023", "137112412989", "al2023-ami-2023.*-{}", "x86_64", "arm64", "ec2-user"},
    {"amazon linux", "2", "137112412989", "amzn2-ami-hvm-2.0.*-{}-gp2", "x86_64", "arm64", "ec2-user"},
    {"rocky", "9", "792107900819", "Rocky-9-EC2-Base-9.*.{}", "x86_64", "aarch64", "rocky"},
};

// The first match: without a version, the first of the flavour.
const Distribution* distribution(const std::string& flavour, const std::string& version) {
  for (const Distribution& one : kDistributions) {
    if (!flavour.empty() && !equal_ignoring_case(flavour, one.flavour)) continue;
    if (!version.empty() && version != one.version) continue;
    return &one;
  }
  return nullptr;
}

Result<ImageWanted> by_system(const ir::Node& node, const std::string& arch) {
  const std::string flavour = text_wanted(node, "disk.0.os.flavour"), version = os_version_wanted(node);
  const Distribution* found = distribution(flavour, version);
  if (!found) {
    std::string known;
    for (const Distribution& one : kDistributions)
      known += fmt::format("{}{} {}", known.empty() ? "" : ", ", one.flavour, one.version);
    return invalid(
        fmt::format("{}: disk.0.os: no known image of {} {}; known: {}; or set "
                    "disk.0.image.url = 'aws://REGION/ami-...'",
                    node.address, flavour.empty() ? "any system with version" : flavour, version, known));
  }
  const std::string name =
      fmt::format(fmt::runtime(found->pattern), arch == "arm64" ? found->arm64 : found->x86_64);
  return ImageWanted{fmt::format("{}/{}", found->owner, name), ""};
}

}  // namespace

std::string image_region(const ir::Node& node) {
  for (const std::string& url : image_urls(node)) {
    if (!url.starts_with(kScheme)) continue;
    const std::string rest = url.substr(kScheme.size());
    const size_t slash = rest.find('/');
    if (slash != rest.npos) return rest.substr(0, slash);
  }
  return "";
}

Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& arch, const std::string& region) {
  const std::vector<std::string> urls = image_urls(node);
  if (urls.empty()) return by_system(node, arch);
  // Of several the first that this region can serve; where it can serve none, the caller says so of the
  // first.
  std::optional<ImageWanted> first;
  for (const std::string& url : urls) {
    if (url.starts_with("ami-")) return ImageWanted{url, ""};
    if (!url.starts_with(kScheme)) continue;
    const std::string rest = url.substr(kScheme.size());
    const size_t slash = rest.find('/');
    if (slash == rest.npos || slash + 1 == rest.size())
      return invalid(
          fmt::format("{}: disk.0.image.url = '{}': must be aws://REGION/ami-... or aws://REGION/NAME",
                      node.address, url));
    const std::string what = rest.substr(slash + 1);
    if (what.starts_with("snap-"))
      return invalid(
          fmt::format("{}: disk.0.image.url = '{}': a machine starts from an image; make one of the "
                      "snapshot first (aws ec2 register-image)",
                      node.address, url));
    ImageWanted image{what.starts_with("ami-") || what.find('/') != what.npos ? what : "self/" + what,
                      rest.substr(0, slash)};
    if (image.region == region) return image;
    if (!first) first = std::move(image);
  }
  if (first) return std::move(*first);
  return invalid(fmt::format("{}: disk.0.image.url = '{}' is not an image of EC2 (aws://REGION/ami-...)",
                             node.address, urls.front()));
}

std::string user_of_image(const std::string& name) {
  const std::string lower = to_lower(name);
  constexpr std::pair<const char*, const char*> kUsers[] = {
      {"ubuntu", "ubuntu"},   {"debian", "admin"},  {"al20", "ec2-user"},  {"amzn", "ec2-user"},
      {"amazon", "ec2-user"}, {"rhel", "ec2-user"}, {"suse", "ec2-user"},  {"rocky", "rocky"},
      {"centos", "centos"},   {"fedora", "fedora"}, {"bitnami", "bitnami"}};
  for (const auto& [part, user] : kUsers)
    if (lower.find(part) != lower.npos) return user;
  return "";
}

Result<Image> find_image(Call& call, const std::string& text) {
  return call.memory.images.get(text, [&]() -> Result<Image> {
    Parameters parameters;
    const bool by_id = text.starts_with("ami-");
    if (by_id) {
      parameters.emplace_back("ImageId.1", text);
    } else {
      const size_t slash = text.find('/');
      parameters.emplace_back("Owner.1", text.substr(0, slash));
      add_filter(parameters, "name", {text.substr(slash + 1)});
      add_filter(parameters, "state", {"available"});
    }
    Image newest;
    std::string made;
    Status asked =
        call.api.each(call.context, "DescribeImages", parameters, "imagesSet", [&](pugi::xml_node item) {
          std::string time = text_of(item, "creationDate");
          if (!newest.id.empty() && time <= made) return;
          made = time;
          newest = {text_of(item, "imageId"), text_of(item, "name"), text_of(item, "rootDeviceName"),
                    text_of(item, "architecture"), 0};
          for (pugi::xml_node device : item.child("blockDeviceMapping").children("item"))
            if (text_of(device, "deviceName") == newest.root_device)
              newest.root_gib = device.child("ebs").child("volumeSize").text().as_double();
        });
    if (asked.code() == Code::NotFound || asked.message().find("InvalidAMIID") != std::string::npos)
      return std::move(asked).at(fmt::format("image '{}' in region {}", text, call.cloud.region));
    if (!asked.ok()) return asked;
    if (newest.id.empty())
      return not_found(fmt::format("image '{}' not found in region {}", text, call.cloud.region))
          .with_hint(by_id ? "An image has a different ID in each region."
                           : "Its name or owner may differ in this region.");
    return newest;
  });
}

}  // namespace radl::ec2
