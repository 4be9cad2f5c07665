// Credentials that a container's or an instance's own network gives out.
// Sources: Amazon ECS Developer Guide, "Task IAM role"; EKS User Guide, "Pod Identity"; EC2 User Guide, "Use
// the Instance Metadata Service".
#include <nlohmann/json.hpp>

#include "common/aws/instance_metadata.h"
#include "common/aws/providers.h"
#include "common/files.h"
#include "common/http/loopback.h"
#include "common/shorten.h"
#include "common/text.h"
#include "common/utc.h"

namespace radl::aws {
namespace {

using Json = nlohmann::json;

http::Request local_request(const Asking& asking, std::string url, double seconds) {
  http::Request request;
  request.url = std::move(url);
  request.direct = true;
  request.follow_redirects = false;
  request.connect_seconds = seconds;
  request.deadline_seconds = seconds;
  request.largest_answer = 1 << 20;
  request.stop = asking.stop;
  return request;
}

// Without encryption only to addresses that do not leave the machine.
bool may_ask(const http::Url& url) {
  if (url.scheme == "https") return true;
  const std::string& host = url.host;
  return http::is_loopback(host) || host == "169.254.170.2" || host == "169.254.170.23" ||
         host == "fd00:ec2::23";
}

Result<std::string> container_url(const Configuration& c) {
  if (std::string path = c.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty()) {
    if (!path.starts_with("/"))
      return Status(Code::Auth, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with \"/\"");
    return "http://169.254.170.2" + path;
  }
  const std::string url = c.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (url.empty()) return not_found("no container");
  auto parsed = http::parse_http_url(url, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!parsed.ok()) return Status(Code::Auth, parsed.status().message());
  if (!may_ask(*parsed))
    return Status(Code::Auth,
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI: " + http::printable_url(url) +
                      " is neither an https URL nor an address of this machine or its container service");
  return url;
}

Result<std::string> container_token(const Configuration& c) {
  std::string token = c.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (std::string file = c.environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    auto text = read_file(file, 1 << 20);
    if (!text.ok())
      return Status(Code::Auth, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: " + text.status().message());
    token = std::string(trim(*text));
  }
  if (token.find_first_of("\r\n") != std::string::npos)
    return Status(Code::Auth, "the container's authorization token contains a line break");
  return token;
}

}  // namespace

Result<Credentials> container_credentials(const Asking& asking) {
  auto url = container_url(asking.configuration);
  if (!url.ok()) return url.status();
  auto token = container_token(asking.configuration);
  if (!token.ok()) return token.status();
  const std::string origin = "container (" + http::printable_url(*url) + ")";
  http::Request request = local_request(asking, *url, 2);
  request.headers = {{"Accept", "application/json"}};
  if (!token->empty()) request.headers.emplace_back("Authorization", *token);
  auto answer = asking.http.send(request, http::Retries{});
  if (!answer.ok()) return Status(answer.status()).at(origin);
  if (!answer->ok()) return Status(Code::Auth, origin + ": HTTP status " + std::to_string(answer->status));
  return credentials_of_json(answer->body, origin);
}

Result<Credentials> instance_credentials(const Asking& asking) {
  InstanceMetadata metadata(asking.http, asking.configuration);
  const std::string path = "/latest/meta-data/iam/security-credentials/";
  auto role = metadata.get(path, asking.stop);
  if (!role.ok()) return role.status();
  const std::string name(*role ? trim((*role)->substr(0, (*role)->find('\n'))) : std::string_view());
  if (name.empty()) return not_found(metadata.origin() + ": the instance has no role");
  auto keys = metadata.get(path + http::percent_encode(name), asking.stop);
  if (!keys.ok()) return keys.status();
  if (!*keys) return Status(Code::Auth, metadata.origin() + ": HTTP status 404");
  return credentials_of_json(**keys, "instance role " + name);
}

std::string text_of(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

std::optional<std::time_t> parse_time(std::string text) {
  const char* rest = nullptr;
  const auto utc = parse_utc(text, "%Y-%m-%dT%H:%M:%S", &rest);
  if (!utc) return std::nullopt;
  std::string_view zone(rest);
  if (zone.starts_with(".")) {
    zone.remove_prefix(1);
    while (!zone.empty() && zone[0] >= '0' && zone[0] <= '9') zone.remove_prefix(1);
  }
  std::time_t time = *utc;
  if (zone == "Z" || zone == "UTC" || zone.empty()) return time;
  int hours = 0, minutes = 0;
  char sign = 0;
  if (std::sscanf(std::string(zone).c_str(), "%c%2d:%2d", &sign, &hours, &minutes) != 3 ||
      (sign != '+' && sign != '-'))
    return std::nullopt;
  return time - (sign == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
}

Result<Credentials> credentials_of_json(const std::string& text, const std::string& origin) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Status(Code::Auth, origin + ": the response is not a JSON object");
  if (const std::string code = text_of(json, "Code"); !code.empty() && code != "Success")
    return Status(Code::Auth, origin + ": " + shorten(code, 100));
  if (auto at = json.find("Version"); at != json.end() && *at != 1)
    return Status(Code::Auth, origin + ": \"Version\" is not 1");
  Credentials keys{
      text_of(json, "AccessKeyId"), text_of(json, "SecretAccessKey"), text_of(json, "Token"), {}, origin};
  if (keys.session_token.empty()) keys.session_token = text_of(json, "SessionToken");
  if (keys.access_key.empty() || keys.secret_key.empty())
    return Status(Code::Auth, origin + ": the response lacks " +
                                  (keys.access_key.empty() ? "AccessKeyId" : "SecretAccessKey"));
  if (const std::string expires = text_of(json, "Expiration"); !expires.empty()) {
    keys.expires = parse_time(expires);
    if (!keys.expires) return Status(Code::Auth, origin + ": \"Expiration\" is not a time");
  }
  return keys;
}

}  // namespace radl::aws
