#include "runtime/serve/tokens.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "common/turn.h"

namespace radl::serve {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostTokens = 10000, kMostOfUser = 1000;
constexpr std::chrono::seconds kTurn{10};
constexpr std::string_view kScopes[] = {"read", "plan", "apply", "admin"};
constexpr std::string_view kKinds[] = {"client", "session", "one-time"};

Json to_json(const Token& token, const std::string& hash) {
  return {{"id", token.id},
          {"user", token.user},
          {"label", token.label},
          {"scope", scope_name(token.scope)},
          {"kind", kKinds[size_t(token.kind)]},
          {"maker", token.maker},
          {"created", token.created},
          {"expires", token.expires},
          {"sha256", hash}};
}

// Nothing: the record is not a token's. A token without its times would never expire.
std::optional<Token> token_in(const Json& json) {
  const auto scope = scope_named(json::text_of(json, "scope"));
  const auto kind = std::ranges::find(kKinds, json::text_of(json, "kind"));
  if (!scope || kind == std::end(kKinds) || !json::member(json, "expires").is_number()) return {};
  return Token{.id = json::text_of(json, "id"),
               .user = json::text_of(json, "user"),
               .label = json::text_of(json, "label"),
               .scope = *scope,
               .kind = Token::Kind(kind - std::begin(kKinds)),
               .maker = json::text_of(json, "maker"),
               .created = json::number_of(json, "created"),
               .expires = json::number_of(json, "expires")};
}

std::string version_of(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return "-";
  return fmt::format("{}.{}.{}.{}", about.st_ino, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

}  // namespace

std::string_view scope_name(Scope scope) { return kScopes[size_t(scope)]; }

std::optional<Scope> scope_named(std::string_view name) {
  const auto found = std::ranges::find(kScopes, name);
  if (found == std::end(kScopes)) return {};
  return Scope(found - std::begin(kScopes));
}

bool is_user_name(std::string_view text) {
  constexpr std::string_view kMarks = "._@-";
  return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
         std::ranges::all_of(text, [&](unsigned char c) {
           return (c < 128 && std::isalnum(c)) || kMarks.find(char(c)) != kMarks.npos;
         });
}

Status Tokens::read_locked() {
  const std::string version = version_of(path());
  if (version == version_) return {};
  auto text = read_file(path(), size_t{16} << 20);
  std::vector<Kept> tokens;
  if (!text.ok() && text.status().code() != Code::NotFound) return text.status();
  if (text.ok()) {
    const Json json = json::parse_json(*text);
    if (!json::member(json, "tokens").is_array())
      return Status(Code::Corrupt, path() + ": not a list of tokens")
          .with_hint("restore it from a backup, or remove it and issue new tokens");
    for (const Json& one : json["tokens"])
      if (auto token = token_in(one)) tokens.push_back({std::move(*token), json::text_of(one, "sha256")});
  }
  tokens_ = std::move(tokens);
  version_ = version;
  return {};
}

Status Tokens::write_locked() {
  Json list = Json::array();
  for (const Kept& kept : tokens_) list.push_back(to_json(kept.token, kept.hash));
  version_.clear();
  return write_file_atomic(path(), Json{{"version", 1}, {"tokens", std::move(list)}}.dump(1) + "\n", 0600);
}

template <class Change>
Status Tokens::changed(Change change) {
  std::lock_guard lock(mutex_);
  auto turn = FileTurn::take(folder_ + "/tokens.lock", Stop().within(kTurn));
  if (!turn.ok()) return turn.status();
  if (Status read = read_locked(); !read.ok()) return read;
  std::erase_if(tokens_,
                [&](const Kept& kept) { return kept.token.expires != 0 && kept.token.expires <= now(); });
  if (Status done = change(); !done.ok()) return done;
  return write_locked();
}

IssuedToken Tokens::issue_locked(Token token) {
  IssuedToken issued;
  token.id = "t-" + random_token(world_.random).substr(0, 8);
  token.created = now();
  issued.secret = random_token(world_.random) + random_token(world_.random);
  issued.token = std::move(token);
  tokens_.push_back({issued.token, sha256_hex(issued.secret)});
  return issued;
}

Result<IssuedToken> Tokens::add(const Caller& maker, const TokenRequest& request) {
  Token token{.id = {},
              .user = request.user.empty() ? maker.user : request.user,
              .label = request.label,
              .scope = request.scope,
              .kind = request.kind,
              .maker = maker.token,
              .created = 0,
              .expires = request.lifetime > 0 ? now() + request.lifetime : 0};
  if (!is_user_name(token.user))
    return Status(Code::Invalid, "user names have letters, digits and ._@-, at most 64");
  if (token.label.size() > 200) return Status(Code::Invalid, "a label has at most 200 bytes");
  if (!maker.may(request.scope))
    return Status(Code::Auth, fmt::format("a token with scope {} cannot make one with scope {}",
                                          scope_name(maker.scope), scope_name(request.scope)));
  if (!maker.may_touch(token.user))
    return Status(Code::Auth, "only a token with scope admin makes tokens for other users");
  IssuedToken issued;
  Status done = changed([&]() -> Status {
    // Its maker may have expired, or been revoked, since the request was admitted.
    const auto* of = &maker.token;
    const Kept* parent = nullptr;
    for (const Kept& kept : tokens_)
      if (kept.token.id == *of) parent = &kept;
    if (!parent && *of != "owner") return Status(Code::Auth, "the token that asks has been revoked");
    if (parent && parent->token.expires != 0 && (token.expires == 0 || token.expires > parent->token.expires))
      token.expires = parent->token.expires;
    const auto count = std::ranges::count(tokens_, token.user, [](const Kept& k) { return k.token.user; });
    if (tokens_.size() >= kMostTokens || size_t(count) >= kMostOfUser)
      return Status(Code::Quota, token.user + " has too many tokens").with_hint("revoke some");
    issued = issue_locked(std::move(token));
    return {};
  });
  if (!done.ok()) return done;
  return issued;
}

Result<std::vector<Token>> Tokens::list(const Caller& caller) {
  std::lock_guard lock(mutex_);
  if (Status read = read_locked(); !read.ok()) return read;
  std::vector<Token> tokens;
  for (const Kept& kept : tokens_)
    if (caller.may_touch(kept.token.user) && (kept.token.expires == 0 || kept.token.expires > now()))
      tokens.push_back(kept.token);
  return tokens;
}

std::set<std::string> Tokens::family_locked(const std::string& id) const {
  std::set<std::string> family = {id};
  for (size_t before = 0; before != family.size();) {
    before = family.size();
    for (const Kept& kept : tokens_)
      if (family.contains(kept.token.maker)) family.insert(kept.token.id);
  }
  return family;
}

Status Tokens::revoke(const Caller& caller, const std::string& id) {
  return changed([&]() -> Status {
    const auto found = std::ranges::find(tokens_, id, [](const Kept& kept) { return kept.token.id; });
    if (found == tokens_.end() || !caller.may_touch(found->token.user))
      return Status(Code::NotFound, id + ": no such token");
    if (!caller.may(found->token.scope) && !family_locked(caller.token).contains(id))
      return Status(Code::Auth, fmt::format("a token with scope {} cannot revoke one with scope {}",
                                            scope_name(caller.scope), scope_name(found->token.scope)));
    const std::set<std::string> gone = family_locked(id);
    std::erase_if(tokens_, [&](const Kept& kept) { return gone.contains(kept.token.id); });
    return {};
  });
}

// Secrets are compared by their hashes: how long that takes tells nothing of a secret.
Result<Token> Tokens::find(const std::string& secret) {
  std::lock_guard lock(mutex_);
  if (Status read = read_locked(); !read.ok()) return read;
  const std::string hash = sha256_hex(secret);
  for (const Kept& kept : tokens_)
    if (kept.hash == hash && kept.token.kind != Token::Kind::OneTime &&
        (kept.token.expires == 0 || kept.token.expires > now()))
      return kept.token;
  return Status(Code::NotFound, "unknown token");
}

Status Tokens::check_link(const std::string& code) {
  std::lock_guard lock(mutex_);
  if (Status read = read_locked(); !read.ok()) return read;
  const std::string hash = sha256_hex(code);
  for (const Kept& kept : tokens_)
    if (kept.hash == hash && kept.token.kind == Token::Kind::OneTime &&
        (kept.token.expires == 0 || kept.token.expires > now()))
      return {};
  return Status(Code::NotFound, "the link was used already, or has expired");
}

Result<IssuedToken> Tokens::exchange(const std::string& code, double lifetime) {
  const std::string hash = sha256_hex(code);
  IssuedToken issued;
  Status done = changed([&]() -> Status {
    const auto found = std::ranges::find_if(tokens_, [&](const Kept& kept) {
      return kept.hash == hash && kept.token.kind == Token::Kind::OneTime;
    });
    if (found == tokens_.end()) return Status(Code::NotFound, "the link was used already, or has expired");
    Token session = found->token;
    tokens_.erase(found);
    session.kind = Token::Kind::Session;
    session.expires = now() + lifetime;
    issued = issue_locked(std::move(session));
    return {};
  });
  if (!done.ok()) return done;
  return issued;
}

}  // namespace radl::serve
