// OpenSSH keys: ed25519 pairs made here, public lines, fingerprints.
//
// Formats: RFC 4253 section 6.6 (public key blob), RFC 8709 (ed25519), OpenSSH's PROTOCOL.key (private key
// file).
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::ssh {

struct KeyPair {
  std::string private_file;  // content of an unencrypted OpenSSH private key file
  std::string public_line;   // "ssh-ed25519 AAAA... comment"
};

Result<KeyPair> make_ed25519(const std::string& comment);

// Creates `path` (0600) and `path`.pub if missing; returns the public line. Crash-safe: the public half is
// derived again from the private one.
Result<std::string> ensure_key_file(const std::string& path, const std::string& comment);

// A key pair created by radlc, and the location of its private half.
struct NamedKey {
  std::string path;         // FOLDER/NAME, 0600; the public line is in PATH.pub
  std::string public_line;  // "ssh-ed25519 AAAA... NAME"
  std::string fingerprint;  // "SHA256:...": its name in a state (key_places.h finds it again)
};
// The ed25519 pair `name` of `folder` (created with mode 0700 if missing). Created once and then stable, even
// if several threads or processes request it concurrently or one of them is killed.
Result<NamedKey> make_key(const std::string& folder, const std::string& name);

// The public line in a private key file in OpenSSH's format, which contains it in clear text even if the file
// is encrypted.
Result<std::string> public_line_of(std::string_view private_file);

// True if a private key file is encrypted, in OpenSSH's format or in PEM.
bool has_passphrase(std::string_view private_file);

// "ssh-ed25519" from a public key line; empty if it is not one.
std::string key_type(std::string_view public_line);
// The decoded blob of a public key line.
Result<std::string> key_blob(std::string_view public_line);
// The type named in a blob.
std::string blob_type(std::string_view blob);
// "SHA256:..." as OpenSSH prints it.
std::string fingerprint(std::string_view blob);
// Same for a public key line.
Result<std::string> fingerprint_of_line(std::string_view public_line);
// Same for a private key file in OpenSSH's format.
Result<std::string> fingerprint_of_file(const std::string& private_path);

}  // namespace radl::ssh
