// Settings of all infrastructures of a user.
#pragma once

#include <string>

#include "runtime/driver/host.h"

namespace radl::serve {

class Records;

struct Settings {
  const driver::Host* host = nullptr;  // must outlive the service
  std::string cloud, auth;             // like --cloud and --auth, for clients that send no accounts
  // Location of the states of the own API's infrastructures, PLACE/ID each: an absolute folder or a bucket
  // (runtime/state/store.h); "": their folders. Only for the service's own user.
  std::string states;
  Records* records = nullptr;  // if `states` is a bucket: has the record of a run before it begins
  // True if the user's programs may do what the service's own user may: Ansible recipes and nodes of `local`
  // run on the service's computer, and functions of `radl 2` read its files and environment.
  bool trusted = true;
};

// Rights and accounts of a change: those of the caller, regardless of other owners.
struct Order {
  Settings by;
  std::string accounts;  // from Users::accounts(); "": those of `by`
};

}  // namespace radl::serve
