// One request of the own API, and the forms of its answers (docs/openapi.json).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "runtime/serve/caller.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

struct OwnCall {
  const httpd::RequestHead& head;
  const std::string& body;
  Caller caller;
  std::vector<std::string> path;                  // the parts that are braced in the route, in their order
  std::map<std::string, std::string> parameters;  // of the query

  std::string parameter(const std::string& name) const;  // "": not given
  // The body as an object; Invalid: it is not JSON.
  Result<Json> json() const;
};

// Of a body: the member, or `otherwise` if there is none. Invalid: it is of another type.
Result<std::string> text_in(const Json& json, const std::string& name, const std::string& otherwise = {});
Result<double> number_in(const Json& json, const std::string& name, double otherwise);
// Digits alone. Invalid: anything else.
Result<unsigned long long> whole_number(const std::string& name, const std::string& text);

httpd::Answer json_answer(const Json& json, int status = 200);
// {"error": {"code", "message", "hint"}} with the status of its code.
httpd::Answer error_answer(const Status& status);
httpd::Answer error_answer(int http, std::string_view code, const std::string& message,
                           const std::string& hint = {});

}  // namespace radl::serve
