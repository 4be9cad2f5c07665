// Marks on everything that radlc creates, so that it is found again whatever happens to the response: the
// infrastructure, the address in the file and the request's token.
//
// Servers and volumes have metadata. Neutron resources have a description, which the creating request sets
// (unlike tags). A key pair and a server group have only a name.
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

// For an order without a token: an empty mark, written as empty texts.
Mark mark_of(const Context& context, const Order& order);

// ---- metadata: values of at most 255 characters ----
inline constexpr const char* kInfrastructureKey = "radlc:infrastructure";
inline constexpr const char* kAddressKey = "radlc:address";
inline constexpr const char* kTokenKey = "radlc:token";
inline constexpr const char* kKeyKey = "radlc:key";    // SHA256 fingerprint of the login key
inline constexpr const char* kUserKey = "radlc:user";  // of the login
inline constexpr const char* kFlavorKey =
    "radlc:flavor";  // the flavor that was chosen for the requirements of a machine
inline constexpr const char* kAddressOfOthersKey =
    "radlc:floating-address";                                      // an existing one that the file names
inline constexpr const char* kVolumeKeys = "radlc:volume-";        // plus a letter: ID of that disk's volume
inline constexpr const char* kPublicKey = "radlc:public-network";  // whose addresses are public: its id

Json to_metadata(const Mark& mark);
Mark from_metadata(const Json& metadata);
// The user's own entries, without radlc's.
Json own_metadata(const Json& metadata);

// ---- one line of text: "radlc TOKEN INFRASTRUCTURE ADDRESS" ----
std::string to_line(const Mark& mark);
Mark from_line(const std::string& line);

// ---- a name of letters, digits and '-', the only characters allowed for key pairs ----
// "radlc-INFRASTRUCTURE-HASH-TOKEN"; the hash of the full name identifies the infrastructure.
std::string to_name(const Mark& mark);
// The token in such a name of this infrastructure; "" if it is not one.
std::string token_in_name(const std::string& name, const std::string& infrastructure);

// Stores address and token in `seen`, unless they belong to another infrastructure.
void take_mark(const Context& context, const Mark& mark, Seen& seen);

}  // namespace radl::openstack
