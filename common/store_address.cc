#include "common/store_address.h"

#include <algorithm>
#include <array>

namespace radl {

namespace {

struct Scheme {
  StoreKind kind;
  std::string_view text;
};
constexpr std::array kSchemes = {Scheme{StoreKind::S3, "s3://"}, Scheme{StoreKind::Google, "gs://"},
                                 Scheme{StoreKind::Azure, "az://"}, Scheme{StoreKind::Swift, "swift://"}};
constexpr std::string_view kHttps = "https://";
// Azure's clouds: public, China, the US government's.
constexpr std::array<std::string_view, 3> kBlobHosts = {
    ".blob.core.windows.net", ".blob.core.chinacloudapi.cn", ".blob.core.usgovcloudapi.net"};

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";

bool only(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == text.npos;
}

// "" if this is not the URL of a blob.
std::string blob_account(std::string_view text) {
  if (!text.starts_with(kHttps) || text.find_first_of("?#") != text.npos) return "";
  const std::string_view host = text.substr(kHttps.size(), text.find('/', kHttps.size()) - kHttps.size());
  for (std::string_view known : kBlobHosts) {
    const size_t dot = host.size() - std::min(host.size(), known.size());
    if (dot == 0 || host.substr(dot) != known) continue;
    const std::string_view account = host.substr(0, dot);  // "ACCOUNT", or "ACCOUNT-secondary"
    if (only(account, "abcdefghijklmnopqrstuvwxyz0123456789-"))
      return std::string(kHttps) + std::string(host);
  }
  return "";
}

bool is_container_name(StoreKind kind, const std::string& name) {
  switch (kind) {
    case StoreKind::S3:
      return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
             only(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    case StoreKind::Google:
      return name.size() >= 3 && name.size() <= 222 &&
             only(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") &&
             kLower.find(name.front()) != kLower.npos && kLower.find(name.back()) != kLower.npos;
    case StoreKind::Azure:
      if (name == "$root" || name == "$web") return true;
      return name.size() >= 3 && name.size() <= 63 && only(name, "abcdefghijklmnopqrstuvwxyz0123456789-") &&
             name.front() != '-' && name.back() != '-' && name.find("--") == name.npos;
    case StoreKind::Swift:
      return !name.empty() && name.size() <= 256 && name != "." && name != ".." &&
             name.find_first_of("?#\\") == name.npos &&
             std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 32 || c == 127; });
  }
  return false;
}

const char* container_word(StoreKind kind) {
  return kind == StoreKind::S3 || kind == StoreKind::Google ? "bucket" : "container";
}

}  // namespace

std::string StoreAddress::root() const {
  if (!account_url.empty()) return account_url + "/" + container;
  for (const Scheme& scheme : kSchemes)
    if (scheme.kind == kind) return std::string(scheme.text) + container;
  return container;
}

std::string StoreAddress::text() const { return root() + (key.empty() ? "" : "/" + key); }

std::string StoreAddress::folder() const {
  if (!account_url.empty()) return "az/" + account_url.substr(kHttps.size()) + "/" + container;
  const std::string address = root();
  const size_t end = address.find("://");
  return address.substr(0, end) + "/" + container;
}

bool is_store_address(std::string_view text) {
  return std::any_of(kSchemes.begin(), kSchemes.end(),
                     [&](const Scheme& scheme) { return text.starts_with(scheme.text); }) ||
         !blob_account(text).empty();
}

Result<StoreAddress> parse_store_address(std::string_view text) {
  StoreAddress address;
  std::string_view rest;
  for (const Scheme& scheme : kSchemes) {
    if (!text.starts_with(scheme.text)) continue;
    address.kind = scheme.kind;
    rest = text.substr(scheme.text.size());
  }
  if (std::string account = blob_account(text); !account.empty()) {
    address.kind = StoreKind::Azure;
    rest = text.substr(std::min(text.size(), account.size() + 1));
    address.account_url = std::move(account);
  } else if (!is_store_address(text)) {
    return invalid("\"" + std::string(text.substr(0, text.find('?'))) +
                   "\" is not the address of an object store")
        .with_hint(std::string("write ") + kStoreAddresses);
  }
  const size_t slash = rest.find('/');
  address.container = rest.substr(0, slash);
  if (slash != rest.npos) address.key = rest.substr(slash + 1);
  if (!is_container_name(address.kind, address.container))
    return invalid("\"" + address.container + "\" is no " + container_word(address.kind) + "'s name");
  return address;
}

Result<StoreAddress> parse_store_folder(std::string_view text) {
  constexpr size_t kLongest = 800;
  auto address = parse_store_address(text);
  if (!address.ok()) return address;
  std::string& key = address->key;
  while (key.ends_with('/')) key.pop_back();
  bool fine = text.size() <= kLongest && key.find_first_of("?#\\") == key.npos &&
              std::none_of(key.begin(), key.end(), [](unsigned char c) { return c < 32 || c == 127; });
  // As Amazon has them; servers of one's own that take others are reached by parse_store_address().
  if (address->kind == StoreKind::S3)
    fine = fine && address->container.size() >= 3 && address->container.size() <= 63 &&
           only(address->container, "abcdefghijklmnopqrstuvwxyz0123456789.-_");
  for (std::string_view rest = key; fine && !rest.empty();) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    fine = !part.empty() && part != "." && part != "..";
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  if (fine) return address;
  return invalid("\"" + std::string(text.substr(0, text.find('?'))) + "\" is not a folder of an object store")
      .with_hint(std::string("write ") + kStoreAddresses);
}

bool writes_on_condition(const StoreAddress& address) { return address.kind != StoreKind::Swift; }

}  // namespace radl
