#include "common/google/aws_subject.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "common/aws/credentials.h"
#include "common/aws/instance_metadata.h"
#include "common/aws/settings.h"
#include "common/aws/sigv4.h"
#include "common/digest.h"
#include "common/http/url.h"
#include "common/text.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kRegion = "{region}";

Result<std::string> region_of(http::Client& http, const aws::Configuration& configuration, const Stop& stop) {
  auto region = configuration.region();
  if (!region.ok() || !region->empty()) return region;
  auto there = aws::InstanceMetadata(http, configuration).get("/latest/meta-data/placement/region", stop);
  if (there.ok() && *there && !(*there)->empty()) return **there;
  return Status(Code::Auth, "no AWS region configured").with_hint("Set AWS_REGION.");
}

}  // namespace

Result<std::string> aws_subject_token(http::Client& http, const Credential& one, const Stop& stop) {
  const std::string source = one.origin + ": credential_source (AWS)";
  auto configuration = aws::Configuration::load(http.environment());
  if (!configuration.ok()) return Status(configuration.status()).at(source);
  auto keys = aws::default_credentials(http, *configuration)->get(stop);
  if (!keys.ok())
    return Status(keys.status().code() == Code::NotFound ? Code::Auth : keys.status().code(),
                  source + ": " + keys.status().message())
        .with_hint(keys.status().hint());
  std::string address = one.aws_url, region;
  auto found = region_of(http, **configuration, stop);
  if (!found.ok()) return Status(found.status()).at(source);
  region = *found;
  if (const size_t at = address.find(kRegion); at != address.npos)
    address.replace(at, kRegion.size(), region);
  auto url = http::parse_http_url(address, source + ", regional_cred_verification_url");
  if (!url.ok()) return url.status();

  http::Headers headers = {{"x-goog-cloud-target-resource", one.audience}};
  aws::ToSign to_sign{.method = "POST", .host = url->authority(), .query = http::parse_query(url->query)};
  to_sign.path = url->path.empty() ? "/" : url->path;
  to_sign.headers = headers;
  to_sign.body_sha256 = sha256_hex("");
  to_sign.send_body_hash = false;
  const http::Headers signature = aws::sign_v4(to_sign, *keys, {region, "sts", std::time(nullptr)});
  headers.emplace_back("host", url->authority());
  headers.insert(headers.end(), signature.begin(), signature.end());
  Json shown = {{"url", address}, {"method", "POST"}, {"headers", Json::array()}};
  for (const auto& [name, value] : headers)
    shown["headers"].push_back({{"key", to_lower(name)}, {"value", value}});
  return http::percent_encode(shown.dump());
}

}  // namespace radl::google
