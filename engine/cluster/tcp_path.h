// What the kernel knows of a TCP connection's path.
#pragma once

#include "engine/cluster/link.h"

namespace radl::engine::cluster {

// The shortest round trip so far, and the rate at which it delivered last where the network held it up;
// bytes are the caller's to fill in.
Traffic path_of(int fd);
// Link::unacknowledged() of a connection.
Milliseconds unacknowledged_of(int fd);

}  // namespace radl::engine::cluster
