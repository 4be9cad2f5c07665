// Credentials that a container's or an instance's own network gives out.
// Sources: Amazon ECS Developer Guide, "Task IAM role"; EKS User Guide, "Pod Identity"; EC2 User Guide, "Use
// the Instance Metadata Service".
#include <nlohmann/json.hpp>

#include "common/aws/providers.h"
#include "common/files.h"
#include "common/text.h"

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
  const bool loopback = host == "localhost" || host == "::1" || host.starts_with("127.");
  return loopback || host == "169.254.170.2" || host == "169.254.170.23" || host == "fd00:ec2::23";
}

Result<std::string> container_url(const Configuration& c) {
  if (std::string path = c.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty()) {
    if (!path.starts_with("/"))
      return Status(Code::Auth, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with \"/\"");
    return "http://169.254.170.2" + path;
  }
  const std::string url = c.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (url.empty()) return not_found("no container");
  auto parsed = http::parse_url(url);
  if (!parsed.ok() || (parsed->scheme != "http" && parsed->scheme != "https"))
    return Status(Code::Auth, "AWS_CONTAINER_CREDENTIALS_FULL_URI is no http or https URL");
  if (!may_ask(*parsed))
    return Status(Code::Auth,
                  "AWS_CONTAINER_CREDENTIALS_FULL_URI: " + http::printable_url(url) +
                      " is neither https nor an address of this machine or its container service");
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
    return Status(Code::Auth, "the container's authorization token holds a line break");
  return token;
}

double metadata_seconds(const Configuration& c) {
  const double seconds =
      std::strtod(c.setting("AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout").c_str(), nullptr);
  return seconds > 0 && seconds < 60 ? seconds : 1;
}

int metadata_attempts(const Configuration& c) {
  const int n =
      std::atoi(c.setting("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts").c_str());
  return n > 0 && n < 20 ? n : 1;
}

Result<std::string> metadata_endpoint(const Configuration& c) {
  const std::string given = c.setting("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint");
  if (!given.empty()) {
    auto url = http::parse_url(given);
    if (!url.ok() || (url->scheme != "http" && url->scheme != "https"))
      return Status(Code::Auth, "AWS_EC2_METADATA_SERVICE_ENDPOINT is no http or https URL");
    return given.ends_with("/") ? given.substr(0, given.size() - 1) : given;
  }
  const std::string mode =
      c.setting("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode");
  return std::string(equal_ignoring_case(mode, "ipv6") ? "http://[fd00:ec2::254]" : "http://169.254.169.254");
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
  const Configuration& c = asking.configuration;
  if (equal_ignoring_case(c.environment("AWS_EC2_METADATA_DISABLED"), "true"))
    return not_found("AWS_EC2_METADATA_DISABLED");
  auto endpoint = metadata_endpoint(c);
  if (!endpoint.ok()) return endpoint.status();
  const std::string origin = "instance metadata (" + http::printable_url(*endpoint) + ")";
  const double seconds = metadata_seconds(c);
  const http::Retries retries{.attempts = metadata_attempts(c), .first_seconds = 0.1, .largest_seconds = 1};
  http::Request session = local_request(asking, *endpoint + "/latest/api/token", seconds);
  session.method = "PUT";
  session.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  auto token = asking.http.send(session, retries);
  // Nobody there: not on EC2.
  if (!token.ok()) return token.status().code() == Code::Cancelled ? token.status() : not_found(origin);
  if (!token->ok()) return not_found(origin + ": HTTP status " + std::to_string(token->status));
  auto get = [&](const std::string& path) {
    http::Request request = local_request(asking, *endpoint + path, seconds);
    request.headers = {{"X-aws-ec2-metadata-token", std::string(trim(token->body))}};
    return asking.http.send(request, http::Retries{.attempts = std::max(3, retries.attempts)});
  };
  const std::string path = "/latest/meta-data/iam/security-credentials/";
  auto role = get(path);
  if (!role.ok()) return Status(role.status()).at(origin);
  if (role->status == 404) return not_found(origin + ": the instance has no role");
  if (!role->ok()) return Status(Code::Auth, origin + ": HTTP status " + std::to_string(role->status));
  const std::string name(trim(role->body.substr(0, role->body.find('\n'))));
  if (name.empty()) return not_found(origin + ": the instance has no role");
  auto keys = get(path + http::percent_encode(name));
  if (!keys.ok()) return Status(keys.status()).at(origin);
  if (!keys->ok()) return Status(Code::Auth, origin + ": HTTP status " + std::to_string(keys->status));
  return credentials_of_json(keys->body, "instance role " + name);
}

std::string text_of(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

std::optional<std::time_t> parse_time(std::string text) {
  std::tm utc{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (!rest) return std::nullopt;
  std::string_view zone(rest);
  if (zone.starts_with(".")) {
    zone.remove_prefix(1);
    while (!zone.empty() && zone[0] >= '0' && zone[0] <= '9') zone.remove_prefix(1);
  }
  std::time_t time = ::timegm(&utc);
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
  if (!json.is_object()) return Status(Code::Auth, origin + ": the answer is no JSON object");
  if (const std::string code = text_of(json, "Code"); !code.empty() && code != "Success")
    return Status(Code::Auth, origin + ": " + code.substr(0, 100));
  if (auto at = json.find("Version"); at != json.end() && *at != 1)
    return Status(Code::Auth, origin + ": \"Version\" is not 1");
  Credentials keys{
      text_of(json, "AccessKeyId"), text_of(json, "SecretAccessKey"), text_of(json, "Token"), {}, origin};
  if (keys.session_token.empty()) keys.session_token = text_of(json, "SessionToken");
  if (keys.access_key.empty() || keys.secret_key.empty())
    return Status(Code::Auth, origin + ": the answer has no " +
                                  (keys.access_key.empty() ? "AccessKeyId" : "SecretAccessKey"));
  if (const std::string expires = text_of(json, "Expiration"); !expires.empty()) {
    keys.expires = parse_time(expires);
    if (!keys.expires) return Status(Code::Auth, origin + ": \"Expiration\" is no time");
  }
  return keys;
}

}  // namespace radl::aws
