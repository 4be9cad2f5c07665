// What the rest of radlc knows of a type of cloud: one definition in each cloud's folder, `provider()`.
//
// CMake makes the list of all from the folders that runtime/clouds/CMakeLists.txt names. Front ends, the
// catalogue, `radlc check-auth` and the service read the list; nothing outside of a cloud's folder says its
// name (tests/lint/clouds.py). A built-in catalogue is a file of the folder, TYPE.catalog.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl {

struct AuthFile;      // runtime/auth/auth_file.h
struct AuthLine;      // the same
struct CloudAccount;  // runtime/auth/cloud_account.h
class CloudSet;       // runtime/clouds/cloud_set.h
namespace catalog {
struct PriceList;  // runtime/catalog/price_list.h
}
namespace http {
class Client;
}
namespace ssh {
class Connections;
}

// What the clouds of a run are made of. `connections` outlives them.
struct CloudSetup {
  const Environment& environment;
  std::shared_ptr<const AuthFile> auth;  // nullptr: there is none
  ssh::Connections& connections;
  Stop stop;  // of the run
};

struct CredentialSearch {
  const Environment& environment;
  const AuthFile* auth = nullptr;  // nullptr: what the cloud's own tools would use
  std::string region;              // --region; "": as configured
};

// Credentials that `radlc check-auth` shows.
struct CredentialEntry {
  std::string name;  // as a `deploy` may say it
  std::function<CloudAccount(http::Client& http, const Stop& stop)> check;
  // Always listed, whether there are credentials or not: not shown without any if there are other entries.
  bool may_be_missing = false;
};

struct CloudProvider {
  std::string type;                        // "ec2": for `deploy`, --cloud, and in the state
  std::vector<std::string> other_names;    // "aws": suggests the type
  std::vector<std::string> image_schemes;  // "aws" of the image 'aws://eu-west-1/ami-1'
  std::vector<std::string> auth_types;     // of lines of the auth file: "EC2"
  // The type of machines of the Infrastructure Manager that radlc takes over: those whose ids are the cloud's
  // own. "": it takes over none.
  std::string im_type;
  // The nodes run on this computer, or are reached with the keys of its user. Not for confined users
  // (common/http/closed_address.h); without a catalogue.
  bool on_this_computer = false;
  bool leases_nodes = false;   // nodes of elastic farms get a `stop.idle` of radlc's own (auto_stop.h)
  const char* no_lease = "";   // why they do not, for the plan
  std::string default_region;  // that `radlc catalog` shows if none is configured; "": there is no catalogue

  // Adds the type and its accounts to the clouds of a run. Asks no network; what cannot be read is reported
  // when a cloud of the type is asked for.
  void (*add_clouds)(const CloudSetup& setup, CloudSet& clouds) = nullptr;
  // nullptr: the cloud has no credentials. Invalid: files or a region that cannot be used.
  Result<std::vector<CredentialEntry>> (*credentials)(const CredentialSearch& search) = nullptr;
  // Ok if a service may use the line of a user whom it does not trust with its computer. nullptr:
  // check_addresses() (runtime/auth/auth_file.h) decides.
  Status (*check_untrusted)(const AuthFile& file, const AuthLine& line) = nullptr;
  // Downloads the public prices of a region; no credentials. nullptr: the cloud publishes none that radlc
  // reads.
  Result<catalog::PriceList> (*fetch_prices)(http::Client& http, const std::string& region) = nullptr;
};

using CloudProviders = std::vector<const CloudProvider*>;

// Those that radlc is built with, in the order of preference. Library radl_providers.
const CloudProviders& built_in_providers();

// By its type; nullptr: there is none.
const CloudProvider* find_provider(const CloudProviders& providers, const std::string& type);
std::vector<std::string> types_of(const CloudProviders& providers);
// Of all providers, in their order. NotFound: the auth file has no line of their types.
Result<std::vector<CredentialEntry>> find_credentials(const CloudProviders& providers,
                                                      const CredentialSearch& search);
// Ok if a service may use the line of a user whom it does not trust (CloudProvider::check_untrusted).
Status check_untrusted_line(const CloudProviders& providers, const AuthFile& file, const AuthLine& line);

}  // namespace radl
