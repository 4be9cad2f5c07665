#include "common/http/answer.h"

#include "common/shorten.h"
#include "common/text.h"

namespace radl::http {

std::string one_line(std::string_view text) {
  std::string line = shorten(trim(text), 600);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

Failure no_answer(Status status, bool may_have_arrived) {
  Failure failure;
  failure.kind = Failure::Kind::NotSent;
  // Without a token nothing was ever sent.
  if (status.code() == Code::Lost || (may_have_arrived && status.code() != Code::Auth))
    failure.kind = Failure::Kind::Unknown;
  failure.status = std::move(status);
  return failure;
}

Failure::Kind kind_of_status(int http_status, bool throttled) {
  if (throttled) return Failure::Kind::Throttled;
  const bool refused = http_status >= 400 && http_status < 500 && http_status != 408;
  return refused ? Failure::Kind::Refused : Failure::Kind::Unknown;
}

}  // namespace radl::http
