// Swift's credentials and endpoints, and temporary URLs.
#include <fmt/format.h>

#include <ctime>

#include "common/digest.h"
#include "common/openstack/session.h"
#include "common/transfer/swift.h"
#include "common/user_text.h"

namespace radl::transfer {
namespace {

class KeystoneAccess : public SwiftAccess {
 public:
  KeystoneAccess(http::Client& http, openstack::Settings settings) : session_(http, std::move(settings)) {}
  Result<Account> account(const Stop& stop) override {
    auto token = session_.token(stop);
    if (!token.ok()) return token.status();
    auto url = session_.endpoint("object-store", stop);
    if (!url.ok()) return url.status();
    std::lock_guard lock(mutex_);
    last_ = *token;
    return Account{*url, last_->id};
  }
  void refused(const std::string& token) override {
    std::lock_guard lock(mutex_);
    if (last_ && last_->id == token) session_.refused(last_);
  }

 private:
  openstack::Session session_;
  std::mutex mutex_;
  std::shared_ptr<const openstack::Token> last_;
};

class LoginAccess : public SwiftAccess {
 public:
  LoginAccess(http::Client& http, std::string url, std::string user, std::string key)
      : http_(http), url_(std::move(url)), user_(std::move(user)), key_(std::move(key)) {}
  Result<Account> account(const Stop& stop) override {
    std::lock_guard lock(mutex_);
    if (!account_.token.empty()) return account_;
    http::Request request;
    request.url = url_;
    request.headers = {{"X-Auth-User", user_}, {"X-Auth-Key", key_}};
    request.follow_redirects = false;
    request.user_agent = "radlc (store)";
    request.stop = stop;
    auto answer = http_.send(request, http::Retries{});
    if (!answer.ok()) return answer.status();
    const std::string what = "ST_AUTH (" + http::printable_url(url_) + ")";
    if (!answer->ok())
      return answer->status == 401 || answer->status == 403
                 ? Status(Code::Auth, what + " rejects the login").with_hint("Check ST_USER and ST_KEY.")
                 : http::status_of(*answer, what);
    Account made{std::string(answer->header("x-storage-url")), std::string(answer->header("x-auth-token"))};
    if (made.url.empty() || made.token.empty())
      return Status(Code::Invalid, what + " is not a Swift version 1 login");
    return account_ = made;
  }
  void refused(const std::string& token) override {
    std::lock_guard lock(mutex_);
    if (account_.token == token) account_ = {};
  }

 private:
  http::Client& http_;
  const std::string url_, user_, key_;
  std::mutex mutex_;
  Account account_;
};

}  // namespace

Result<SwiftOptions> swift_options(http::Client& http, const Lookup& environment) {
  SwiftOptions options;
  if (const std::string url = environment("ST_AUTH"); !url.empty()) {
    if (auto parsed = http::parse_http_url(url, "ST_AUTH"); !parsed.ok()) return parsed.status();
    if (environment("ST_USER").empty() || environment("ST_KEY").empty())
      return Status(Code::Auth, "ST_AUTH is set, but ST_USER or ST_KEY is not");
    for (const char* name : {"ST_USER", "ST_KEY"})
      if (Status plain = check_one_line(name, environment(name)); !plain.ok()) return plain;
    options.access = std::make_shared<LoginAccess>(http, url, environment("ST_USER"), environment("ST_KEY"));
    return options;
  }
  auto configuration = openstack::Configuration::load(environment);
  if (!configuration.ok()) return configuration.status();
  auto settings = (*configuration)->cloud("");
  if (!settings.ok()) return settings.status();
  options.ca_file = settings->ca_file;
  options.access = std::make_shared<KeystoneAccess>(http, std::move(*settings));
  return options;
}

// The container's key, else the account's. Swift shows them only to their owner.
Result<std::string> Swift::url_key(const Stop& stop) {
  auto container = url(container_, "", stop);
  if (!container.ok()) return container.status();
  auto account = options_.access->account(stop);
  if (!account.ok()) return account.status();
  const std::pair<std::string, const char*> kept[] = {{*container, "x-container-meta-temp-url-key"},
                                                      {account->url, "x-account-meta-temp-url-key"}};
  for (const auto& [where, name] : kept) {
    auto head = call({.method = "HEAD", .url = where, .stop = stop});
    if (!head.ok()) return head.status();
    if (head->status == 404) return error(*head, "");
    if (const std::string key(head->header(name)); head->ok() && !key.empty()) return key;
  }
  return Status(Code::Auth,
                address("") + ": neither the container nor the account has a key for temporary URLs")
      .with_hint(fmt::format("Run `openstack container set --property Temp-URL-Key=SECRET {}`.", container_));
}

Result<std::string> Swift::presign(const std::string& method, const std::string& key, int seconds,
                                   const Stop& stop) {
  if (seconds < 1 || seconds > kLongestSignedUrl)
    return invalid("a temporary URL must be valid for 1 second to 7 days, not " + std::to_string(seconds) +
                   " s");
  auto signing = url_key(stop);
  if (!signing.ok()) return signing.status();
  auto where = object_url(key, stop);
  if (!where.ok()) return where.status();
  auto parts = http::parse_url(*where);
  if (!parts.ok()) return parts.status();
  auto path = http::percent_decode(parts->path);
  if (!path.ok()) return path.status();
  const std::string expires = std::to_string(std::time(nullptr) + seconds);
  const std::string signature = to_hex(hmac_sha256(*signing, method + "\n" + expires + "\n" + *path));
  return *where + "?temp_url_sig=" + signature + "&temp_url_expires=" + expires;
}

}  // namespace radl::transfer
