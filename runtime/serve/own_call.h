// A request of the service's own API, and the formats of responses (docs/openapi.json).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "runtime/serve/caller.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

class Workspace;

struct OwnCall {
  const httpd::RequestHead& head;
  const std::string& body;
  Caller caller;
  std::vector<std::string> path;                  // the route's parameters in braces, in order
  std::map<std::string, std::string> parameters;  // query parameters

  std::string parameter(const std::string& name) const;  // "" if not given
  // Parses the body as a JSON object. Invalid: not JSON.
  Result<Json> json() const;
};

// A member of the body, or `otherwise` if missing. Invalid: it has another type.
Result<std::string> text_in(const Json& json, const std::string& name, const std::string& otherwise = {});
Result<double> number_in(const Json& json, const std::string& name, double otherwise);
// Same; false if missing.
Result<bool> flag_in(const Json& json, const std::string& name);
// "name=value" for each member of body.inputs. Invalid: it is not an object.
Result<std::vector<std::string>> inputs_in(const Json& body);
// Auth: the caller may not compile the program. Functions of `radl 2` such as file() can read what the
// service can read, which requires the scope apply.
Status may_compile(const OwnCall& call, const std::string& program);
// Accepts digits only. Invalid: anything else.
Result<unsigned long long> whole_number(const std::string& name, const std::string& text);

httpd::Answer json_answer(const Json& json, int status = 200);
// An infrastructure in the "unreadable" of a list. `about`: what of it cannot be read; {}: its state.
Json unreadable_row(const Workspace& of, const Status& why, Json about = Json::object());
// {"error": {"code", "message", "hint"}} with the HTTP status for its code, for all paths below /api/.
httpd::Answer error_answer(const Status& status);
httpd::Answer error_answer(int http, std::string_view code, const std::string& message,
                           const std::string& hint = {});

// 429: too many processes run for the caller, or in total.
httpd::Answer too_many_processes();
// 405 with the methods supported by the path.
httpd::Answer not_allowed(const std::string& method, const std::string& allowed);

}  // namespace radl::serve
