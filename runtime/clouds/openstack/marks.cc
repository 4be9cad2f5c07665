#include "runtime/clouds/openstack/marks.h"

#include <cctype>

#include "common/digest.h"
#include "common/openstack/values.h"
#include "common/text.h"

namespace radl::openstack {
namespace {

constexpr size_t kNamePart = 60, kHash = 12;
constexpr std::string_view kWord = "radlc ", kPrefix = "radlc-";

std::string hash_of(const std::string& infrastructure) { return sha256_hex(infrastructure).substr(0, kHash); }

}  // namespace

Mark mark_of(const Context& context, const Order& order) {
  if (order.token.empty()) return {};
  return {context.infrastructure, order.address, order.token};
}

Json to_metadata(const Mark& mark) {
  return {{kInfrastructureKey, mark.infrastructure}, {kAddressKey, mark.address}, {kTokenKey, mark.token}};
}

Mark from_metadata(const Json& metadata) {
  return {text_of(metadata, kInfrastructureKey), text_of(metadata, kAddressKey),
          text_of(metadata, kTokenKey)};
}

Json own_metadata(const Json& metadata) {
  Json own = Json::object();
  if (!metadata.is_object()) return own;
  for (const auto& [name, value] : metadata.items())
    if (!name.starts_with("radlc:") && value.is_string()) own[name] = value;
  return own;
}

std::string to_line(const Mark& mark) {
  if (mark.token.empty()) return "";
  std::string line(kWord);
  line += mark.token + " " + mark.infrastructure + " " + mark.address;
  return line;
}

Mark from_line(const std::string& line) {
  if (!line.starts_with(kWord)) return {};
  const auto words = split(std::string_view(line).substr(kWord.size()), ' ');
  if (words.size() < 3) return {};
  return {std::string(words[1]), std::string(words[2]), std::string(words[0])};
}

std::string to_name(const Mark& mark) {
  std::string shown;
  for (char c : mark.infrastructure.substr(0, kNamePart))
    shown += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return std::string(kPrefix) + shown + "-" + hash_of(mark.infrastructure) + "-" + mark.token;
}

std::string token_in_name(const std::string& name, const std::string& infrastructure) {
  if (!name.starts_with(kPrefix)) return "";
  const size_t token = name.rfind('-');
  const std::string hash = hash_of(infrastructure);
  if (token < kPrefix.size() + hash.size() || name.compare(token - hash.size(), hash.size(), hash) != 0 ||
      name[token - hash.size() - 1] != '-')
    return "";
  return name.substr(token + 1);
}

void take_mark(const Context& context, const Mark& mark, Seen& seen) {
  if (!mark.ours(context)) return;
  seen.address = mark.address;
  seen.token = mark.token;
}

}  // namespace radl::openstack
