#include "runtime/clouds/openstack/images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "common/http/url.h"
#include "common/openstack/egi.h"
#include "common/text.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/openstack/volumes.h"

namespace radl::openstack {
namespace {

constexpr std::string_view kScheme = "ost://", kSystem = "system:", kVolumeText = "volume:";

bool is_uuid(const std::string& text) {
  if (text.size() != 36 && text.size() != 32) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) || c == '-'; });
}

Result<ImageWanted> of_url(const ir::Node& node, const std::string& url) {
  if (is_egi_image(url)) {
    auto parsed = parse_egi_image(url);
    if (!parsed.ok()) return Status(parsed.status()).at(node.address);
    return ImageWanted{url, "", parsed->site};
  }
  const std::string rest = url.substr(kScheme.size());
  const size_t slash = rest.find('/');
  if (slash == rest.npos || slash + 1 == rest.size())
    return invalid(
        fmt::format("{}: disk.0.image.url = '{}': must be ost://HOST/IMAGE, of the cloud's Keystone and "
                    "an id or name of Glance",
                    node.address, url));
  std::string host = rest.substr(0, slash);
  host = host.substr(0, host.find(':'));
  std::string name = rest.substr(slash + 1);
  const bool is_volume = name.starts_with("volume/");
  if (is_volume || name.starts_with("image/")) name.erase(0, name.find('/') + 1);
  if (auto plain = http::percent_decode(name); plain.ok()) name = *plain;
  return ImageWanted{(is_volume ? std::string(kVolumeText) : "") + name, to_lower(host), ""};
}

std::string by_system(const ir::Node& node) {
  std::string flavour = to_lower(text_wanted(node, "disk.0.os.flavour"));
  std::string version = os_version_wanted(node);
  if (flavour.empty() && version.empty()) return "system:debian:12";
  return fmt::format("{}{}:{}", kSystem, flavour, version);
}

// "debian-12-generic-amd64", "Ubuntu 22.04 LTS": the words of a name.
bool names_system(const std::string& name, const std::string& flavour, const std::string& version) {
  const std::string lower = to_lower(name);
  if (!flavour.empty() && lower.find(flavour) == lower.npos) return false;
  if (version.empty()) return true;
  for (size_t at = lower.find(version); at != lower.npos; at = lower.find(version, at + 1)) {
    const size_t end = at + version.size();
    auto digit = [&](size_t i) {
      return i < lower.size() && std::isdigit(static_cast<unsigned char>(lower[i]));
    };
    if (!(at > 0 && digit(at - 1)) && !digit(end)) return true;
  }
  return false;
}

struct Candidate {
  Image image;
  std::string created;
  bool by_properties = false;
};

Candidate candidate_in(const Json& item) {
  Candidate one;
  one.image.id = text_of(item, "id");
  one.image.name = text_of(item, "name");
  one.created = text_of(item, "created_at");
  const std::string distribution = to_lower(text_of(item, "os_distro"));
  one.image.system = distribution + " " + text_of(item, "os_version");
  one.image.user = text_of(item, "os_admin_user");
  if (one.image.user.empty()) one.image.user = user_of_image(distribution + " " + one.image.name);
  one.image.architecture = text_of(item, "hw_architecture");
  if (one.image.architecture.empty()) one.image.architecture = text_of(item, "architecture");
  one.image.min_disk_gib =
      std::max(number_of(item, "min_disk"), std::ceil(number_of(item, "virtual_size") / kGiB));
  one.image.min_memory_bytes = number_of(item, "min_ram") * kMiB;
  return one;
}

Result<std::vector<Candidate>> candidates(Asking& call, const Parameters& query) {
  std::vector<Candidate> found;
  Status asked =
      call.services.image.each("/images", "images", query, waits(call.context), [&](const Json& item) {
        if (text_of(item, "status") == "active") found.push_back(candidate_in(item));
      });
  if (!asked.ok()) return asked;
  return found;
}

Result<Image> newest_of_system(Asking& call, const std::string& text) {
  const auto parts = split(text, ':');
  const std::string flavour(parts.size() > 1 ? parts[1] : ""), version(parts.size() > 2 ? parts[2] : "");
  auto all = candidates(call, {});
  if (!all.ok()) return all.status();
  const Candidate* best = nullptr;
  for (Candidate& one : *all) {
    const std::string said = to_lower(one.image.system);
    one.by_properties = said.size() > 1 && names_system(said, flavour, version);
    if (!one.by_properties && !names_system(one.image.name, flavour, version)) continue;
    if (!best || std::tie(best->by_properties, best->created) < std::tie(one.by_properties, one.created))
      best = &one;
  }
  if (best) return best->image;
  std::vector<std::string> names;
  for (const Candidate& one : *all) names.push_back(one.image.name);
  std::sort(names.begin(), names.end());
  if (names.size() > 20) names.resize(20);
  return not_found(fmt::format("{} has no image of {} {}", call.cloud.text(),
                               flavour.empty() ? "a system" : flavour, version))
      .with_hint(names.empty()
                     ? "it has no images"
                     : "name one: disk.0.image.url = 'ost://HOST/NAME'; it has " + join(names, ", "));
}

// The login is that of the image that the volume was made of.
Result<Image> ask_volume(Asking& call, const std::string& name) {
  auto volume = volume_named(call, name);
  if (!volume.ok()) return volume.status();
  if (!volume->bootable) return invalid(fmt::format("volume {} is not bootable", name));
  Json like = volume->image;
  like["id"] = volume->id;
  like["name"] = text_of(volume->image, "image_name");
  Image image = candidate_in(like).image;
  image.name = name;
  image.min_disk_gib = 0;
  // Cinder writes all of these as texts.
  image.min_memory_bytes = std::strtod(text_of(volume->image, "min_ram").c_str(), nullptr) * kMiB;
  image.is_volume = true;
  return image;
}

Result<Image> ask_image(Asking& call, const std::string& text) {
  if (text.starts_with(kSystem)) return newest_of_system(call, text);
  if (text.starts_with(kVolumeText)) return ask_volume(call, text.substr(kVolumeText.size()));
  std::string wanted = text;
  if (is_egi_image(text)) {
    auto url = parse_egi_image(text);
    if (!url.ok()) return url.status();
    const Settings& settings = call.services.session.settings();
    if (url->site.empty()) url->site = settings.egi_site;
    if (url->vo.empty()) url->vo = settings.egi_vo;
    if (url->site.empty())
      return invalid(fmt::format("'{}' is not a site of EGI", text))
          .with_hint("write egi://SITE/NAME?VO, or use a line of type EGI in the auth file");
    auto id = find_egi_image(call.services.session.http(), *url, call.context.stop);
    if (!id.ok()) return id.status();
    wanted = *id;
  }
  if (is_uuid(wanted)) {
    auto one = read(call.services.image, call.context, "/images/" + http::percent_encode(wanted));
    if (one.ok()) return candidate_in(*one).image;
    if (one.status().code() != Code::NotFound) return one.status();
  }
  auto named = candidates(call, {{"name", wanted}});
  if (!named.ok()) return named.status();
  if (named->empty())
    return not_found(fmt::format("{} has no image '{}'", call.cloud.text(), wanted))
        .with_hint("run `openstack image list` to list images");
  return std::max_element(named->begin(), named->end(),
                          [](const Candidate& a, const Candidate& b) { return a.created < b.created; })
      ->image;
}

}  // namespace

Result<ImageWanted> image_wanted(const ir::Node& node) { return image_wanted(node, "", ""); }

Result<ImageWanted> image_wanted(const ir::Node& node, const std::string& host, const std::string& site) {
  const auto is_of = [](const std::string& named, const std::string& ours) {
    return ours.empty() || named.empty() || equal_ignoring_case(named, ours);
  };
  const std::vector<std::string> urls = image_urls(node);
  if (urls.empty()) return ImageWanted{by_system(node), "", ""};
  std::optional<ImageWanted> first;
  std::vector<ImageWanted> fit;
  for (const std::string& url : urls) {
    if (is_uuid(url)) return ImageWanted{url, "", ""};
    if (!url.starts_with(kScheme) && !is_egi_image(url)) continue;
    auto image = of_url(node, url);
    if (!image.ok()) return image;
    if (is_of(image->host, host) && is_of(image->site, site)) fit.push_back(*image);
    if (!first) first = std::move(*image);
  }
  // Volumes are for one machine each: every node of the system takes its own of a list.
  if (fit.size() > 1 && names_volume(fit.front().text))
    return fit[std::min(fit.size() - 1, static_cast<size_t>(node.ordinal))];
  if (!fit.empty()) return fit.front();
  if (first) return std::move(*first);
  return invalid(fmt::format("{}: disk.0.image.url = '{}' is not an image of OpenStack (ost://HOST/IMAGE)",
                             node.address, urls.front()));
}

bool names_volume(const std::string& image) { return image.starts_with(kVolumeText); }

std::string user_of_image(const std::string& name) {
  const std::string lower = to_lower(name);
  constexpr std::pair<const char*, const char*> kUsers[] = {
      {"ubuntu", "ubuntu"}, {"debian", "debian"},  {"cirros", "cirros"},     {"fedora", "fedora"},
      {"rocky", "rocky"},   {"alma", "almalinux"}, {"centos", "cloud-user"}, {"rhel", "cloud-user"},
      {"suse", "opensuse"}, {"arch", "arch"},      {"freebsd", "freebsd"}};
  for (const auto& [part, user] : kUsers)
    if (lower.find(part) != lower.npos) return user;
  return "";
}

Result<Image> find_image(Asking& call, const std::string& text) {
  return call.memory.images.get(text, [&] { return ask_image(call, text); });
}

}  // namespace radl::openstack
