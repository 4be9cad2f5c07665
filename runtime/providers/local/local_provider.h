// Nodes on this machine: each a folder with an OpenSSH server of its own on a loopback address of its own.
// docs/providers.md says what is isolated from what, with root and without.
#pragma once

#include <memory>

#include "runtime/providers/provider.h"

namespace radl::local {

enum class Isolation {
  Auto,      // file system view, hostname and processes of its own, where this user and kernel can
  Off,       // a folder and a server only
  Required,  // an error where it cannot be had
};

struct Options {
  Isolation isolation = Isolation::Auto;
};

// RADL_LOCAL_ISOLATION=auto|off|required.
Options options_from_environment();

std::unique_ptr<Provider> make_provider(const Options& options = options_from_environment());

}  // namespace radl::local
