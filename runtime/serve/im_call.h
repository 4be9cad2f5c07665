// A request of an Infrastructure Manager client, and the formats of responses.
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

// An error in the format requested by Accept.
httpd::Answer error_answer(const httpd::RequestHead& head, int status, const std::string& message);

struct ImCall {
  const httpd::RequestHead& head;
  std::string_view body;  // without the byte order mark of an editor
  std::string scheme;
  std::string method;             // of HEAD: "GET", since the server sends no body for it
  std::vector<std::string> path;  // decoded parts
  std::vector<std::pair<std::string, std::string>> parameters;
  Caller caller;
  std::string accounts;  // cloud accounts from the request's Authorization (ImAuthorization)
  Settings by;           // the caller's settings (Users::of())
  std::string doing;     // "Getting Inf. info", for error texts

  // NotFound: unknown path. Invalid: malformed query.
  static Result<ImCall> read(const httpd::RequestHead& head, const std::string& body,
                             const std::string& scheme, const Caller& caller);

  Order order() const { return {by, accounts}; }
  std::string parameter(std::string_view name) const;  // "" if not given
  Result<bool> flag(std::string_view name, bool otherwise) const;
  // Parses the body by its Content-Type. Unsupported: an unknown type.
  Result<Document> document() const;
  std::string uri(const std::string& path) const;

  // By Accept, as type `own` or JSON; 415 if neither is accepted.
  httpd::Answer answer(const std::string& own, const std::string& text, const Json& json) const;
  httpd::Answer json(const Json& json) const;
  httpd::Answer uris(const std::vector<std::string>& uris) const;
  httpd::Answer empty() const { return {.type = "text/plain"}; }
  // "Error DOING: WHY".
  httpd::Answer failed(int status, const std::string& why) const;
  httpd::Answer failed(const Status& status) const;
  httpd::Answer unparsable(const Status& status) const;       // of document()
  httpd::Answer unprocessable(const std::string& why) const;  // 422
  httpd::Answer not_found() const;
  httpd::Answer not_allowed(const std::string& allowed) const;  // 405
};

}  // namespace radl::serve
