// Client for one infrastructure of a running Infrastructure Manager (IM), over the IM's REST API.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/http/http.h"
#include "common/status.h"
#include "runtime/auth/auth_file.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

// "https://im.example.org:8800/infrastructures/ID": the part before "/infrastructures", and the ID.
struct ImAddress {
  std::string server, infrastructure;
};
// Invalid: malformed, or http to another computer, which would reveal the credentials to the network.
Result<ImAddress> im_address(const std::string& uri);

// A machine of the infrastructure by the IM's number: RADL-JSON of its system, with `instance_id`,
// `instance_type` and credentials. Secret.
struct ImMachine {
  std::string number;
  Json system;
};

struct ImInfrastructure {
  std::string id;
  std::string radl;                 // RADL text as stored by the IM
  std::vector<ImMachine> machines;  // in the order of their numbers
};

class ImService {
 public:
  // Sends all lines of the auth file with each request, like the IM's clients. Invalid: no line has the type
  // InfrastructureManager.
  static Result<ImService> make(const Environment& environment, const ImAddress& at, const AuthFile& auth,
                                const Stop& stop);

  Result<ImInfrastructure> read();
  // Makes the IM drop its record of the infrastructure. The machines keep running.
  Status forget();

 private:
  ImService(const Environment& environment, const ImAddress& at, std::string authorization, const Stop& stop)
      : http_(std::make_unique<http::Client>(environment)),
        at_(at),
        authorization_(std::move(authorization)),
        stop_(stop) {}
  // A GET request relative to the infrastructure.
  Result<Json> get(const std::string& below);

  std::unique_ptr<http::Client> http_;
  ImAddress at_;
  std::string authorization_;
  Stop stop_;
};

}  // namespace radl::cli
