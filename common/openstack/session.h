// A Keystone login that is renewed when it expires, and its service catalogue.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/http/http.h"
#include "common/http/rate.h"
#include "common/openstack/identity.h"
#include "common/openstack/settings.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::openstack {

// Thread-safe. Concurrent callers share one token request.
class Session {
 public:
  Session(http::Client& http, Settings settings);

  // Returns a token that stays valid for some minutes. Auth: credentials are refused or incomplete, or an
  // access token has expired that only its owner can renew. Errors never contain a secret.
  Result<std::shared_ptr<const Token>> token(const Stop& stop);
  // Reports that a service refused this token (401). The next call requests another.
  void refused(const std::shared_ptr<const Token>& token);

  // The endpoint of a service by its type ("compute") or a former name of it, in the settings' region and
  // interface. NotFound: the catalogue lacks it; the error lists what it has.
  Result<std::string> endpoint(const std::string& type, const Stop& stop);

  const Settings& settings() const { return settings_; }
  // Shared by all services of the cloud.
  const std::shared_ptr<http::Rate>& rate() const { return rate_; }
  http::Client& http() const { return http_; }

 private:
  Status look_up_site(const Stop& stop);
  Result<Token> log_in(const Stop& stop);
  Result<Token> ask(const std::string& url, const std::string& body, const http::Headers& headers,
                    const Stop& stop) const;

  http::Client& http_;
  Settings settings_;
  const std::shared_ptr<http::Rate> rate_;
  std::mutex mutex_;
  bool site_known_ = false;
  std::shared_ptr<const Token> token_;
};

// Of a catalogue; `types`: the names that the service may have, the first that is there counts.
// Auth: who they are for belongs to no project.
Status no_project(const Settings& settings);
Result<std::string> endpoint_in(const Token& token, const Settings& settings,
                                const std::vector<std::string>& types);

}  // namespace radl::openstack
