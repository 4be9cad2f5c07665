// Who may speak to the service: decided once for each request, from its head alone, before any handler.
//
// A token is always required, on loopback as well: any user of this computer and any web page that its user
// opens reaches loopback (DNS rebinding: Host is checked; forged requests: Origin and Sec-Fetch-Site are,
// with every method). No answer has a CORS header.
//
// Requests carry a token in Authorization (the forms of im_header.h), or the cookie of a session. A browser
// gets its session by a one-time link (`radlc serve --open`): GET kOpenPath?code=CODE.
//
// Browsers send a cookie to every port of its host, so another server on this computer can obtain it. Alone,
// it only reads. For anything else the page also sends the key of its session in the header kPageHeader. The
// page gets the key in the fragment of the redirect and keeps it in the storage of its origin.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/http_server/server.h"
#include "common/status.h"
#include "runtime/base/world.h"
#include "runtime/serve/caller.h"
#include "runtime/serve/tokens.h"

namespace radl::serve {

inline constexpr std::string_view kOpenPath = "/open";
inline constexpr std::string_view kPageHeader = "x-radlc-page";
inline constexpr std::string_view kPagePath = "/ui/";  // where a session begins

// Why a request is not admitted.
struct Refusal {
  int status = 401;
  std::string why;
};

class Access {
 public:
  // Reads FOLDER/token, the token of the service's own user; creates it with mode 0600 if it does not exist.
  // Auth: other users can read it. `owner`: that user. `world` outlives it.
  static Result<std::unique_ptr<Access>> open(const std::string& folder, const std::string& owner,
                                              World& world);

  // Names of this service in Host: "127.0.0.1:8899". Requests with any other are refused. A name's port may
  // be left out if it is 80 or 443.
  void set_hosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }
  // Sessions are only sent over TLS.
  void set_secure(bool secure) { secure_ = secure; }

  std::variant<Caller, Refusal> admit(const httpd::RequestHead& head);
  // The code of GET kOpenPath?code=CODE if it opens a session. Quick: anybody may send such a request.
  std::variant<std::string, Refusal> opening(const httpd::RequestHead& head);
  // A session for that code, which is used up: its cookie, and a redirect to the page. May wait for another
  // process's turn.
  std::variant<httpd::Answer, Refusal> opened(const std::string& code);
  // The answer that ends a session: its cookie expires.
  httpd::Answer closed(const Caller& caller);

  // The caller as whom the service's own user acts, for the command line.
  Caller owner() const { return {.user = owner_, .scope = Scope::Admin, .token = "owner", .peer = "local"}; }
  // The user whom a secret belongs to. NotFound: nobody.
  Result<Caller> caller_of(const std::string& secret);
  Tokens& tokens() { return tokens_; }
  const std::string& token() const { return token_; }

 private:
  Access(std::string folder, std::string owner, World& world)
      : owner_(std::move(owner)), tokens_(folder, world), cookie_(cookie_name(folder)) {}
  static std::string cookie_name(const std::string& folder);
  std::optional<Refusal> foreign(const httpd::RequestHead& head) const;
  // Derived from the session and FOLDER/token: a cookie alone does not give it away.
  std::string page_key(const std::string& session) const;
  std::string cookie() const { return (secure_ ? "__Host-" : "") + cookie_; }
  std::optional<std::string> session_in(const httpd::RequestHead& head) const;

  const std::string owner_;
  Tokens tokens_;
  const std::string cookie_;
  std::string token_;
  std::vector<std::string> hosts_;
  bool secure_ = false;
};

}  // namespace radl::serve
