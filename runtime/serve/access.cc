#include "runtime/serve/access.h"

#include <openssl/crypto.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"
#include "runtime/serve/im_header.h"

namespace radl::serve {
namespace {

constexpr double kSessionSeconds = 7 * 24 * 3600;

// Browsers leave the default port of a scheme out.
std::string without_default_port(const std::string& authority) {
  for (const std::string_view port : {":443", ":80"})
    if (authority.ends_with(port)) return authority.substr(0, authority.size() - port.size());
  return authority;
}

Refusal refused_link(const Status& why) {
  return {401, why.code() == Code::NotFound
                   ? "This link was used already, or has expired. Run `radlc serve --open` again."
                   : why.message()};
}

bool is_safe(const std::string& method) { return method == "GET" || method == "HEAD"; }

}  // namespace

Result<std::unique_ptr<Access>> Access::open(const std::string& folder, const std::string& owner,
                                             World& world) {
  const std::string path = folder + "/token";
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0)
    return Status(Code::Auth, path + ": other users can read the token")
        .with_hint("remove the file; it is made again");
  auto text = read_file(path, 4096);
  std::unique_ptr<Access> access(new Access(folder, owner, world));
  if (text.ok()) {
    access->token_ = trim(*text);
    if (access->token_.size() >= 32) return access;
    return Status(Code::Corrupt, path + ": not a token").with_hint("remove the file; it is made again");
  }
  if (text.status().code() != Code::NotFound) return text.status();
  access->token_ = random_token(world.random) + random_token(world.random);
  if (Status saved = write_file_atomic(path, access->token_ + "\n", 0600); !saved.ok()) return saved;
  return access;
}

// Browsers send a cookie to every port of a host: two services on one computer must not take each other's.
std::string Access::cookie_name(const std::string& folder) {
  return "radlc_" + sha256_hex(folder).substr(0, 8);
}

std::optional<Refusal> Access::foreign(const httpd::RequestHead& head) const {
  const std::string host = without_default_port(std::string(head.header("host").value_or("")));
  if (std::ranges::find(hosts_, host, without_default_port) == hosts_.end())
    return Refusal{403, "Host is not an address of this service"};
  const auto site = head.header("sec-fetch-site");
  if (site && *site != "same-origin" && *site != "none")
    return Refusal{403, "requests of other sites are refused"};
  const auto origin = head.header("origin");
  if (origin && *origin != "http://" + host && *origin != "https://" + host)
    return Refusal{403, "requests of other origins are refused"};
  return {};
}

std::string Access::page_key(const std::string& session) const {
  return to_hex(hmac_sha256(token_, "page of " + session));
}

std::optional<std::string> Access::session_in(const httpd::RequestHead& head) const {
  for (const auto& [name, value] : head.headers) {
    if (name != "cookie") continue;
    for (const std::string_view part : split(value, ';')) {
      const std::string_view pair = trim(part);
      const size_t equals = pair.find('=');
      if (equals != pair.npos && pair.substr(0, equals) == cookie())
        return std::string(pair.substr(equals + 1));
    }
  }
  return {};
}

Result<Caller> Access::caller_of(const std::string& secret) {
  const std::string a = sha256_hex(secret), b = sha256_hex(token_);
  if (CRYPTO_memcmp(a.data(), b.data(), b.size()) == 0) return owner();
  auto token = tokens_.find(secret);
  if (!token.ok()) return token.status();
  return Caller{.user = token->user,
                .scope = token->scope,
                .token = token->id,
                .in_browser = token->kind == Token::Kind::Session,
                .peer = {}};
}

std::variant<Caller, Refusal> Access::admit(const httpd::RequestHead& head) {
  if (auto refused = foreign(head)) return *refused;
  std::string secret;
  const auto header = head.header("authorization");
  const auto session = session_in(head);
  if (header) {
    auto sent = read_authorization(*header);
    if (!sent.ok()) return Refusal{401, sent.status().message()};
    if (*sent) secret = (*sent)->secret;
  } else if (session) {
    // A cookie comes along with requests that a page of another origin makes. Browsers name the origin of
    // everything that changes something; what does not say it is none of the page's requests.
    if (!is_safe(head.method) && !head.header("origin") && !head.header("sec-fetch-site"))
      return Refusal{403, "a request with a session must name its origin"};
    secret = *session;
  } else {
    return Refusal{401, "No authentication data provided"};
  }
  auto caller = caller_of(secret);
  const bool right_way = caller.ok() && caller->in_browser == !header;
  if (secret.empty() || !right_way) {
    if (!caller.ok() && caller.status().code() != Code::NotFound)
      return Refusal{500, caller.status().message()};
    return Refusal{401, "Invalid InfrastructureManager credentials"};
  }
  if (caller->in_browser && !equal_secret(head.header(kPageHeader).value_or(""), page_key(secret))) {
    caller->reads_only = true;
    if (!is_safe(head.method))
      return Refusal{403, "This browser has lost the key of its session. Run `radlc serve --open` again."};
  }
  caller->peer = head.peer;
  return *caller;
}

std::variant<std::string, Refusal> Access::opening(const httpd::RequestHead& head) {
  if (auto refused = foreign(head)) return *refused;
  if (head.method != "GET") return Refusal{405, "Method Not Allowed"};
  auto parameters = head.parameters();
  if (!parameters.ok()) return Refusal{401, parameters.status().message()};
  std::string code;
  for (const auto& [name, value] : *parameters)
    if (name == "code") code = value;
  if (Status known = tokens_.check_link(code); !known.ok()) return refused_link(known);
  return code;
}

std::variant<httpd::Answer, Refusal> Access::opened(const std::string& code) {
  auto session = tokens_.exchange(code, kSessionSeconds);
  if (!session.ok()) return refused_link(session.status());
  httpd::Answer answer{.status = 303, .body = {}, .type = "text/plain"};
  answer.headers.emplace_back("Location", std::string(kPagePath) + "#key=" + page_key(session->secret));
  answer.headers.emplace_back(
      "Set-Cookie", cookie() + "=" + session->secret + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                        std::to_string(long(kSessionSeconds)) + (secure_ ? "; Secure" : ""));
  answer.headers.emplace_back("Referrer-Policy", "no-referrer");
  return answer;
}

httpd::Answer Access::closed(const Caller& caller) {
  if (caller.in_browser) (void)tokens_.revoke(caller, caller.token);
  httpd::Answer answer{.status = 204, .body = {}, .type = "text/plain"};
  answer.headers.emplace_back("Set-Cookie", cookie() + "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0" +
                                                (secure_ ? "; Secure" : ""));
  return answer;
}

}  // namespace radl::serve
