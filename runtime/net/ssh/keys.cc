#include "runtime/net/ssh/keys.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/digest.h"
#include "common/files.h"

namespace radl::ssh {
namespace {

constexpr std::string_view kMagic("openssh-key-v1\0", 15);
constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view kEnd = "-----END OPENSSH PRIVATE KEY-----";

std::string u32(size_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
          static_cast<char>(n)};
}

std::string field(std::string_view bytes) { return u32(bytes.size()).append(bytes); }

// Removes a length-prefixed field from the front; false if there is none.
bool take_field(std::string_view& rest, std::string_view& out) {
  if (rest.size() < 4) return false;
  size_t n = 0;
  for (int i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(rest[i]);
  if (n > rest.size() - 4) return false;
  out = rest.substr(4, n);
  rest.remove_prefix(4 + n);
  return true;
}

std::string ed25519_blob(std::string_view raw) { return field("ssh-ed25519") + field(raw); }

std::string armour(const std::string& body) {
  std::string text = base64_encode(body), out = std::string(kBegin) + "\n";
  for (size_t i = 0; i < text.size(); i += 70) out += text.substr(i, 70) + "\n";
  return out + std::string(kEnd) + "\n";
}

std::string private_file_of(std::string_view raw_public, std::string_view seed, const std::string& comment) {
  std::string check = random_bytes(4);
  std::string secret = check + check + field("ssh-ed25519") + field(raw_public) +
                       field(std::string(seed).append(raw_public)) + field(comment);
  for (char pad = 1; secret.size() % 8 != 0; ++pad) secret += pad;
  return armour(std::string(kMagic) + field("none") + field("none") + field("") + u32(1) +
                field(ed25519_blob(raw_public)) + field(secret));
}

// Holds flock(2) on a folder while it lives: one maker of keys at a time in it.
class KeyTurn {
 public:
  explicit KeyTurn(const std::string& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~KeyTurn() {
    if (fd_ >= 0) ::close(fd_);
  }
  KeyTurn(const KeyTurn&) = delete;
  KeyTurn& operator=(const KeyTurn&) = delete;

 private:
  int fd_;
};

}  // namespace

Result<KeyPair> make_ed25519(const std::string& comment) {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"),
                                                          &EVP_PKEY_free);
  unsigned char seed[32], raw[32];
  size_t seed_size = sizeof seed, raw_size = sizeof raw;
  if (!key || EVP_PKEY_get_raw_private_key(key.get(), seed, &seed_size) != 1 ||
      EVP_PKEY_get_raw_public_key(key.get(), raw, &raw_size) != 1) {
    return internal_error("OpenSSL cannot make an ed25519 key");
  }
  std::string_view raw_public(reinterpret_cast<char*>(raw), 32), raw_seed(reinterpret_cast<char*>(seed), 32);
  KeyPair pair{private_file_of(raw_public, raw_seed, comment),
               fmt::format("ssh-ed25519 {} {}", base64_encode(ed25519_blob(raw_public)), comment)};
  return pair;
}

namespace {

// The decoded body of a private key file in OpenSSH's format, from its magic on.
Result<std::string> body_of(std::string_view private_file) {
  size_t begin = private_file.find(kBegin), end = private_file.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    return Status(Code::Unsupported, "not a private key in OpenSSH's format");
  }
  std::string text;
  for (char c : private_file.substr(begin + kBegin.size(), end - begin - kBegin.size())) {
    if (c > ' ') text += c;
  }
  auto body = base64_decode(text);
  if (!body || !body->starts_with(kMagic)) return Status(Code::Corrupt, "the private key is damaged");
  return body;
}

}  // namespace

bool has_passphrase(std::string_view private_file) {
  // "BEGIN ENCRYPTED PRIVATE KEY" (RFC 7468), "Proc-Type: 4,ENCRYPTED" (RFC 1421).
  if (private_file.find("ENCRYPTED") != std::string_view::npos) return true;
  auto body = body_of(private_file);
  if (!body) return false;
  std::string_view rest(*body), cipher;
  rest.remove_prefix(kMagic.size());
  return take_field(rest, cipher) && cipher != "none";
}

Result<std::string> public_line_of(std::string_view private_file) {
  auto body = body_of(private_file);
  if (!body) return body.status();
  std::string_view rest(*body), ignored, blob;
  rest.remove_prefix(kMagic.size());
  bool good =
      take_field(rest, ignored) && take_field(rest, ignored) && take_field(rest, ignored) && rest.size() > 4;
  if (good) {
    rest.remove_prefix(4);
    good = take_field(rest, blob);
  }
  if (!good) return Status(Code::Corrupt, "the private key is damaged");
  return blob_type(blob) + " " + base64_encode(blob);
}

Result<std::string> ensure_key_file(const std::string& path, const std::string& comment) {
  auto there = read_file(path, 1 << 16);
  if (!there && there.status().code() != Code::NotFound) return there.status();
  if (!there) {
    auto made = make_ed25519(comment);
    if (!made) return made.status();
    if (Status s = write_file_atomic(path, made->private_file, 0600); !s.ok()) return s;
    there = std::move(made->private_file);
  }
  auto line = public_line_of(*there);
  if (!line) return std::move(line).status().at(path);
  std::string with_comment = *line + " " + comment;
  auto stored = read_file(path + ".pub", 1 << 16);
  if (!stored || *stored != with_comment + "\n") {
    if (Status s = write_file_atomic(path + ".pub", with_comment + "\n", 0644); !s.ok()) return s;
  }
  return with_comment;
}

Result<NamedKey> make_key(const std::string& folder, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return invalid("'" + name + "' cannot name a key");
  if (Status made = make_directories(folder, 0700); !made.ok()) return made;
  KeyTurn turn(folder);
  NamedKey key{folder + "/" + name, "", ""};
  auto line = ensure_key_file(key.path, name);
  if (!line) return line.status();
  auto print = fingerprint_of_line(*line);
  if (!print) return print.status();
  key.public_line = std::move(*line);
  key.fingerprint = std::move(*print);
  return key;
}

std::string key_type(std::string_view public_line) {
  size_t blank = public_line.find(' ');
  return blank == std::string_view::npos ? "" : std::string(public_line.substr(0, blank));
}

Result<std::string> key_blob(std::string_view public_line) {
  size_t begin = public_line.find(' ');
  if (begin == std::string_view::npos) return invalid("not an OpenSSH public key line");
  size_t end = public_line.find_first_of(" \r\n", begin + 1);
  auto blob =
      base64_decode(public_line.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1));
  if (!blob || blob_type(*blob).empty()) return invalid("not an OpenSSH public key line");
  return blob;
}

std::string blob_type(std::string_view blob) {
  std::string_view type;
  return take_field(blob, type) ? std::string(type) : "";
}

std::string fingerprint(std::string_view blob) {
  auto raw = from_hex(sha256_hex(blob));
  std::string text = base64_encode(raw ? *raw : "");
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

Result<std::string> fingerprint_of_line(std::string_view public_line) {
  auto blob = key_blob(public_line);
  if (!blob) return blob.status();
  return fingerprint(*blob);
}

Result<std::string> fingerprint_of_file(const std::string& private_path) {
  auto text = read_file(private_path, 1 << 16);
  if (!text) return text.status();
  auto line = public_line_of(*text);
  std::fill(text->begin(), text->end(), '\0');
  return line ? fingerprint_of_line(*line) : Result<std::string>(std::move(line).status().at(private_path));
}

}  // namespace radl::ssh
