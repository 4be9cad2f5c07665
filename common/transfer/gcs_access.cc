// Google Cloud Storage's credentials and endpoints, and signed URLs.
#include <fmt/format.h>

#include <ctime>

#include "common/digest.h"
#include "common/google/session.h"
#include "common/jwt.h"
#include "common/transfer/gcs.h"
#include "common/utc.h"

namespace radl::transfer {
namespace {

class GoogleTokens : public TokenSource {
 public:
  GoogleTokens(http::Client& http, google::Settings settings) : session_(http, std::move(settings)) {}
  Result<std::string> token(const Stop& stop) override {
    auto made = session_.token(stop);
    if (!made.ok()) return made.status();
    std::lock_guard lock(mutex_);
    last_ = *made;
    return last_->value;
  }
  void refused(const std::string& token) override {
    std::lock_guard lock(mutex_);
    if (last_ && last_->value == token) session_.refused(last_);
  }

 private:
  google::Session session_;
  std::mutex mutex_;
  std::shared_ptr<const google::Token> last_;
};

Result<std::string> base_of(const std::string& name, std::string text) {
  if (text.find("://") == text.npos) text = "http://" + text;
  while (text.ends_with('/')) text.pop_back();
  if (text.ends_with("/storage/v1")) text.resize(text.size() - std::string_view("/storage/v1").size());
  if (auto url = http::parse_http_url(text, name); !url.ok()) return url.status();
  return text;
}

}  // namespace

Result<GcsOptions> gcs_options(http::Client& http, const Lookup& environment) {
  GcsOptions options;
  if (const std::string emulator = environment("STORAGE_EMULATOR_HOST"); !emulator.empty()) {
    auto base = base_of("STORAGE_EMULATOR_HOST", emulator);
    if (!base.ok()) return base.status();
    options.endpoint = *base;
    // An emulator needs no credentials, but a configured key can sign URLs.
    if (!environment("GOOGLE_APPLICATION_CREDENTIALS").empty()) {
      auto settings = google::load_settings(environment);
      if (settings.ok()) options.signer = settings->credential;
    }
    return options;
  }
  if (const std::string other = environment("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"); !other.empty()) {
    auto base = base_of("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", other);
    if (!base.ok()) return base.status();
    options.endpoint = *base;
  }
  options.billed_project = environment("GOOGLE_CLOUD_QUOTA_PROJECT");
  auto settings = google::load_settings(environment);
  if (!settings.ok() && settings.status().code() != Code::NotFound) return settings.status();
  if (!settings.ok()) return options;
  options.signer = settings->credential;
  options.tokens = std::make_shared<GoogleTokens>(http, std::move(*settings));
  return options;
}

Result<std::string> gcs_signed_query(const google::Credential& signer, const std::string& method,
                                     const std::string& host, const std::string& path, int seconds,
                                     std::time_t now) {
  if (signer.kind != google::Credential::Kind::ServiceAccount)
    return Status(Code::Auth, "signing URLs of Google Cloud Storage needs a service account's key")
        .with_hint("Set GOOGLE_APPLICATION_CREDENTIALS to a service account's key file.");
  const std::string date = utc_text(now, "%Y%m%d"), time = utc_text(now, "%Y%m%dT%H%M%SZ");
  const std::string scope = date + "/auto/storage/goog4_request";
  const std::string query = http::query_string({{"X-Goog-Algorithm", "GOOG4-RSA-SHA256"},
                                                {"X-Goog-Credential", signer.account + "/" + scope},
                                                {"X-Goog-Date", time},
                                                {"X-Goog-Expires", std::to_string(seconds)},
                                                {"X-Goog-SignedHeaders", "host"}});
  const std::string canonical =
      fmt::format("{}\n{}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD", method, path, query, host);
  auto signature = sign_rs256(signer.private_key,
                              fmt::format("GOOG4-RSA-SHA256\n{}\n{}\n{}", time, scope, sha256_hex(canonical)),
                              signer.origin + ": private_key");
  if (!signature.ok()) return signature.status();
  return query + "&X-Goog-Signature=" + to_hex(*signature);
}

Result<std::string> Gcs::presign(const std::string& method, const std::string& key, int seconds,
                                 const Stop&) {
  if (seconds < 1 || seconds > kLongestSignedUrl)
    return invalid("a signed URL must be valid for 1 second to 7 days, not " + std::to_string(seconds) +
                   " s");
  auto url = http::parse_url(options_.endpoint);
  if (!url.ok()) return url.status();
  const std::string path = "/" + http::percent_encode(bucket_) + "/" + http::percent_encode(key, true);
  auto query = gcs_signed_query(options_.signer, method, url->authority(), path, seconds, std::time(nullptr));
  if (!query.ok()) return std::move(query).status().at(address(key));
  return options_.endpoint + path + "?" + *query;
}

}  // namespace radl::transfer
