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
// The same; false if there is none.
Result<bool> flag_in(const Json& json, const std::string& name);
// "name=value" of each member of body.inputs. Invalid: it is not an object.
Result<std::vector<std::string>> inputs_in(const Json& body);
// Whether the caller may have the program compiled: functions of `radl 2` such as file() read what the
// service reads, which needs the scope apply. Auth.
Status may_compile(const OwnCall& call, const std::string& program);
// Digits alone. Invalid: anything else.
Result<unsigned long long> whole_number(const std::string& name, const std::string& text);

httpd::Answer json_answer(const Json& json, int status = 200);
// {"error": {"code", "message", "hint"}} with the status of its code: one table for all that is below /api/.
httpd::Answer error_answer(const Status& status);
httpd::Answer error_answer(int http, std::string_view code, const std::string& message,
                           const std::string& hint = {});

// 429: too many processes run for the caller, or for all.
httpd::Answer too_many_processes();
// 405, with the methods that the address supports.
httpd::Answer not_allowed(const std::string& method, const std::string& allowed);

}  // namespace radl::serve
