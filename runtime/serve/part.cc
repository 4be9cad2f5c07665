#include "runtime/serve/part.h"

#include <optional>

#include "runtime/serve/im_call.h"
#include "runtime/serve/own_call.h"

namespace radl::serve {
namespace {

struct Whole : httpd::Exchange {
  Whole(const httpd::RequestHead& h, size_t m, std::function<httpd::Answer(const std::string&)> a)
      : head(h), most(m), answer(std::move(a)) {}
  std::optional<httpd::Answer> receive(std::string_view part) override {
    if (body.size() + part.size() > most) return refusal(head, 413, "The body is too large.");
    body += part;
    return {};
  }
  httpd::Answer finish() override { return answer(body); }

  const httpd::RequestHead head;
  const size_t most;
  const std::function<httpd::Answer(const std::string&)> answer;
  std::string body;
};

std::string_view code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return code_name(Code::Auth);
    case 404:
      return code_name(Code::NotFound);
    case 429:
    case 503:
      return code_name(Code::Retry);
    case 500:
      return code_name(Code::Internal);
    default:
      return code_name(Code::Invalid);
  }
}

}  // namespace

httpd::Answer refusal(const httpd::RequestHead& head, int status, const std::string& why,
                      const std::string& hint) {
  if (head.path.starts_with("/api/")) return error_answer(status, code_of(status), why, hint);
  return error_answer(head, status, why);
}

Begun with_body(const httpd::RequestHead& head, size_t most,
                std::function<httpd::Answer(const std::string& body)> answer) {
  if (head.length().value_or(0) > most) return refusal(head, 413, "The body is too large.");
  return std::make_unique<Whole>(head, most, std::move(answer));
}

}  // namespace radl::serve
