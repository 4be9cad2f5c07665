#include "common/aws/instance_metadata.h"

#include <algorithm>
#include <cstdlib>

#include "common/text.h"

namespace radl::aws {
namespace {

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
    auto url = http::parse_http_url(given, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (!url.ok()) return Status(Code::Auth, url.status().message());
    return given.ends_with("/") ? given.substr(0, given.size() - 1) : given;
  }
  const std::string mode =
      c.setting("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode");
  return std::string(equal_ignoring_case(mode, "ipv6") ? "http://[fd00:ec2::254]" : "http://169.254.169.254");
}

}  // namespace

InstanceMetadata::InstanceMetadata(http::Client& http, const Configuration& configuration) : http_(http) {
  if (equal_ignoring_case(configuration.environment("AWS_EC2_METADATA_DISABLED"), "true")) {
    usable_ = not_found("AWS_EC2_METADATA_DISABLED");
    return;
  }
  auto endpoint = metadata_endpoint(configuration);
  usable_ = endpoint.status();
  if (!endpoint.ok()) return;
  endpoint_ = *endpoint;
  origin_ = "instance metadata (" + http::printable_url(endpoint_) + ")";
  seconds_ = metadata_seconds(configuration);
  attempts_ = metadata_attempts(configuration);
}

http::Request InstanceMetadata::request(const std::string& path, const Stop& stop) const {
  http::Request request;
  request.url = endpoint_ + path;
  request.direct = true;
  request.follow_redirects = false;
  request.connect_seconds = seconds_;
  request.deadline_seconds = seconds_;
  request.largest_answer = 1 << 20;
  request.stop = stop;
  return request;
}

Status InstanceMetadata::open(const Stop& stop) {
  http::Request session = request("/latest/api/token", stop);
  session.method = "PUT";
  session.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  http::Retries retries;
  retries.attempts = attempts_;
  retries.first_seconds = 0.1;
  retries.largest_seconds = 1;
  auto token = http_.send(session, retries);
  // No response: not on EC2.
  if (!token.ok()) return token.status().code() == Code::Cancelled ? token.status() : not_found(origin_);
  if (!token->ok()) return not_found(origin_ + ": HTTP status " + std::to_string(token->status));
  token_ = std::string(trim(token->body));
  return {};
}

Result<std::optional<std::string>> InstanceMetadata::get(const std::string& path, const Stop& stop) {
  if (!usable_.ok()) return usable_;
  for (bool renewed = token_.empty();; renewed = true) {
    if (token_.empty()) {
      if (Status opened = open(stop); !opened.ok()) return opened;
    }
    http::Request asked = request(path, stop);
    asked.headers = {{"X-aws-ec2-metadata-token", token_}};
    http::Retries retries;
    retries.attempts = std::max(3, attempts_);
    auto answer = http_.send(asked, retries);
    if (!answer.ok()) return Status(answer.status()).at(origin_);
    if (answer->status == 401 && !renewed) {
      token_.clear();
      continue;
    }
    if (answer->status == 404) return std::optional<std::string>();
    if (!answer->ok()) return Status(Code::Auth, origin_ + ": HTTP status " + std::to_string(answer->status));
    return std::optional<std::string>(std::move(answer->body));
  }
}

}  // namespace radl::aws
