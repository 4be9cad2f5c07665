// Decides who may access the service: once per request, from its head only, before any handler.
//
// A token is always required, even on loopback: any user of this computer and any web page that its user
// opens can reach loopback (DNS rebinding: Host is checked; forged requests: Origin and Sec-Fetch-Site
// are checked for every method). No response has a CORS header.
//
// Requests carry a token in Authorization (the forms of im_header.h), or a session cookie. A browser
// obtains its session from a one-time link (`radlc serve --open`): GET kOpenPath?code=CODE.
//
// Browsers send a cookie to every port of its host, so another server on this computer can obtain it. Alone,
// it only permits reading. For anything else the page also sends its session's key in kPageHeader. It gets
// the key in the fragment of the redirect and keeps it in the storage of its origin.
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

// Why a request is rejected.
struct Refusal {
  int status = 401;
  std::string why;
};

class Access {
 public:
  // Reads FOLDER/token, the token of the service's own user; creates it with mode 0600 if missing. Auth:
  // other users can read it. `owner`: that user. `world` must outlive this object.
  static Result<std::unique_ptr<Access>> open(const std::string& folder, const std::string& owner,
                                              World& world);

  // Names of this service in Host: "127.0.0.1:8899". Other hosts are rejected. The port may be omitted if it
  // is 80 or 443.
  void set_hosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }
  // Sends session cookies only over TLS.
  void set_secure(bool secure) { secure_ = secure; }

  std::variant<Caller, Refusal> admit(const httpd::RequestHead& head);
  // The code of GET kOpenPath?code=CODE if it opens a session. Quick, since anyone may send such requests.
  std::variant<std::string, Refusal> opening(const httpd::RequestHead& head);
  // Exchanges the code for a session: its cookie, and a redirect to the page. The code is used up. May wait
  // for another process's lock.
  std::variant<httpd::Answer, Refusal> opened(const std::string& code);
  // The response that ends a session by expiring its cookie.
  httpd::Answer closed(const Caller& caller);

  // The caller for actions of the service's own user from the command line.
  Caller owner() const { return {.user = owner_, .scope = Scope::Admin, .token = "owner", .peer = "local"}; }
  // The user of a secret. NotFound: none.
  Result<Caller> caller_of(const std::string& secret);
  Tokens& tokens() { return tokens_; }
  const std::string& token() const { return token_; }

 private:
  Access(std::string folder, std::string owner, World& world)
      : owner_(std::move(owner)), tokens_(folder, world), cookie_(cookie_name(folder)) {}
  static std::string cookie_name(const std::string& folder);
  std::optional<Refusal> foreign(const httpd::RequestHead& head) const;
  // Derived from the session and FOLDER/token, so that a cookie alone does not reveal it.
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
