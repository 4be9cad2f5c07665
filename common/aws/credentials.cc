#include "common/aws/credentials.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "common/aws/providers.h"

namespace radl::aws {
namespace {

class Fixed : public CredentialSource {
 public:
  explicit Fixed(Credentials credentials) : credentials_(std::move(credentials)) {}
  Result<Credentials> get(const Stop&) override { return credentials_; }
  void refused(const Credentials&) override {}

 private:
  const Credentials credentials_;
};

// Renewed this long before the end, or for a quarter of their life where that is shorter; used up to a minute
// before it when they cannot be.
constexpr std::time_t kRenewBefore = 10 * 60, kUseUntil = 60, kTryAgainAfter = 60;

class Renewed : public CredentialSource {
 public:
  Renewed(std::function<Result<Credentials>(const Stop&)> fetch, std::function<std::time_t()> now)
      : fetch_(std::move(fetch)), now_(std::move(now)) {}

  Result<Credentials> get(const Stop& stop) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!none_.ok()) return none_;
      if (kept_ && (fresh() || (fetching_ && usable()))) return *kept_;
      if (!fetching_) break;
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      if (Status s = stop.check(); !s.ok()) return s;
    }
    fetching_ = true;
    lock.unlock();
    auto fetched = fetch_(stop);
    lock.lock();
    fetching_ = false;
    changed_.notify_all();
    return taken(std::move(fetched));
  }

  void refused(const Credentials& credentials) override {
    std::lock_guard lock(mutex_);
    if (kept_ && kept_->access_key == credentials.access_key &&
        kept_->session_token == credentials.session_token)
      kept_.reset();
  }

 private:
  std::time_t left() const { return *kept_->expires - now_(); }
  bool usable() const { return !kept_->expires || left() > kUseUntil; }
  bool fresh() const { return !kept_->expires || now_() < renew_at_; }

  Result<Credentials> taken(Result<Credentials> fetched) {
    if (fetched.ok() && fetched->expires && *fetched->expires <= now_())
      fetched =
          Status(Code::Auth, fetched->origin + ": the credentials have expired")
              .with_hint(
                  "Get new ones (for SSO: `aws sso login`), or correct this computer's clock, which shows " +
                  utc_text(now_()) + ".");
    if (fetched.ok()) {
      kept_ = *fetched;
      if (kept_->expires) renew_at_ = *kept_->expires - std::min<std::time_t>(kRenewBefore, left() / 4);
      return fetched;
    }
    // Nowhere to be found: that stays so. Anything else may pass.
    if (fetched.status().code() == Code::NotFound && !kept_) none_ = fetched.status();
    if (!kept_ || !usable()) return fetched;
    renew_at_ = now_() + kTryAgainAfter;
    return *kept_;
  }

  const std::function<Result<Credentials>(const Stop&)> fetch_;
  const std::function<std::time_t()> now_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool fetching_ = false;
  std::optional<Credentials> kept_;
  std::time_t renew_at_ = 0;
  Status none_;
};

Result<Credentials> first_of_chain(const Asking& asking) {
  using Provider = Result<Credentials> (*)(const Asking&);
  const Provider providers[] = {
      environment_credentials,
      // A role of the profile counts before web identity in the environment, and that before its other keys.
      [](const Asking& a) {
        const Section* section = a.configuration.config_profile(a.configuration.profile());
        const bool role = section && section->has("role_arn") && !section->has("web_identity_token_file");
        return role ? profile_credentials(a, a.configuration.profile())
                    : Result<Credentials>(not_found("no role"));
      },
      web_identity_environment,
      [](const Asking& a) { return profile_credentials(a, a.configuration.profile()); },
      container_credentials,
      instance_credentials,
  };
  for (Provider provider : providers) {
    auto found = provider(asking);
    if (found.ok() || found.status().code() != Code::NotFound) return found;
    if (Status s = asking.stop.check(); !s.ok()) return s;
  }
  return Status(Code::NotFound, "no AWS credentials found in the environment, in profile \"" +
                                    asking.configuration.profile() +
                                    "\", in a container or on an EC2 instance")
      .with_hint("Run `aws configure`, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
}

}  // namespace

bool credentials_configured(const Configuration& configuration) {
  for (const char* variable :
       {"AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI"})
    if (!configuration.environment(variable).empty()) return true;
  const std::string& profile = configuration.profile();
  for (const Section* section :
       {configuration.config_profile(profile), configuration.credentials_profile(profile)}) {
    if (section == nullptr) continue;
    for (const char* name :
         {"aws_access_key_id", "role_arn", "sso_session", "sso_start_url", "credential_process"})
      if (section->has(name)) return true;
  }
  return false;
}

std::shared_ptr<CredentialSource> fixed_credentials(Credentials credentials) {
  return std::make_shared<Fixed>(std::move(credentials));
}

std::shared_ptr<CredentialSource> renewed_credentials(std::function<Result<Credentials>(const Stop&)> fetch,
                                                      std::function<std::time_t()> now) {
  return std::make_shared<Renewed>(std::move(fetch), std::move(now));
}

std::shared_ptr<CredentialSource> default_credentials(http::Client& http,
                                                      std::shared_ptr<const Configuration> configuration) {
  return renewed_credentials([&http, configuration](const Stop& stop) {
    return first_of_chain({http, *configuration, stop});
  });
}

}  // namespace radl::aws
