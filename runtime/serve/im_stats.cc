#include "runtime/serve/im_stats.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/text.h"
#include "common/utc.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr const char* kKeys[] = {"inf_id",     "im_user",    "creation_date", "last_date",
                                 "tosca_name", "vm_count",   "cpu_count",     "memory_size",
                                 "cloud_type", "cloud_host", "hybrid",        "deleted"};

// "2026-01-31" or "2026/01/31" as wall seconds; nullopt: neither.
std::optional<double> date_in(std::string text) {
  std::ranges::replace(text, '/', '-');
  const char* rest = nullptr;
  const auto date = parse_utc(text, "%Y-%m-%d", &rest);
  if (!date || !rest || *rest != '\0') return {};
  return double(*date);
}

// By the first type in Accept that can be served.
bool wants_csv(std::string_view accept) {
  for (const std::string_view part : split(accept, ',')) {
    const std::string type = to_lower(trim(part.substr(0, part.find(';'))));
    if (type == "text/csv") return true;
    if (type == "application/json" || type == "application/*" || type == "*/*" || type == "text/*")
      return false;
  }
  return false;
}

std::string csv_of(const Json& entries) {
  const auto field = [](const Json& value) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find_first_of(",\"\n") == text.npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
  };
  std::string csv;
  for (const char* key : kKeys) csv += (csv.empty() ? "" : ",") + std::string(key);
  for (const Json& entry : entries) {
    csv += "\n";
    for (const char* key : kKeys) csv += (key == kKeys[0] ? "" : ",") + field(entry.value(key, Json("")));
  }
  return csv;
}

}  // namespace

Answer stats(ImCall& call, const Registry& registry) {
  call.doing = "Getting stats";
  std::optional<double> first = 0, last;
  for (const auto& [name, to] : {std::pair("init_date", &first), std::pair("end_date", &last)}) {
    const std::string text = call.parameter(name);
    if (text.empty()) continue;
    *to = date_in(text);
    if (!*to) return call.failed(400, "Incorrect format in " + std::string(name) + " parameter: YYYY-MM-DD");
  }
  Json entries = Json::array();
  for (const InfrastructureFacts& facts : registry.facts()) {
    if (!call.caller.may_touch(facts.owner) || facts.created < *first || (last && facts.created > *last))
      continue;
    Json entry = facts.figures;
    entry["inf_id"] = facts.id;
    entry["im_user"] = facts.owner;
    entry["deleted"] = facts.deleted;
    entries.push_back(std::move(entry));
  }
  if (wants_csv(call.head.header("accept").value_or("")))
    return {.body = csv_of(entries), .type = "text/csv"};
  return call.json({{"stats", std::move(entries)}});
}

}  // namespace radl::serve
