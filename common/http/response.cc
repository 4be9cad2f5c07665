#include <string>

#include "common/http/http.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl::http {

std::string_view Response::header(std::string_view name) const {
  for (const auto& [n, v] : headers) {
    if (n == name) return v;
  }
  return {};
}

Code code_of_status(int http_status) {
  switch (http_status) {
    case 401:
    case 403:
      return Code::Auth;
    case 404:
    case 410:
      return Code::NotFound;
    case 409:
    case 412:
      return Code::Conflict;
    case 408:
    case 429:
      return Code::Retry;
    case 507:
      return Code::Quota;
    default:
      return http_status >= 500 ? Code::Retry : Code::Invalid;
  }
}

Status status_of(const Response& response, std::string_view what) {
  const int s = response.status;
  const Code code = code_of_status(s);
  std::string_view line = trim(beginning_of(response.body, 300));
  line = line.substr(0, line.find_first_of("\r\n"));
  const bool page = line.rfind("<!", 0) == 0 || line.rfind("<html", 0) == 0;
  return {code, std::string(what) + ": HTTP status " + std::to_string(s) +
                    (line.empty() || page ? "" : ": " + std::string(line))};
}

}  // namespace radl::http
