// What makes links over TCP: shared by the side that connects and the one that listens.
#pragma once

#include <memory>

#include "engine/cluster/link.h"
#include "engine/cluster/secure.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {

// More than either side sends before it is let in.
inline constexpr size_t kMostHandshake = 4096;

// A link over a connection whose handshake is done.
std::unique_ptr<Link> make_tcp_link(std::unique_ptr<Socket> socket, std::unique_ptr<SecureEnd> secure);

}  // namespace radl::engine::cluster
