// The kernel's measurements of a TCP connection's path.
#pragma once

#include "engine/cluster/link.h"

namespace radl::engine::cluster {

// The shortest round-trip time so far, and the latest delivery rate if the network was the bottleneck. The
// caller fills in the bytes.
Traffic path_of(int fd);
// Link::unacknowledged() of a connection.
Milliseconds unacknowledged_of(int fd);

}  // namespace radl::engine::cluster
