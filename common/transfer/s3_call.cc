// One request to S3: its address, its signature, and its corrections and retries.
#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "common/digest.h"
#include "common/http/retry.h"
#include "common/text.h"
#include "common/transfer/answers.h"
#include "common/transfer/s3.h"

namespace radl::transfer {
namespace {

// Bucket naming rules: whether the name works as a host name and (without dots) with Amazon's certificate.
bool is_host_label(const std::string& bucket) {
  return bucket.size() >= 3 && bucket.size() <= 63 && bucket.front() != '-' && bucket.back() != '-' &&
         std::all_of(bucket.begin(), bucket.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_bucket_name(const std::string& bucket) {
  return !bucket.empty() && bucket.size() <= 255 && bucket != "." && bucket != ".." &&
         bucket.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
             std::string::npos;
}

bool is_expiry(const std::string& code) {
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "ExpiredTokenException";
}
bool is_skew(const std::string& code) {
  return code == "RequestTimeTooSkewed" || code == "RequestExpired" || code == "SignatureDoesNotMatch";
}

// "eu-west-1" of "bucket.s3.eu-west-1.amazonaws.com", "s3-eu-west-1.amazonaws.com" and URLs of them; "" where
// no region is named. Source: Amazon S3 User Guide, "Making requests", "Request redirection".
std::string region_in(std::string_view place) {
  if (const size_t scheme = place.find("://"); scheme != place.npos) place.remove_prefix(scheme + 3);
  const std::string host(place.substr(0, place.find_first_of(":/")));
  const std::vector<std::string_view> labels = split(host, '.');
  for (size_t i = 0; i + 1 < labels.size(); ++i) {
    std::string_view named = labels[i] == "s3" ? labels[i + 1] : labels[i];
    if (labels[i] == "s3" && named == "dualstack" && i + 2 < labels.size()) named = labels[i + 2];
    if (labels[i] != "s3" && !named.starts_with("s3-")) continue;
    if (labels[i] != "s3") named.remove_prefix(3);
    const std::string region(named);
    if (aws::is_region_name(region) && region.find('-') != region.npos &&
        std::isdigit(static_cast<unsigned char>(region.back())))
      return region;
  }
  return "";
}

// Public buckets need no keys.
class OrAnonymous : public aws::CredentialSource {
 public:
  explicit OrAnonymous(std::shared_ptr<aws::CredentialSource> chain) : chain_(std::move(chain)) {}
  Result<aws::Credentials> get(const Stop& stop) override {
    auto keys = chain_->get(stop);
    if (!keys.ok() && keys.status().code() == Code::NotFound) return aws::Credentials{};
    return keys;
  }
  void refused(const aws::Credentials& credentials) override { chain_->refused(credentials); }

 private:
  const std::shared_ptr<aws::CredentialSource> chain_;
};

std::string user_agent() { return "radlc (s3)"; }

}  // namespace

Result<S3Options> s3_options(http::Client& http, std::shared_ptr<const aws::Configuration> configuration) {
  S3Options o;
  auto region = configuration->region();
  if (!region.ok()) return region.status();
  if (!region->empty()) o.region = *region;
  auto endpoint = configuration->configured_endpoint("s3");
  if (!endpoint.ok()) return endpoint.status();
  o.endpoint = *endpoint;
  o.ca_file = configuration->ca_bundle();
  auto attempts = configuration->max_attempts();
  if (!attempts.ok()) return attempts.status();
  if (*attempts > 0) o.attempts = *attempts;
  const std::string style = configuration->setting("AWS_S3_ADDRESSING", "s3.addressing_style");
  if (style == "path") {
    o.addressing = S3Options::Addressing::Path;
  } else if (style == "virtual") {
    o.addressing = S3Options::Addressing::Virtual;
  } else if (!style.empty() && style != "auto") {
    return invalid("AWS_S3_ADDRESSING (or addressing_style of profile " + configuration->profile() + "): \"" +
                   style + "\" is not auto, virtual or path");
  }
  o.credentials = std::make_shared<OrAnonymous>(aws::default_credentials(http, configuration));
  return o;
}

S3::S3(http::Client& http, S3Options options, std::string bucket)
    : http_(http), options_(std::move(options)), bucket_(std::move(bucket)), region_(options_.region) {}

std::string S3::address(const std::string& key) const {
  return "s3://" + bucket_ + (key.empty() ? "" : "/" + key);
}

std::string S3::region() const {
  std::lock_guard lock(mutex_);
  return region_;
}

bool S3::path_style() const {
  if (options_.addressing != S3Options::Addressing::Auto)
    return options_.addressing == S3Options::Addressing::Path;
  return !options_.endpoint.empty() || !is_host_label(bucket_);
}

S3::Place S3::place(const std::string& key, const std::string& region) const {
  std::string scheme = "https", host = "s3." + region + "." + aws::domain_of_region(region), prefix;
  if (!options_.endpoint.empty()) {
    if (auto url = http::parse_url(options_.endpoint); url.ok()) {
      scheme = url->scheme;
      host = url->authority();
      if (auto path = http::percent_decode(url->path); path.ok() && *path != "/") prefix = *path;
    }
  }
  const bool in_path = path_style();
  if (!in_path) host = bucket_ + "." + host;
  return {scheme + "://" + host, host, prefix + (in_path ? "/" + bucket_ : "") + "/" + key};
}

http::Request S3::prepared(const Call& what, http::Request request, aws::Credentials* signed_by) const {
  const std::string region = this->region();
  const Place where = place(what.key, region);
  request.method = what.method;
  request.url = where.base + http::percent_encode(where.path, true) +
                (what.query.empty() ? "" : "?" + http::query_string(what.query));
  request.follow_redirects = false;  // the signature names the host
  request.ca_file = options_.ca_file;
  request.user_agent = user_agent();
  request.stop = what.stop;
  for (const auto& header : what.headers) request.headers.push_back(header);
  aws::ToSign to_sign{what.method, where.host, where.path, what.query, request.headers, ""};
  // For a file, signs its checksum as a header: reading it twice more for SHA-256 would cost more than
  // sending it.
  to_sign.body_sha256 = request.upload_file.empty() ? sha256_hex(request.body) : "UNSIGNED-PAYLOAD";
  // libcurl's default is that of a form, and some servers then parse the body as one.
  if (what.method == "PUT" || what.method == "POST")
    request.headers.emplace_back("Content-Type",
                                 what.method == "PUT" ? "application/octet-stream" : "application/xml");
  if (options_.credentials) {
    request.signing = [this, to_sign, region, signed_by, stop = what.stop]() -> Result<http::Headers> {
      auto keys = options_.credentials->get(stop);
      if (!keys.ok()) return keys.status();
      if (signed_by) *signed_by = *keys;
      if (keys->anonymous()) return http::Headers{};
      return aws::sign_v4(to_sign, *keys,
                          {region, "s3", std::time(nullptr) + std::time_t(clock_offset_.load())});
    };
  }
  return request;
}

bool S3::put_right(const http::Response& answer, const aws::Credentials& signed_by, int& tries) {
  if (answer.status < 300 || answer.status == 304 || answer.status >= 500 || ++tries > 3) return false;
  const std::string code = s3_field(answer.body, "Code");
  // 301 and 307: it lies elsewhere; 400 AuthorizationHeaderMalformed: so does what the signature should name.
  std::string region(answer.header("x-amz-bucket-region"));
  if (region.empty() &&
      (code == "AuthorizationHeaderMalformed" || code == "IllegalLocationConstraintException"))
    region = s3_field(answer.body, "Region");
  if (region.empty() && answer.status < 400) region = region_in(s3_field(answer.body, "Endpoint"));
  if (region.empty() && answer.status < 400) region = region_in(answer.header("location"));
  if (aws::is_region_name(region)) {
    std::lock_guard lock(mutex_);
    if (region != region_) {
      region_ = region;
      return true;
    }
  }
  // HEAD has no body to say why.
  if (is_expiry(code) && options_.credentials) {
    options_.credentials->refused(signed_by);
    return true;
  }
  if (is_skew(code) || (answer.status == 403 && code.empty())) {
    const std::time_t server = ::curl_getdate(std::string(answer.header("date")).c_str(), nullptr);
    const long long ahead = static_cast<long long>(server) - static_cast<long long>(std::time(nullptr));
    if (server > 0 && std::llabs(ahead - clock_offset_.load()) > 240) {
      clock_offset_ = ahead;
      return true;
    }
  }
  return false;
}

Result<http::Response> S3::call(const Call& what, http::Request given) {
  if (!is_bucket_name(bucket_)) return invalid("\"" + bucket_ + "\" is not a bucket name");
  const http::Retries retries{.attempts = options_.attempts, .first_seconds = 0.25, .largest_seconds = 20};
  for (int tries = 0;;) {
    aws::Credentials signed_by;
    const http::Request request = prepared(what, given, &signed_by);
    // On a connection that was kept open libcurl sends a PUT again by itself when that dies under it.
    auto answer = what.once ? http::Client(http_.environment()).send(request) : http_.send(request, retries);
    if (!answer.ok()) {
      // An interrupted write that must not repeat may have been executed.
      const bool unknown =
          what.once && (answer.status().code() == Code::Retry || answer.status().code() == Code::Timeout);
      return unknown ? Status(Code::Lost, answer.status().message()) : answer;
    }
    if (put_right(*answer, signed_by, tries)) continue;
    if (answer->status >= 300 && answer->status < 400 && answer->status != 304)
      return Status(Code::Invalid, address("") + ": the server redirects (HTTP status " +
                                       std::to_string(answer->status) + ")")
          .with_hint("Set AWS_REGION to the bucket's region.");
    return answer;
  }
}

Result<http::Response> S3::call_late(const Call& what, const http::Request& request) {
  http::Backoff backoff({options_.attempts, 0.25, 20}, what.stop);
  for (;;) {
    auto answer = call(what, request);
    const bool failed = answer.ok() && answer->ok() && is_s3_error(answer->body);
    const bool passing = failed && s3_error(*answer, "").code() == Code::Retry;
    if (!passing || !backoff.again() || !backoff.wait().ok()) return answer;
  }
}

}  // namespace radl::transfer
