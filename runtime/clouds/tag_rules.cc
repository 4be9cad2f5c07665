#include "runtime/clouds/tag_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text.h"
#include "runtime/clouds/wishes.h"

namespace radl {
namespace {

constexpr std::string_view kOurs[] = {"radlc:", "radlc-", "radlc_", "radlc."};

size_t characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

bool is_ours(std::string_view text) {
  const std::string lower = to_lower(text);
  return lower == "radlc" || std::any_of(std::begin(kOurs), std::end(kOurs),
                                         [&](std::string_view prefix) { return lower.starts_with(prefix); });
}

Status check_name_is_free(const std::string& where, const std::string& name) {
  if (!is_ours(name)) return {};
  return invalid(fmt::format("{} = '{}': names that begin with radlc are reserved", where, name))
      .with_hint("radlc finds what it created by such names; choose another one");
}

Status check_text(const std::string& where, std::string_view what, std::string_view text, size_t longest,
                  const TagRules& rules) {
  const bool key = what == "name";
  if (const size_t length = characters(text); length > longest)
    return invalid(fmt::format("{}: its {} has {} characters; the {} of a tag in {} has at most {}", where,
                               what, length, what, rules.cloud, longest));
  if (rules.allows && !rules.allows(text, key))
    return invalid(fmt::format("{}: its {} is not valid for a tag in {}, which allows {}", where, what,
                               rules.cloud, rules.allowed));
  return {};
}

Status check_tag(const std::string& where, const std::string& key, const std::string& value,
                 const TagRules& rules) {
  const std::string lower = to_lower(key);
  for (std::string_view prefix : rules.reserved)
    if (lower.starts_with(prefix))
      return invalid(
          fmt::format("{}: tags that begin with '{}' are reserved in {}", where, prefix, rules.cloud));
  if (Status right = check_text(where, "name", key, rules.key, rules); !right.ok()) return right;
  return check_text(where, "value", value, rules.value, rules);
}

}  // namespace

Status check_key_is_free(const std::string& where, std::string_view key) {
  if (!is_ours(key)) return {};
  return invalid(fmt::format("{}: '{}': tags that begin with radlc are reserved", where, key))
      .with_hint("radlc finds what it created by such tags; choose another name");
}

Status check_names_are_free(const ir::Node& node) {
  if (auto tags = tags_wanted(node); !tags.ok()) return std::move(tags).status();
  return check_name_is_free(node.address + ": instance_name", text_wanted(node, "instance_name"));
}

Status check_names_are_free(const ir::Network& network) {
  return check_name_is_free("network " + network.name + ": sg_name", text_wanted(network, "sg_name"));
}

Status check_tags(const ir::Node& node, const TagRules& rules) {
  if (Status free = check_names_are_free(node); !free.ok()) return free;
  auto tags = tags_wanted(node);
  std::set<std::string> keys;
  for (const auto& [key, value] : tags->items()) {
    const std::string where = fmt::format("{}: instance_tags: '{}'", node.address, key);
    if (Status right = check_tag(where, key, value.get<std::string>(), rules); !right.ok()) return right;
    if (rules.ignores_case && !keys.insert(to_lower(key)).second)
      return invalid(fmt::format("{}: {} ignores the case of a tag's name, and the file sets it twice", where,
                                 rules.cloud));
  }
  if (const size_t room = rules.most - rules.own; tags->size() > room)
    return invalid(
        fmt::format("{}: instance_tags: {} tags; a machine in {} can have {}, of which radlc uses {}",
                    node.address, tags->size(), rules.cloud, rules.most, rules.own));
  if (rules.address > 0 && node.address.size() > rules.address)
    return invalid(
               fmt::format("{}: the address has {} bytes; radlc tags the machine with it, and {} allows {}",
                           node.address, node.address.size(), rules.cloud, rules.address))
        .with_hint("give the system a shorter name");
  return {};
}

}  // namespace radl
