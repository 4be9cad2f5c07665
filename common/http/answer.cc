#include "common/http/answer.h"

#include "common/text.h"

namespace radl::http {

std::string one_line(std::string_view text) {
  std::string line(trim(text.substr(0, 600)));
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
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
      return Code::Conflict;
    case 408:
    case 412:
    case 429:
      return Code::Retry;
    default:
      return http_status >= 500 ? Code::Retry : Code::Invalid;
  }
}

}  // namespace radl::http
