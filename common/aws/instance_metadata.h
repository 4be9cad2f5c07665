// Client for the EC2 instance metadata service, version 2.
// Source: EC2 User Guide, "Use the Instance Metadata Service".
#pragma once

#include <optional>
#include <string>

#include "common/aws/settings.h"
#include "common/http/http.h"
#include "common/stop.h"

namespace radl::aws {

// Not thread-safe. Renews its session token, which lasts six hours, automatically.
class InstanceMetadata {
 public:
  // Takes endpoint, timeout and attempts from AWS's settings (AWS_EC2_METADATA_SERVICE_ENDPOINT, ...).
  InstanceMetadata(http::Client& http, const Configuration& configuration);

  // Reads "/latest/meta-data/...". nullopt if the path does not exist. NotFound: the service does not respond
  // (this is not EC2), or AWS_EC2_METADATA_DISABLED is set. Auth: any other response. Cancelled.
  Result<std::optional<std::string>> get(const std::string& path, const Stop& stop);
  // For messages.
  const std::string& origin() const { return origin_; }

 private:
  Status open(const Stop& stop);
  http::Request request(const std::string& path, const Stop& stop) const;

  http::Client& http_;
  Status usable_;
  std::string endpoint_, origin_, token_;
  double seconds_ = 1;
  int attempts_ = 1;
};

}  // namespace radl::aws
