#include "runtime/clouds/elsewhere.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "common/text.h"

namespace radl {

namespace {

struct NamedCloud {
  std::string_view word, cloud;
};
// Types of the Infrastructure Manager's auth file, as people name their credentials after them.
constexpr std::array kNames = {NamedCloud{"opennebula", "OpenNebula"},
                               NamedCloud{"one", "OpenNebula"},
                               NamedCloud{"kubernetes", "Kubernetes"},
                               NamedCloud{"k8s", "Kubernetes"},
                               NamedCloud{"kubevirt", "KubeVirt"},
                               NamedCloud{"libvirt", "libvirt"},
                               NamedCloud{"docker", "Docker"},
                               NamedCloud{"fogbow", "FogBow"},
                               NamedCloud{"cloudstack", "CloudStack"},
                               NamedCloud{"vsphere", "vSphere"},
                               NamedCloud{"linode", "Linode"},
                               NamedCloud{"orange", "Orange"},
                               NamedCloud{"oscar", "OSCAR"},
                               NamedCloud{"lambda", "AWS Lambda"},
                               NamedCloud{"occi", "OCCI"},
                               NamedCloud{"ch", "Chameleon without OpenStack's credentials"}};
// Schemes of images (RADL's own: docs/language/radl1.md).
constexpr std::array kSchemes = {NamedCloud{"one", "OpenNebula"},
                                 NamedCloud{"docker", "Docker or Kubernetes"},
                                 NamedCloud{"fbw", "FogBow"},
                                 NamedCloud{"lin", "Linode"},
                                 NamedCloud{"ora", "Orange"},
                                 NamedCloud{"cst", "CloudStack"},
                                 NamedCloud{"vsp", "vSphere"},
                                 NamedCloud{"kvr", "KubeVirt"},
                                 NamedCloud{"oscar", "OSCAR"},
                                 NamedCloud{"lambda", "AWS Lambda"},
                                 NamedCloud{"dummy", "the Infrastructure Manager's own tests"}};

template <size_t size>
std::string_view found(const std::array<NamedCloud, size>& all, std::string_view word) {
  for (const NamedCloud& one : all)
    if (one.word == word) return one.cloud;
  return {};
}

// Most words are none of these: a large file has tens of thousands.
template <size_t size>
bool may_be(const std::array<NamedCloud, size>& all, std::string_view word) {
  return std::any_of(all.begin(), all.end(), [&](const NamedCloud& one) {
    return one.word.size() == word.size() && (word[0] | 0x20) == one.word[0];
  });
}

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Where a word begins next, by one of its letters that is rare: large files are looked at in one go.
struct Searched {
  std::string_view word;
  size_t rare;  // its place in the word
};
constexpr Searched kScheme = {"://", 1}, kDeploy = {"deploy", 5};

size_t find_from(std::string_view text, const Searched& what, size_t from) {
  for (size_t at = from + what.rare; at < text.size(); ++at) {
    const void* rare = std::memchr(text.data() + at, what.word[what.rare], text.size() - at);
    if (rare == nullptr) return text.npos;
    at = static_cast<size_t>(static_cast<const char*>(rare) - text.data());
    if (text[at - 1] == what.word[what.rare - 1] &&
        text.substr(at - what.rare, what.word.size()) == what.word)
      return at - what.rare;
  }
  return text.npos;
}

// An image's address of such a cloud.
bool has_scheme(std::string_view text) {
  for (size_t at = 0; (at = find_from(text, kScheme, at)) != text.npos; at += 3) {
    size_t begin = at;
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    const std::string_view word = text.substr(begin, at - begin);
    if (may_be(kSchemes, word) && !found(kSchemes, to_lower(word)).empty()) return true;
  }
  return false;
}

bool names_cloud(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (may_be(kNames, word) && !found(kNames, to_lower(word)).empty()) return true;
    at = end + 1;
  }
  return false;
}

// A line of `deploy` with the name of such a cloud. In a `radl 2` file that may be an expression, whose words
// are looked for anywhere.
bool has_deploy(std::string_view text) {
  constexpr size_t kHead = 4096;
  size_t at = find_from(text, kDeploy, 0);
  if (at == text.npos) return false;
  if (text.substr(0, kHead).find("radl 2") != text.npos) return names_cloud(text);
  for (; at != text.npos; at = find_from(text, kDeploy, at)) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t behind = std::min(at + kDeploy.word.size(), end);
    if (names_cloud(text.substr(behind, end - behind))) return true;
    at = end;
  }
  return false;
}

// "" where one of the images is for a cloud that there may be.
std::string_view only_elsewhere(const ir::Node& node) {
  std::string_view first;
  for (const ir::Disk& disk : node.disks) {
    if (disk.index != 0) continue;
    for (const std::string& url : disk.image_urls) {
      const std::string_view cloud = image_elsewhere(url);
      if (cloud.empty()) return {};
      if (first.empty()) first = cloud;
    }
  }
  return first;
}

}  // namespace

std::string_view cloud_elsewhere(std::string_view name) { return found(kNames, to_lower(name)); }

std::vector<std::string> known_image_schemes(const CloudProviders& providers) {
  std::vector<std::string> schemes = {"http", "https", "file", "local"};
  for (const NamedCloud& one : kSchemes) schemes.emplace_back(one.word);
  for (const CloudProvider* provider : providers)
    schemes.insert(schemes.end(), provider->image_schemes.begin(), provider->image_schemes.end());
  return schemes;
}

std::string_view image_elsewhere(std::string_view url) {
  const size_t end = url.find("://");
  return end == url.npos ? std::string_view() : found(kSchemes, to_lower(url.substr(0, end)));
}

bool may_ask_elsewhere(std::string_view text) { return has_scheme(text) || has_deploy(text); }

std::string supported_clouds(const std::vector<std::string>& names) {
  return "supported clouds: " + join(names, ", ") + " (docs/clouds.md)";
}

std::vector<AskedElsewhere> asked_elsewhere(const ir::Program& program) {
  std::vector<AskedElsewhere> all;
  std::set<std::string> seen;
  for (const ir::Node& node : program.nodes) {
    std::string why;
    if (const std::string_view named = cloud_elsewhere(node.cloud); !named.empty())
      why = fmt::format("{}, which its `deploy` names ('{}')", named, node.cloud);
    else if (const std::string_view imaged = only_elsewhere(node); !imaged.empty())
      why = fmt::format("{}, which its image is for", imaged);
    if (why.empty() || !seen.insert(node.system + why).second) continue;
    all.push_back(
        {node.origin, fmt::format("system '{}': {}, is not among radlc's clouds", node.system, why)});
  }
  return all;
}

}  // namespace radl
