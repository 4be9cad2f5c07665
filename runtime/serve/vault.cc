#include "runtime/serve/vault.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "common/files.h"
#include "runtime/serve/im_header.h"

namespace radl::serve {
namespace {

constexpr size_t kKeyBytes = 32, kNonceBytes = 12, kTagBytes = 16;
constexpr size_t kLargestSealed = size_t{4} << 20;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Ciphering = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string sealed(const std::string& key, const std::string& nonce, const std::string& plain,
                   const std::string& about) {
  Ciphering context(EVP_CIPHER_CTX_new());
  std::string out(plain.size(), '\0'), tag(kTagBytes, '\0');
  int length = 0;
  EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(key), bytes(nonce));
  EVP_EncryptUpdate(context.get(), nullptr, &length, bytes(about), int(about.size()));
  EVP_EncryptUpdate(context.get(), bytes(out), &length, bytes(plain), int(plain.size()));
  EVP_EncryptFinal_ex(context.get(), bytes(out) + length, &length);
  EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, int(kTagBytes), bytes(tag));
  return nonce + tag + out;
}

Result<std::string> unsealed(const std::string& key, const std::string& sealed, const std::string& about) {
  const Status corrupt(Code::Corrupt, "the stored credentials cannot be decrypted");
  if (sealed.size() < kNonceBytes + kTagBytes) return corrupt;
  const std::string nonce = sealed.substr(0, kNonceBytes), body = sealed.substr(kNonceBytes + kTagBytes);
  std::string tag = sealed.substr(kNonceBytes, kTagBytes), out(body.size(), '\0');
  Ciphering context(EVP_CIPHER_CTX_new());
  int length = 0, rest = 0;
  EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes(key), bytes(nonce));
  EVP_DecryptUpdate(context.get(), nullptr, &length, bytes(about), int(about.size()));
  EVP_DecryptUpdate(context.get(), bytes(out), &length, bytes(body), int(body.size()));
  EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, int(kTagBytes), bytes(tag));
  if (EVP_DecryptFinal_ex(context.get(), bytes(out) + length, &rest) != 1) return corrupt;
  return out;
}

Result<std::string> Vault::key(bool make) {
  const std::string path = folder_ + "/credentials.key";
  struct stat about {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0)
    return Status(Code::Auth, path + ": other users can read the key of the credentials");
  auto found = read_file(path, 4096);
  if (found.ok() && found->size() != kKeyBytes) return Status(Code::Corrupt, path + ": not a key");
  if (found.ok() || found.status().code() != Code::NotFound || !make) return found;
  const std::string key = world_.random.bytes(kKeyBytes);
  if (Status saved = write_file_atomic(path, key, 0600); !saved.ok()) return saved;
  return key;
}

Status Vault::put(const std::string& user, const std::string& text) {
  auto accounts = read_accounts(text);
  if (!accounts.ok()) return accounts.status();
  if (accounts->empty()) return Status(Code::Invalid, "there are no credentials of clouds in it");
  if (Status made = make_directories(folder_ + "/credentials", 0700); !made.ok()) return made;
  return write_sealed(path(user), *accounts, user);
}

Status Vault::write_sealed(const std::string& path, const std::string& text, const std::string& about) {
  if (text.size() + kNonceBytes + kTagBytes > kLargestSealed)  // it could not be read again
    return Status(Code::Quota, path + ": more than 4 MiB cannot be stored encrypted");
  std::lock_guard lock(mutex_);
  auto with = key(true);
  if (!with.ok()) return with.status();
  return write_file_atomic(path, sealed(*with, world_.random.bytes(kNonceBytes), text, about), 0600);
}

Result<std::string> Vault::get(const std::string& user) { return read_sealed(path(user), user); }

Result<std::string> Vault::read_sealed(const std::string& path, const std::string& about) {
  std::lock_guard lock(mutex_);
  auto stored = read_file(path, kLargestSealed);
  if (stored.status().code() == Code::NotFound) return std::string();
  if (!stored.ok()) return stored.status();
  auto with = key(false);
  if (!with.ok()) return with.status();
  return unsealed(*with, *stored, about);
}

Result<std::vector<Vault::Name>> Vault::names(const std::string& user) {
  std::vector<Name> names;
  auto accounts = get(user);
  if (!accounts.ok()) return accounts.status();
  if (accounts->empty()) return names;
  auto file = parse_auth(*accounts, {});
  if (!file.ok()) return file.status();
  for (const AuthLine& line : file->lines) names.push_back({line.id, line.type});
  return names;
}

Status Vault::remove(const std::string& user) {
  std::lock_guard lock(mutex_);
  std::error_code error;
  std::filesystem::remove(path(user), error);
  return error ? Status(Code::Invalid, "the credentials cannot be removed: " + error.message()) : Status();
}

}  // namespace radl::serve
