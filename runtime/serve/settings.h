// What every infrastructure of the service is given.
#pragma once

#include <string>

#include "runtime/driver/host.h"

namespace radl::serve {

struct Settings {
  const driver::Host* host = nullptr;  // outlives the service
  std::string cloud, auth;             // where a client sends no accounts: as --cloud and --auth
  // Of the service's own user: where the states of infrastructures of the own API are kept, an absolute
  // folder or a bucket (runtime/state/store.h), PLACE/ID each; "": in their folders.
  std::string states;
  // Whether the user's programs may do what the service's own user may: recipes of Ansible and nodes of
  // `local` run on the service's computer, and functions of `radl 2` read its files and environment.
  bool trusted = true;
};

// The rights and accounts of a change: those of the caller, whoever else owns the infrastructure.
struct Order {
  Settings by;
  std::string accounts;  // as Users::accounts() gave them; "": those of `by`
};

}  // namespace radl::serve
