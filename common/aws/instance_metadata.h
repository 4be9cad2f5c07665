// What an EC2 instance can ask about itself: version 2 of its metadata service.
// Source: EC2 User Guide, "Use the Instance Metadata Service".
#pragma once

#include <optional>
#include <string>

#include "common/aws/settings.h"
#include "common/http/http.h"
#include "common/stop.h"

namespace radl::aws {

// Not thread-safe. Its session lasts six hours and reopens automatically.
class InstanceMetadata {
 public:
  // Endpoint, time-out and attempts as AWS's own tools take them (AWS_EC2_METADATA_SERVICE_ENDPOINT, ...).
  InstanceMetadata(http::Client& http, const Configuration& configuration);

  // Of "/latest/meta-data/..."; nothing where there is no such thing. NotFound: nobody answers, this is not
  // EC2, or AWS_EC2_METADATA_DISABLED is set. Auth: any other answer. Cancelled.
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
