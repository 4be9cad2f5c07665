#include <string>

#include "common/http/http.h"
#include "common/text.h"

namespace radl::http {

std::string_view Response::header(std::string_view name) const {
  for (const auto& [n, v] : headers) {
    if (n == name) return v;
  }
  return {};
}

Status status_of(const Response& response, std::string_view what) {
  Code code = Code::Invalid;
  const int s = response.status;
  if (s == 401 || s == 403)
    code = Code::Auth;
  else if (s == 404 || s == 410)
    code = Code::NotFound;
  else if (s == 409 || s == 412)
    code = Code::Conflict;
  else if (s == 507)
    code = Code::Quota;
  else if (s == 429 || s >= 500 || s == 408)
    code = Code::Retry;
  std::string_view line = trim(std::string_view(response.body).substr(0, 300));
  line = line.substr(0, line.find_first_of("\r\n"));
  const bool page = line.rfind("<!", 0) == 0 || line.rfind("<html", 0) == 0;
  return {code, std::string(what) + ": HTTP status " + std::to_string(s) +
                    (line.empty() || page ? "" : ": " + std::string(line))};
}

}  // namespace radl::http
