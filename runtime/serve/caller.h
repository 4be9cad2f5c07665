// The user who sends a request, and their permissions. Access::admit() determines it once per request, before
// any handler.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl::serve {

// Each scope includes the previous ones.
enum class Scope {
  Read,   // view infrastructures, runs and their logs
  Plan,   // also check programs, make plans and estimate costs
  Apply,  // also create, change and destroy the user's infrastructures
  Admin,  // also see the infrastructures of all users, and manage their tokens
};
std::string_view scope_name(Scope scope);  // "read", ...
std::optional<Scope> scope_named(std::string_view name);

struct Caller {
  std::string user;  // owner of what the request creates
  Scope scope = Scope::Read;
  std::string token;        // ID of the token, for the audit log; "owner" for FOLDER/token
  bool in_browser = false;  // authenticated by a session cookie
  bool reads_only = false;  // by a session cookie without the page's key (access.h)
  std::string peer;         // the client's IP address

  bool may(Scope needed) const { return scope >= needed && (!reads_only || needed == Scope::Read); }
  // True if the caller may see and change resources of `owner`.
  bool may_touch(std::string_view owner) const { return scope == Scope::Admin || user == owner; }
};

}  // namespace radl::serve
