// Parses a server's first packet (RFC 4253 section 7.1), to explain why libssh2 cannot agree with it.
#pragma once

#include <libssh2.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::ssh {

struct Offer {
  std::vector<std::string> key_exchange, host_keys, ciphers, macs;  // ciphers and MACs: server to client
};

// Parses the first bytes of a connection; nullopt if the packet is incomplete or another one.
std::optional<Offer> parse_offer(std::string_view bytes);

struct Disagreement {
  bool host_key = false;  // the server has no host key of the pinned type
  std::string text;       // "the server has only the ciphers ..., which libssh2 lacks"; empty: compatible
};

Disagreement disagreement(const Offer& offer, LIBSSH2_SESSION* session, std::string_view host_key_type,
                          std::string_view ciphers, std::string_view macs);

}  // namespace radl::ssh
