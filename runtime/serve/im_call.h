// One request of a client of the Infrastructure Manager, and the forms of its answers.
#pragma once

#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "runtime/serve/caller.h"
#include "runtime/serve/document.h"
#include "runtime/serve/im_header.h"
#include "runtime/serve/settings.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// An error in the form that Accept asks for.
httpd::Answer error_answer(const httpd::RequestHead& head, int status, const std::string& message);

struct ImCall {
  const httpd::RequestHead& head;
  const std::string& body;
  std::string scheme;
  std::vector<std::string> path;  // decoded parts
  std::vector<std::pair<std::string, std::string>> parameters;
  Caller caller;
  std::string accounts;  // of clouds, as the request's Authorization has them (ImAuthorization)
  Settings by;           // the caller's (Users::of())
  std::string doing;     // "Getting Inf. info", of the text of an error

  // NotFound: a path that nothing has. Invalid: a query that cannot be read.
  static Result<ImCall> read(const httpd::RequestHead& head, const std::string& body,
                             const std::string& scheme, const Caller& caller);

  Order order() const { return {by, accounts}; }
  std::string parameter(std::string_view name) const;  // ""; not given
  Result<bool> flag(std::string_view name, bool otherwise) const;
  // The body by its Content-Type. Unsupported: a type that no description has.
  Result<Document> document() const;
  std::string uri(const std::string& path) const;

  // By Accept, in the type `own` or as JSON; 415 where neither is accepted.
  httpd::Answer answer(const std::string& own, const std::string& text, const Json& json) const;
  httpd::Answer json(const Json& json) const;
  httpd::Answer uris(const std::vector<std::string>& uris) const;
  httpd::Answer empty() const { return {.type = "text/plain"}; }
  // "Error DOING: WHY".
  httpd::Answer failed(int status, const std::string& why) const;
  httpd::Answer failed(const Status& status) const;
  httpd::Answer unprocessable(const std::string& why) const;  // 422
  httpd::Answer not_found() const;
  httpd::Answer not_allowed() const;
};

}  // namespace radl::serve
