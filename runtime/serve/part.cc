#include "runtime/serve/part.h"

#include <optional>

#include "runtime/serve/im_call.h"

namespace radl::serve {
namespace {

struct Whole : httpd::Exchange {
  Whole(const httpd::RequestHead& h, size_t m, std::function<httpd::Answer(const std::string&)> a)
      : head(h), most(m), answer(std::move(a)) {}
  std::optional<httpd::Answer> receive(std::string_view part) override {
    if (body.size() + part.size() > most) return error_answer(head, 413, "The body is too large.");
    body += part;
    return {};
  }
  httpd::Answer finish() override { return answer(body); }

  const httpd::RequestHead head;
  const size_t most;
  const std::function<httpd::Answer(const std::string&)> answer;
  std::string body;
};

}  // namespace

Begun with_body(const httpd::RequestHead& head, size_t most,
                std::function<httpd::Answer(const std::string& body)> answer) {
  if (head.length().value_or(0) > most) return error_answer(head, 413, "The body is too large.");
  return std::make_unique<Whole>(head, most, std::move(answer));
}

}  // namespace radl::serve
