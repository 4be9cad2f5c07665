// What makes links over TCP: shared by the side that connects and the one that listens.
#pragma once

#include <memory>

#include "engine/cluster/link.h"
#include "engine/cluster/secure.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {

// The record with which a server ends the handshake: one byte, so that the client knows that it is in.
inline constexpr size_t kAdmittedSize = 1 + kRecordOverhead;

// A link over a connection whose handshake is done.
std::unique_ptr<Link> make_tcp_link(std::unique_ptr<Socket> socket, SessionCiphers ciphers);

}  // namespace radl::engine::cluster
