// Tokens of the service's users, in FOLDER/tokens.json (mode 0600). The file stores the SHA-256 of each
// secret, never the secret: 256 random bits, shown once to the caller who requested the token.
//
// A token never grants more than the token that created it, and ends when that one is revoked. Several
// processes may change the file; each sees the others' changes at its next call.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/world.h"
#include "runtime/serve/caller.h"

namespace radl::serve {

struct Token {
  enum class Kind {
    Client,   // of a program, until it is revoked or expires
    Session,  // of a browser: the value of its cookie
    OneTime,  // of a link: exchanged once for a session
  };
  std::string id;  // "t-3f9c01ab"; not secret
  std::string user, label;
  Scope scope = Scope::Read;
  Kind kind = Kind::Client;
  std::string maker;   // ID of the token that created it
  double created = 0;  // wall-clock seconds
  double expires = 0;  // wall-clock seconds; 0: never
};

struct IssuedToken {
  Token token;
  std::string secret;
};

struct TokenRequest {
  std::string user;  // "": the creator's
  Scope scope = Scope::Read;
  std::string label;
  double lifetime = 0;  // seconds; 0: unlimited
  Token::Kind kind = Token::Kind::Client;
};

class Tokens {
 public:
  // `world` must outlive this object.
  Tokens(std::string folder, World& world) : folder_(std::move(folder)), world_(world) {}

  // Auth: a scope above the creator's, or another user without Scope::Admin. Invalid: not a user name. Quota:
  // too many tokens.
  Result<IssuedToken> add(const Caller& maker, const TokenRequest& request);
  // The tokens visible to the caller: their own; Scope::Admin: of all users. Omits expired sessions.
  Result<std::vector<Token>> list(const Caller& caller);
  // Revokes it with all tokens it created. A token may revoke itself, tokens it created, and others of the
  // caller with no larger scope. NotFound: not visible to the caller. Auth: its scope is above the caller's.
  Status revoke(const Caller& caller, const std::string& id);

  // The token with this secret, unless it is a one-time code. NotFound: none, or expired.
  Result<Token> find(const std::string& secret);
  // Checks whether exchange() would accept the code; changes nothing and waits for no other process.
  // NotFound: as above.
  Status check_link(const std::string& code);
  // Exchanges a one-time code for a session. The code is used up. NotFound: as above.
  Result<IssuedToken> exchange(const std::string& code, double lifetime);

 private:
  struct Kept {
    Token token;
    std::string hash;
  };
  std::string path() const { return folder_ + "/tokens.json"; }
  Status read_locked();
  Status write_locked();
  // Reads the file, calls `change`, and writes it if that succeeded, under the file's lock. A failed change
  // has no effect.
  template <class Change>
  Status changed(Change change);
  std::set<std::string> family_locked(const std::string& id) const;  // and all tokens it created
  IssuedToken issue_locked(Token token);
  double now() const { return world_.clock.wall_seconds(); }

  const std::string folder_;
  World& world_;
  std::mutex mutex_;
  std::vector<Kept> tokens_;
  std::string version_;  // version of the file that tokens_ was read from
};

// Letters, digits and "._@-", at most 64: such a name is safe in paths, logs and headers.
bool is_user_name(std::string_view text);

}  // namespace radl::serve
