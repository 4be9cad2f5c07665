#include "tools/lsp/answers.h"

#include <algorithm>

namespace radl::lsp {

Json position_json(Position position) { return {{"line", position.line}, {"character", position.character}}; }

Json range_json(Range range) {
  return {{"start", position_json(range.start)}, {"end", position_json(range.end)}};
}

Position position_from(const Json& json) {
  auto number = [&json](const char* key) {
    const Json& value = json.at(key);
    // Clients exist that send -1 or numbers beyond 32 bits for "the end".
    if (value.is_number_unsigned())
      return static_cast<uint32_t>(std::min<uint64_t>(value.get<uint64_t>(), UINT32_MAX));
    return static_cast<uint32_t>(std::max<int64_t>(0, value.get<int64_t>()));
  };
  return {number("line"), number("character")};
}

Range range_from(const Json& json) {
  return {position_from(json.at("start")), position_from(json.at("end"))};
}

Json Query::range(Span span) const { return range(*analysis, span); }

Json Query::range(const Analysis& in, Span span) const {
  return range_json(in.range(span, workspace.encoding));
}

Json Query::location(const Analysis& in, Span span) const {
  return {{"uri", in.uri}, {"range", range(in, span)}};
}

uint32_t Query::offset(const Json& position) const {
  return analysis->offset(position_from(position), workspace.encoding);
}

}  // namespace radl::lsp
