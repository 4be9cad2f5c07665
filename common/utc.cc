#include "common/utc.h"

namespace radl {

std::string utc_text(std::time_t time, const char* format) {
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

std::optional<std::time_t> parse_utc(const std::string& text, const char* format, const char** rest) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), format, &parts);
  if (end == nullptr) return std::nullopt;
  if (rest != nullptr) *rest = end;
  return ::timegm(&parts);
}

}  // namespace radl
