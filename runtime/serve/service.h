// `radlc serve`: the REST API of the Infrastructure Manager for one user.
//
// Every request needs the token of FOLDER/token. Nothing but loopback is listened on without TLS.
// Infrastructures are kept in FOLDER and are there again after a restart; a run that was interrupted is
// picked up by the next request that changes its infrastructure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/http_server/server.h"
#include "common/turn.h"
#include "runtime/serve/access.h"
#include "runtime/serve/im_api.h"
#include "runtime/serve/registry.h"

namespace radl::serve {

struct ServiceOptions {
  std::string folder;
  std::string address = "127.0.0.1";
  uint16_t port = 8899;
  std::string certificate, key;         // PEM files; both or neither
  std::vector<std::string> host_names;  // by which clients may call this service beside its address
  Settings settings;
};

class Service {
 public:
  // Listens when it returns. Invalid: another address than loopback without TLS. Conflict: another service
  // has the folder or the address.
  static Result<std::unique_ptr<Service>> start(const ServiceOptions& options);
  // Ends what goes on well, and closes.
  ~Service();
  std::string url() const;
  std::string token_file() const { return folder_ + "/token"; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Requests;
  explicit Service(FileTurn turn);

  FileTurn turn_;
  std::string folder_, scheme_, address_;
  std::vector<std::string> notes_;
  Access access_;
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<ImApi> api_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<httpd::Server> server_;
};

}  // namespace radl::serve
