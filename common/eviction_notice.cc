#include "common/eviction_notice.h"

#include <algorithm>

#include "common/json_values.h"
#include "common/text.h"

namespace radl {
namespace {

using Value = nlohmann::json;

bool is_text(const Value& value, const std::string& wanted) {
  return value.is_string() && equal_ignoring_case(value.get_ref<const std::string&>(), wanted);
}

// A text that is the one wanted, or a list that holds it.
bool holds(const Value& value, const std::string& wanted) {
  return is_text(value, wanted) ||
         (value.is_array() &&
          std::any_of(value.begin(), value.end(), [&](const Value& one) { return is_text(one, wanted); }));
}

bool fits(const NoticeSpec& spec, const Value& one) {
  return one.is_object() && std::all_of(spec.where.begin(), spec.where.end(), [&](const auto& wanted) {
           return holds(json::member(one, wanted.first), wanted.second);
         });
}

void take_text(const Value& from, const char* name, std::string& to) {
  if (const Value& value = json::member(from, name); value.is_string()) to = value.get<std::string>();
}

void take_texts(const Value& from, const char* name, std::map<std::string, std::string>& to) {
  const Value& object = json::member(from, name);
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items())
    if (value.is_string()) to[key] = value.get<std::string>();
}

}  // namespace

NoticeSpec notice_spec_in(const Value& declared) {
  NoticeSpec spec;
  take_text(declared, "url", spec.url);
  take_texts(declared, "headers", spec.headers);
  take_text(declared, "session_url", spec.session_url);
  take_text(declared, "session_header", spec.session_header);
  take_texts(declared, "session_headers", spec.session_headers);
  spec.every_seconds = json::number_of(declared, "every_seconds", spec.every_seconds);
  take_text(declared, "says", spec.says);
  take_text(declared, "list", spec.list);
  take_texts(declared, "where", spec.where);
  take_text(declared, "action", spec.action);
  take_text(declared, "time", spec.time);
  return spec;
}

Result<std::optional<EvictionNotice>> notice_in(const NoticeSpec& spec, const std::string& answer) {
  if (!spec.says.empty()) {
    if (!equal_ignoring_case(trim(answer), spec.says)) return std::optional<EvictionNotice>();
    return std::optional<EvictionNotice>(EvictionNotice{spec.action, ""});
  }
  const Value said = json::parse_json(answer);
  const std::string from = spec.url.substr(0, spec.url.find('?'));
  if (!said.is_object()) return Status(Code::Corrupt, from + ": the answer is no JSON object");
  auto noticed = [&](const Value& one) -> Result<std::optional<EvictionNotice>> {
    EvictionNotice notice{json::text_of(one, spec.action), json::text_of(one, spec.time)};
    if (notice.action.empty())
      return Status(Code::Corrupt, from + ": a notice without \"" + spec.action + "\"");
    return std::optional<EvictionNotice>(std::move(notice));
  };
  if (spec.list.empty()) return fits(spec, said) ? noticed(said) : std::optional<EvictionNotice>();
  if (!json::member(said, spec.list).is_array())
    return Status(Code::Corrupt, from + ": the answer has no list \"" + spec.list + "\"");
  for (const Value& one : json::list_of(said, spec.list))
    if (fits(spec, one)) return noticed(one);
  return std::optional<EvictionNotice>();
}

}  // namespace radl
