// `radlc serve`: one process that offers its users the REST API of the Infrastructure Manager, its own API,
// and a page.
//
// Every request needs a token (access.h). Without TLS, it listens only on loopback. Infrastructures are
// stored in FOLDER and survive a restart. The next request that changes an infrastructure recovers an
// interrupted run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "common/turn.h"
#include "runtime/serve/access.h"
#include "runtime/serve/audit.h"
#include "runtime/serve/part.h"
#include "runtime/serve/records.h"
#include "runtime/serve/registry.h"
#include "runtime/serve/users.h"
#include "runtime/serve/webhooks.h"
#include "runtime/serve/workspaces.h"

namespace radl::serve {

// Limits of each user.
struct ServiceLimits {
  size_t infrastructures = 200;
  double requests_per_second = 200;  // on average; bursts of ten times as many
};

struct ServiceOptions {
  std::string folder;
  std::string address = "127.0.0.1";
  uint16_t port = 8899;
  std::string certificate, key;         // PEM files; both or neither
  std::vector<std::string> host_names;  // names for this service besides its address
  std::string owner;                    // the user of FOLDER/token
  Settings settings;
  ServiceLimits limits;
  bool trust_users = false;  // trust all users like the owner (Settings::trusted)
};

class Service {
 public:
  // The service listens when this returns. Invalid: an address other than loopback without TLS. Conflict:
  // another service uses the folder or the address.
  static Result<std::unique_ptr<Service>> start(const ServiceOptions& options);
  // Finishes the current actions and shuts down.
  ~Service();
  std::string url() const;
  // Returns an address that opens the page in a browser, once, within ten minutes.
  Result<std::string> one_time_link();
  std::string token_file() const { return folder_ + "/token"; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Requests;
  explicit Service(FileTurn turn);

  FileTurn turn_;
  std::string folder_, scheme_, host_;
  std::vector<std::string> notes_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<Audit> audit_;
  std::unique_ptr<Records> records_;
  std::unique_ptr<Users> users_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<Webhooks> webhooks_;
  std::unique_ptr<Workspaces> workspaces_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<httpd::Server> server_;
};

// Returns a one-time link to the running service of FOLDER. `user`: whose page it opens; "": the owner's.
// NotFound: no service runs.
Result<std::string> one_time_link(const std::string& folder, const std::string& owner, World& world,
                                  const std::string& user = {}, Scope scope = Scope::Admin);

}  // namespace radl::serve
