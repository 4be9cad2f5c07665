// The tokens of the service's users, in FOLDER/tokens.json (mode 0600). The file has the SHA-256 of each
// secret and never the secret: 256 random bits, which are shown once, to the caller who asked for them.
//
// A token never grants more than its maker has, and ends when the token that made it is revoked. Several
// processes may change the file; each sees the changes of the others with its next call.
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
  std::string maker;   // the id of the token that made it
  double created = 0;  // wall seconds
  double expires = 0;  // wall seconds; 0: never
};

struct IssuedToken {
  Token token;
  std::string secret;
};

struct TokenRequest {
  std::string user;  // "": the maker's
  Scope scope = Scope::Read;
  std::string label;
  double lifetime = 0;  // seconds; 0: no end
  Token::Kind kind = Token::Kind::Client;
};

class Tokens {
 public:
  // `world` outlives it.
  Tokens(std::string folder, World& world) : folder_(std::move(folder)), world_(world) {}

  // Auth: a scope above the maker's, or another user without Scope::Admin. Invalid: not a user name. Quota:
  // too many tokens.
  Result<IssuedToken> add(const Caller& maker, const TokenRequest& request);
  // Those that the caller may see: their own; Scope::Admin: of all users. No sessions that have expired.
  Result<std::vector<Token>> list(const Caller& caller);
  // With all that it made. A token revokes itself and those it made, and others of the caller's whose scope
  // is not above its own. NotFound: the caller may see no such token. Auth: its scope is above the caller's.
  Status revoke(const Caller& caller, const std::string& id);

  // The token with this secret, unless it is a one-time code. NotFound: there is none, or it has expired.
  Result<Token> find(const std::string& secret);
  // Whether exchange() would take the code; changes nothing and waits for no other process. NotFound: as
  // above.
  Status check_link(const std::string& code);
  // A session in place of a one-time code, which is used up. NotFound: as above.
  Result<IssuedToken> exchange(const std::string& code, double lifetime);

 private:
  struct Kept {
    Token token;
    std::string hash;
  };
  std::string path() const { return folder_ + "/tokens.json"; }
  Status read_locked();
  Status write_locked();
  // Reads, lets `change` do its work, and writes if that is ok; under the file's lock. A change that fails
  // has changed nothing.
  template <class Change>
  Status changed(Change change);
  std::set<std::string> family_locked(const std::string& id) const;  // and all that it made
  IssuedToken issue_locked(Token token);
  double now() const { return world_.clock.wall_seconds(); }

  const std::string folder_;
  World& world_;
  std::mutex mutex_;
  std::vector<Kept> tokens_;
  std::string version_;  // of the file that tokens_ came from
};

// Letters, digits and "._@-", at most 64: such a name is safe in paths, logs and headers.
bool is_user_name(std::string_view text);

}  // namespace radl::serve
