#include "runtime/clouds/openstack/volumes.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/http/url.h"
#include "common/text.h"

namespace radl::openstack {
namespace {

constexpr std::string_view kUrlScheme = "ost://", kUrlPath = "volume/";

VolumeThere volume_in(const Json& item) {
  VolumeThere volume{text_of(item, "id"), text_of(item, "name"), text_of(item, "status"), ""};
  for (const Json& one : list_of(item, "attachments")) volume.server = text_of(one, "server_id");
  // Cinder writes it as a text.
  volume.bootable = text_of(item, "bootable") == "true" || flag_of(item, "bootable");
  if (member(item, "volume_image_metadata").is_object()) volume.image = member(item, "volume_image_metadata");
  return volume;
}

}  // namespace

Result<VolumeThere> volume_named(Asking& call, const std::string& text) {
  if (Status there = call.services.volume.present(call.context.stop); !there.ok())
    return there.code() == Code::NotFound
               ? invalid(fmt::format("volume {}: the cloud has no block storage", text))
               : there;
  std::vector<VolumeThere> called;
  std::vector<std::string> names;
  std::optional<VolumeThere> found;
  Status asked =
      call.services.volume.each("/volumes/detail", "volumes", {}, waits(call.context), [&](const Json& item) {
        VolumeThere one = volume_in(item);
        if (one.id == text) found = one;
        names.push_back(one.name.empty() ? one.id : one.name);
        if (one.name == text) called.push_back(std::move(one));
      });
  if (!asked.ok()) return asked;
  if (found) return *found;
  if (called.size() == 1) return called.front();
  if (called.size() > 1)
    return invalid(fmt::format("{} volumes have the name {}", called.size(), text))
        .with_hint("use its ID: `openstack volume list`");
  const std::string near = nearest(text, names);
  return not_found(fmt::format("the project has no volume {}", text))
      .with_hint(near.empty() ? "run `openstack volume list` to list volumes" : "did you mean " + near + "?");
}

Status is_free(Asking& call, const VolumeThere& volume) {
  if (volume.status == "available") return {};
  const std::string name = volume.name.empty() ? volume.id : volume.name;
  const bool going = volume.status == "detaching" || call.memory.is_leaving(volume.server);
  if (going) return Status(Code::Retry, fmt::format("volume {} is still {}", name, volume.status));
  if (!volume.server.empty())
    return invalid(fmt::format("volume {} is attached to server {}", name, volume.server));
  return invalid(fmt::format("volume {} is {}, and must be available", name, volume.status));
}

std::string volume_in_url(const std::string& url, const std::string& host) {
  if (!url.starts_with(kUrlScheme)) return url.find("://") == url.npos ? url : "";
  const std::string rest = url.substr(kUrlScheme.size());
  const size_t slash = rest.find('/');
  if (slash == rest.npos) return "";
  const std::string of = rest.substr(0, std::min(slash, rest.find(':')));
  if (!host.empty() && !of.empty() && !equal_ignoring_case(of, host)) return "";
  std::string name = rest.substr(slash + 1);
  if (name.starts_with(kUrlPath)) name.erase(0, kUrlPath.size());
  auto plain = http::percent_decode(name);
  return plain.ok() ? *plain : name;
}

}  // namespace radl::openstack
