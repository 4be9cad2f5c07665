#include "runtime/clouds/gce/images.h"

#include <fmt/format.h>

#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl::gce {
namespace {

constexpr std::string_view kScheme = "gce://";

// Who publishes what ("Operating system details").
constexpr std::pair<const char*, const char*> kPublishers[] = {{"debian-", "debian-cloud"},
                                                               {"ubuntu-", "ubuntu-os-cloud"},
                                                               {"rocky-linux-", "rocky-linux-cloud"},
                                                               {"centos-", "centos-cloud"},
                                                               {"rhel-", "rhel-cloud"},
                                                               {"sles-", "suse-cloud"},
                                                               {"opensuse-", "opensuse-cloud"},
                                                               {"fedora-cloud-", "fedora-cloud"},
                                                               {"common-", "deeplearning-platform-release"},
                                                               {"pytorch-", "deeplearning-platform-release"},
                                                               {"almalinux-", "almalinux-cloud"}};

std::string publisher_of(const std::string& name) {
  for (const auto& [prefix, project] : kPublishers)
    if (name.starts_with(prefix)) return project;
  return "";
}

// "22.04" -> "2204".
std::string without_dots(std::string text) {
  std::erase(text, '.');
  return text;
}

// The family of a distribution's newest image for x86_64; "" where none is known.
std::string family_of(const std::string& flavour, const std::string& version) {
  if (flavour == "debian") return "debian-" + (version.empty() ? "12" : version);
  if (flavour == "ubuntu") return "ubuntu-" + without_dots(version.empty() ? "22.04" : version) + "-lts";
  if (version.empty()) return "";
  const std::string major = version.substr(0, version.find('.'));
  if (flavour == "rocky") return "rocky-linux-" + major;
  if (flavour == "almalinux" || flavour == "alma") return "almalinux-" + major;
  if (flavour == "centos") return "centos-stream-" + major;
  if (flavour == "rhel" || flavour == "redhat") return "rhel-" + major;
  return "";
}

// Families for arm64 say so in their names; those for x86_64 do in Ubuntu's newer ones alone.
std::string family_for(const std::string& family, bool arm) {
  constexpr std::string_view kUbuntu = "ubuntu-";
  if (arm) return family + "-arm64";
  const bool says = family.starts_with(kUbuntu) && family.substr(kUbuntu.size(), 4) >= "2404";
  return says ? family + "-amd64" : family;
}

Result<Image> image_in(const Json& item) {
  Image image;
  image.path = project_path_of(text_of(item, "selfLink"));
  image.name = text_of(item, "name");
  image.family = text_of(item, "family");
  image.disk_gib = count_of(item, "diskSizeGb");
  image.architecture = text_of(item, "architecture");
  if (image.path.empty()) return Status(Code::Corrupt, "an image without a selfLink");
  return image;
}

Result<Json> read_path(Asking& call, const std::string& path) {
  google::Answer answer =
      call.service.call({.method = "GET", .path = path, .query = {}, .body = nullptr}, waits(call.context));
  if (!answer.ok()) return answer.failure().status;
  return answer.json();
}

// A public project's images may be hidden from those who may not look (403): another way may do.
bool is_elsewhere(const Status& status) {
  return status.code() == Code::NotFound || status.code() == Code::Auth;
}

Result<Image> ask_image(Asking& call, const std::string& image) {
  std::vector<std::string> paths;
  if (image.starts_with("projects/")) {
    paths = {image};
  } else if (image.starts_with("global/images/")) {
    paths = {call.root() + image};
  } else {
    // Of one's own before anybody else's.
    paths = {call.root() + "global/images/family/" + image, call.root() + "global/images/" + image};
    if (const std::string project = publisher_of(image); !project.empty())
      paths.insert(paths.begin(), {"projects/" + project + "/global/images/family/" + image,
                                   "projects/" + project + "/global/images/" + image});
  }
  Status why;
  for (const std::string& path : paths) {
    auto found = read_path(call, path);
    if (found.ok()) return image_in(*found);
    if (!is_elsewhere(found.status())) return found.status();
    why = found.status();
  }
  if (paths.size() == 1) return why;
  return not_found(fmt::format("image '{}' not found, neither as a family nor as a name", image))
      .with_hint(
          "`gcloud compute images list` shows what there is: gce://REGION/projects/PROJECT/global/images/"
          "family/NAME");
}

}  // namespace

Result<std::string> image_wanted(const ir::Node& node, bool arm) {
  const std::vector<std::string> urls = image_urls(node);
  for (const std::string& url : urls) {
    if (!url.starts_with(kScheme)) continue;
    const size_t slash = url.find('/', kScheme.size());
    std::string image = slash == url.npos ? "" : url.substr(slash + 1);
    while (image.starts_with('/')) image.erase(0, 1);
    const bool whole = image.find('/') == image.npos || image.starts_with("projects/") ||
                       image.starts_with("global/images/");
    if (!image.empty() && whole && image.find_first_of("?# ") == image.npos) return image;
    return invalid(
        fmt::format("{}: disk.0.image.url = '{}': must be gce://REGION/IMAGE, where IMAGE is a name, "
                    "or projects/PROJECT/global/images/[family/]NAME",
                    node.address, url));
  }
  if (!urls.empty())
    return invalid(
        fmt::format("{}: disk.0.image.url = '{}' is not an image of Google Compute Engine (gce://REGION/"
                    "IMAGE)",
                    node.address, urls.front()));
  std::string flavour = to_lower(text_wanted(node, "disk.0.os.flavour"));
  const std::string version = os_version_wanted(node);
  if (flavour.empty()) flavour = version.empty() ? "debian" : "";
  std::string family = family_of(flavour, version);
  if (family.empty())
    return invalid(fmt::format("{}: disk.0.os.flavour: radlc knows no image family of Google for '{} {}'",
                               node.address, flavour, version))
        .with_hint(
            "name the image: disk.0.image.url = 'gce://REGION/projects/PROJECT/global/images/family/NAME'");
  family = family_for(family, arm);
  return fmt::format("projects/{}/global/images/family/{}", publisher_of(family), family);
}

bool is_published(const std::string& image) {
  if (image.find('/') == image.npos) return !publisher_of(image).empty();
  for (const auto& [prefix, project] : kPublishers)
    if (image.starts_with(fmt::format("projects/{}/", project))) return true;
  return false;
}

std::string user_of_image(const std::string& image) {
  const std::string lower = to_lower(last_part(image));
  for (const char* name : {"ubuntu", "debian", "rocky", "almalinux", "centos", "fedora"})
    if (lower.find(name) != lower.npos) return name;
  return "radlc";  // Google's guest agent makes whichever user a key is for
}

Result<Image> find_image(Asking& call, const std::string& image) {
  return call.memory.images.get(image, [&] { return ask_image(call, image); });
}

}  // namespace radl::gce
