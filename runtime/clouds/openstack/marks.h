// What we write on everything that we make, so that it is found again whatever becomes of the answer: the
// infrastructure, the address in the file and the token of the request that made it.
//
// Servers and volumes have metadata; what Neutron has has a description, which is set by the request that
// makes it (its tags are not); a key pair and a server group have a name alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::openstack {

struct Mark {
  std::string infrastructure, address, token;
  bool ours(const Context& context) const {
    return !token.empty() && infrastructure == context.infrastructure;
  }
};

// Of an order without a token: no mark, which is written as empty texts.
Mark mark_of(const Context& context, const Order& order);

// ---- metadata: values of at most 255 characters ----
inline constexpr const char* kInfrastructureKey = "radlc:infrastructure";
inline constexpr const char* kAddressKey = "radlc:address";
inline constexpr const char* kTokenKey = "radlc:token";
inline constexpr const char* kKeyKey = "radlc:key";    // SHA256 fingerprint of the login's key
inline constexpr const char* kUserKey = "radlc:user";  // of the login
inline constexpr const char* kFlavorKey =
    "radlc:flavor";  // the flavor that was chosen for what was asked for
inline constexpr const char* kAddressOfOthersKey =
    "radlc:floating-address";  // one that was there already, which the file names
inline constexpr const char* kVolumeKeys = "radlc:volume-";  // with a letter: the id of that disk's volume
inline constexpr const char* kPublicKey = "radlc:public-network";  // whose addresses are public: its id

Json to_metadata(const Mark& mark);
Mark from_metadata(const Json& metadata);
// Of the user's own, without ours.
Json own_metadata(const Json& metadata);

// ---- one line of text: "radlc TOKEN INFRASTRUCTURE ADDRESS" ----
std::string to_line(const Mark& mark);
Mark from_line(const std::string& line);

// ---- a name of letters, digits and '-', since key pairs take no others ----
// "radlc-INFRASTRUCTURE-HASH-TOKEN"; the infrastructure is known again by the hash of its whole name.
std::string to_name(const Mark& mark);
// The token of such a name that is of this infrastructure; "" where it is none.
std::string token_in_name(const std::string& name, const std::string& infrastructure);

// Address and token of what is this infrastructure's; nothing of another one's.
void take_mark(const Context& context, const Mark& mark, Seen& seen);

}  // namespace radl::openstack
