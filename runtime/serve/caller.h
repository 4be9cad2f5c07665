// The user who sends a request, and what they may do. Access::admit() decides it once for each request,
// before any handler sees it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl::serve {

// Each scope includes those before it.
enum class Scope {
  Read,   // look at infrastructures, runs and their logs
  Plan,   // and check programs, make plans and estimate costs
  Apply,  // and create, change and destroy infrastructures of the user
  Admin,  // and see the infrastructures of all users, and manage their tokens
};
std::string_view scope_name(Scope scope);  // "read", ...
std::optional<Scope> scope_named(std::string_view name);

struct Caller {
  std::string user;  // owns what the request creates
  Scope scope = Scope::Read;
  std::string token;        // the id of the token, for the audit log; "owner" for FOLDER/token
  bool in_browser = false;  // by a session cookie
  bool reads_only = false;  // by a session cookie without the key of the page (access.h)
  std::string peer;         // the client's IP address

  bool may(Scope needed) const { return scope >= needed && (!reads_only || needed == Scope::Read); }
  // Whether the caller may see and change what `owner` has.
  bool may_touch(std::string_view owner) const { return scope == Scope::Admin || user == owner; }
};

}  // namespace radl::serve
