// Creates TCP links. Shared by the connecting and the listening side.
#pragma once

#include <memory>

#include "engine/cluster/link.h"
#include "engine/cluster/secure.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {

// Limit on what a side sends during the handshake.
inline constexpr size_t kMostHandshake = 4096;

// A link over a connection whose handshake has completed.
std::unique_ptr<Link> make_tcp_link(std::unique_ptr<Socket> socket, std::unique_ptr<SecureEnd> secure);

}  // namespace radl::engine::cluster
