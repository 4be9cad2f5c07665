#include "common/aws/service_quotas.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "common/aws/services.h"
#include "common/aws/sigv4.h"
#include "common/digest.h"

namespace radl::aws {
namespace {

using Json = nlohmann::json;

Result<Json> quotas_page(const QuotasAsking& asking, const std::string& endpoint, const std::string& body) {
  auto keys = asking.credentials->get(asking.stop);
  if (!keys.ok()) return keys.status();
  auto url = http::parse_url(endpoint);
  if (!url.ok()) return url.status();
  http::Request request;
  request.method = "POST";
  request.url = endpoint;
  request.body = body;
  request.idempotent = true;
  request.ca_file = asking.configuration.ca_bundle();
  request.stop = asking.stop;
  request.headers = {{"Content-Type", "application/x-amz-json-1.1"},
                     {"X-Amz-Target", "ServiceQuotasV20190624.ListServiceQuotas"}};
  const auto path = http::percent_decode(url->path);  // the signature encodes it itself
  if (!path.ok()) return path.status();
  ToSign to_sign{"POST", url->authority(), *path, {}, request.headers, sha256_hex(body), false};
  request.signing = [&]() -> Result<http::Headers> {
    return sign_v4(to_sign, *keys, {asking.region, "servicequotas", std::time(nullptr)});
  };
  auto answer = asking.http.send(request, http::Retries{.attempts = 2});
  if (!answer.ok()) return answer.status();
  auto json = Json::parse(answer->body, nullptr, false);
  if (!answer->ok() || !json.is_object() || !json.contains("Quotas") || !json["Quotas"].is_array()) {
    const std::string type = json.is_object() && json.contains("__type") && json["__type"].is_string()
                                 ? json["__type"].get<std::string>()
                                 : "HTTP status " + std::to_string(answer->status);
    return Status(Code::Auth, "servicequotas ListServiceQuotas: " + type);
  }
  return json;
}

}  // namespace

Result<std::map<std::string, double>> ec2_quotas(const QuotasAsking& asking) {
  auto endpoint = endpoint_of(asking.configuration, "service_quotas", asking.region);
  if (!endpoint.ok()) return endpoint.status();
  std::map<std::string, double> found;
  std::string token;
  std::set<std::string> pages;
  do {
    Json body = {{"ServiceCode", "ec2"}, {"MaxResults", 100}};
    if (!token.empty()) body["NextToken"] = token;
    auto page = quotas_page(asking, *endpoint, body.dump());
    if (!page.ok()) return page.status();
    for (const auto& quota : (*page)["Quotas"]) {
      if (!quota.is_object() || !quota.contains("Value") || !quota["Value"].is_number()) continue;
      if (quota.contains("QuotaCode") && quota["QuotaCode"].is_string())
        found[quota["QuotaCode"].get<std::string>()] = quota["Value"].get<double>();
    }
    std::string next = page->contains("NextToken") && (*page)["NextToken"].is_string()
                           ? (*page)["NextToken"].get<std::string>()
                           : "";
    if (!next.empty() && !pages.insert(next).second)
      return Status(Code::Corrupt, "servicequotas ListServiceQuotas: the pages of the response repeat");
    token = std::move(next);
  } while (!token.empty());
  if (found.empty()) return Status(Code::NotFound, "Service Quotas returns no quotas of EC2");
  return found;
}

}  // namespace radl::aws
