#include "runtime/steps/native/value_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace radl::native {
namespace {

bool is_printable(char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; }

// "user:group" is a word of chown's, which would never be found as it was asked for.
bool is_account(const std::string& name) {
  return !name.starts_with('-') && name.find_first_of(":,/") == std::string::npos &&
         std::all_of(name.begin(), name.end(), is_printable);
}

bool is_word(const std::string& text) {
  return !text.starts_with('-') && std::all_of(text.begin(), text.end(), is_printable);
}

// Spaces stand in names of shares.
bool is_device(const std::string& text) {
  return !text.starts_with('-') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || is_printable(c); });
}

bool is_url(const std::string& text) {
  const size_t end = text.find("://");
  return end != std::string::npos && end > 0 && is_word(text) &&
         std::all_of(text.begin(), text.begin() + static_cast<long>(end), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '.' || c == '-';
         });
}

// A name or an address, IPv6 with a zone as well.
bool is_host(const std::string& text) {
  return !text.empty() && !text.starts_with('-') && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(".-_:%").find(c) != std::string_view::npos;
  });
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c));
         });
}

struct Rule {
  std::string_view type, property;  // type "": of any resource
  bool (*holds)(const std::string&);
  std::string_view wanted;
};

constexpr Rule kRules[] = {
    {"", "owner", is_account, "a user's name or number"},
    {"", "group", is_account, "a group's name or number"},
    {"user", "groups", is_account, "names of groups"},
    {"download", "url", is_url, "an address that begins with http:// or https://"},
    {"download", "sha256", is_sha256, "64 hexadecimal digits"},
    {"wait_for", "url", is_url, "an address that begins with http:// or https://"},
    {"wait_for", "host", is_host, "a host name or an address"},
    {"mount", "device", is_device, "a device or a share"},
    {"mount", "fstype", is_word, "a file system's name"},
    {"mount", "options", is_device, "mount options"},
    {"package", "version", is_word, "a version"},
};

Status refused(const Item& item, const Rule& rule, const std::string& value) {
  return invalid(fmt::format("{}: {}: '{}' cannot stand here: expected {}", item.label(), rule.property,
                             value, rule.wanted));
}

// What `rm -rf` must not get, however it is written.
Status check_removal(const Item& item) {
  if (item.resource->type != "directory" || item.text("state", "present") != "absent") return {};
  const std::string plain = std::filesystem::path(item.resource->name).lexically_normal().string();
  // "//" stays what it is: POSIX lets it be another root.
  const bool root = plain.find_first_not_of('/') == std::string::npos;
  const bool all = root || plain == "~" || plain == "~/" || plain.starts_with('.');
  return all ? invalid(item.label() + ": this folder is not removed") : Status();
}

}  // namespace

Status check_values(const Item& item) {
  for (const Rule& rule : kRules) {
    if (!rule.type.empty() && rule.type != item.resource->type) continue;
    const std::string name(rule.property);
    if (!item.has(name.c_str())) continue;
    const Json& value = item.resource->properties[name];
    if (value.is_string() && !value.get_ref<const std::string&>().empty() && !rule.holds(value))
      return refused(item, rule, value);
    if (!value.is_array()) continue;
    for (const Json& one : value) {
      if (one.is_string() && !rule.holds(one)) return refused(item, rule, one);
    }
  }
  return check_removal(item);
}

}  // namespace radl::native
