// The handshake and the records: who gets in, and what a meddler on the way can do (nothing but break the
// link).
#include "engine/cluster/secure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/files.h"

namespace radl::engine::cluster {
namespace {

const std::string kKey(32, 'k');
using End = std::unique_ptr<SecureEnd>;

struct Pair {
  End client = SecureEnd::client(kKey, {Role::Worker, 2}, {Role::Server, 1});
  End server = SecureEnd::server(kKey, {Role::Server, 1});
};

// What each side says in the end. `meddle` sees what goes to the server (true) or to the client.
struct Shaken {
  Status client, server;
};
template <class Meddle>
Shaken shake(SecureEnd& client, SecureEnd& server, Meddle&& meddle) {
  Shaken out{Status(Code::Retry, ""), Status(Code::Retry, "")};
  std::string up, down;
  for (int i = 0; i < 8; ++i) {
    if (out.client.code() == Code::Retry) out.client = client.shake(std::exchange(down, {}), up);
    meddle(true, up);
    if (out.server.code() == Code::Retry) out.server = server.shake(std::exchange(up, {}), down);
    meddle(false, down);
  }
  return out;
}
Shaken shake(SecureEnd& client, SecureEnd& server) {
  return shake(client, server, [](bool, std::string&) {});
}

Pair pair(Pair p = {}) {
  const Shaken done = shake(*p.client, *p.server);
  EXPECT_TRUE(done.client.ok()) << done.client.text();
  EXPECT_TRUE(done.server.ok()) << done.server.text();
  return p;
}

std::string seal(SecureEnd& end, std::string_view text) {
  std::string out;
  const Status sealed = end.seal(text, out);
  EXPECT_TRUE(sealed.ok()) << sealed.text();
  return out;
}

Status open(SecureEnd& end, std::string_view records, std::string& text) {
  end.feed(records);
  text.assign(100, '\0');
  Result<size_t> n = end.open(text.data(), text.size());
  text.resize(n.ok() ? *n : 0);
  return n.status();
}

TEST(Handshake, BothSidesLearnWhoTheOtherIs) {
  Pair p = pair();
  EXPECT_EQ(p.client->peer().role, Role::Server);
  EXPECT_EQ(p.client->peer().index, 1u);
  EXPECT_EQ(p.server->peer().role, Role::Worker);
  EXPECT_EQ(p.server->peer().index, 2u);
  std::string text;
  ASSERT_TRUE(open(*p.server, seal(*p.client, "up"), text).ok());
  EXPECT_EQ(text, "up");
  ASSERT_TRUE(open(*p.client, seal(*p.server, "down"), text).ok());
  EXPECT_EQ(text, "down");
}

TEST(Handshake, AnotherKeyIsRefusedByBothSides) {
  End client = SecureEnd::client(kKey, {Role::Worker, 0}, {Role::Server, 0}),
      server = SecureEnd::server(std::string(32, 'x'), {Role::Server, 0});
  const Shaken done = shake(*client, *server);
  EXPECT_EQ(done.client.code(), Code::Auth);
  EXPECT_EQ(done.server.code(), Code::Auth);
}

TEST(Handshake, AMemberThatIsNotTheExpectedOneIsRefusedByBothSides) {
  for (const Identity other :
       {Identity{Role::Server, 0}, Identity{Role::Worker, 1}, Identity{Role::Server, 11}}) {
    Pair p{.server = SecureEnd::server(kKey, other)};
    const Shaken done = shake(*p.client, *p.server);
    EXPECT_EQ(done.server.code(), Code::Invalid) << done.server.text();
    EXPECT_EQ(done.client.code(), Code::Invalid) << done.client.text();
    EXPECT_NE(done.client.message().find("ps/1"), std::string::npos) << done.client.text();
  }
}

// A handshake that comes back to its sender, or goes to another member, fails there.
TEST(Handshake, OneThatIsRedirectedIsRefused) {
  End client = SecureEnd::client(kKey, {Role::Worker, 0}, {Role::Worker, 1}),
      itself = SecureEnd::server(kKey, {Role::Worker, 0});
  EXPECT_FALSE(shake(*client, *itself).server.ok());
  Pair p{.server = SecureEnd::server(kKey, {Role::Server, 7})};
  const Shaken done = shake(*p.client, *p.server, [](bool up, std::string& bytes) {
    const size_t at = bytes.find("to ps/1");
    if (up && at != std::string::npos) bytes[at + 6] = '7';
  });
  EXPECT_EQ(done.server.code(), Code::Auth) << "the key is of a link to ps/1";
  EXPECT_EQ(done.client.code(), Code::Auth);
}

// Whoever knows the key is one member: its name is part of the key of the link.
TEST(Handshake, ANameChangedOnTheWayIsRefused) {
  Pair p;
  const Shaken done = shake(*p.client, *p.server, [](bool up, std::string& bytes) {
    const size_t at = bytes.find("worker/2");
    if (up && at != std::string::npos) bytes[at + 7] = '3';
  });
  EXPECT_EQ(done.server.code(), Code::Auth);
  EXPECT_EQ(done.client.code(), Code::Auth);
}

TEST(Handshake, EveryByteOfItIsAuthenticated) {
  size_t sizes[2] = {0, 0};
  {
    Pair p;
    shake(*p.client, *p.server, [&](bool up, std::string& bytes) { sizes[up] += bytes.size(); });
  }
  ASSERT_GT(sizes[0], 100u);
  ASSERT_GT(sizes[1], 200u);
  for (const bool way : {false, true}) {
    for (size_t at = 0; at < sizes[way]; ++at) {
      Pair p;
      size_t seen = 0;
      const Shaken done = shake(*p.client, *p.server, [&](bool up, std::string& bytes) {
        if (up != way) return;
        if (at >= seen && at < seen + bytes.size())
          bytes[at - seen] = static_cast<char>(bytes[at - seen] ^ 4);
        seen += bytes.size();
      });
      // The version of the first record is ignored (RFC 8446, 5.1).
      const bool both = done.client.ok() && done.server.ok();
      EXPECT_TRUE(!both || at == 1 || at == 2)
          << (way ? "to the server, byte " : "to the client, byte ") << at;
    }
  }
}

TEST(Handshake, AReplayedClientDoesNotGetIn) {
  Pair p;
  std::string said;
  shake(*p.client, *p.server, [&](bool up, std::string& bytes) {
    if (up) said += bytes;
  });
  End second = SecureEnd::server(kKey, {Role::Server, 1});
  std::string ignored;
  Status status = second->shake(said, ignored);
  EXPECT_FALSE(status.ok());
}

// OpenSSL's client takes any certificate unless it is told to verify it: it would finish the handshake.
TEST(Handshake, AServerWithACertificateAndNoKeyIsRefused) {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  ASSERT_EQ(SSL_CTX_use_certificate(context.get(), certificate), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.get(), key), 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  std::unique_ptr<SSL, void (*)(SSL*)> stranger(SSL_new(context.get()), SSL_free);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  SSL_set_bio(stranger.get(), in, out);
  SSL_set_accept_state(stranger.get());
  End client = SecureEnd::client(kKey, {Role::Worker, 0}, {Role::Server, 0});
  std::string up;
  Status status = client->shake({}, up);
  for (int i = 0; i < 4; ++i) {
    BIO_write(in, up.data(), static_cast<int>(up.size()));
    (void)SSL_do_handshake(stranger.get());
    char bytes[8192];
    const int n = BIO_read(out, bytes, sizeof bytes);
    up.clear();
    if (n > 0 && status.code() == Code::Retry) status = client->shake({bytes, static_cast<size_t>(n)}, up);
  }
  EXPECT_EQ(status.code(), Code::Auth) << status.text();
  EXPECT_EQ(SSL_is_init_finished(stranger.get()), 0) << "the client went on to the end";
}

TEST(Handshake, AForeignProtocolIsSaidToBeOne) {
  End server = SecureEnd::server(kKey, {Role::Server, 0});
  std::string out;
  EXPECT_EQ(server->shake("GET / HTTP/1.1\r\nHost: a\r\n\r\n", out).message(),
            "does not speak the protocol of a training job");
  End client = SecureEnd::client(kKey, {Role::Worker, 0}, {Role::Server, 0});
  EXPECT_EQ(client->shake({}, out).code(), Code::Retry);
  EXPECT_EQ(client->shake("HTTP/1.1 400 Bad Request\r\n\r\n", out).code(), Code::Corrupt);
}

// The name that a client gives says which version it speaks.
TEST(Handshake, AnotherVersionIsSaid) {
  Pair p;
  const Shaken done = shake(*p.client, *p.server, [](bool up, std::string& bytes) {
    const std::string own = fmt::format("radl wire {}", kWireVersion);
    const size_t at = bytes.find(own);
    if (up && at != std::string::npos) bytes[at + own.size() - 1] = '4';
  });
  EXPECT_EQ(done.server.message(), fmt::format("speaks wire version {}, this program version {}",
                                               kWireVersion / 10 * 10 + 4, kWireVersion));
  EXPECT_EQ(done.client.code(), Code::Invalid) << done.client.text();
  EXPECT_NE(done.client.message().find(fmt::format("wire version than {}", kWireVersion)), std::string::npos)
      << done.client.text();
}

TEST(Records, ChangedRepeatedMissingOrReorderedDoNotOpen) {
  std::string text;
  {
    Pair p = pair();
    std::string record = seal(*p.client, "hello");
    record[7] ^= 1;
    EXPECT_EQ(open(*p.server, record, text).code(), Code::Auth);
  }
  {
    Pair p = pair();
    std::string record = seal(*p.client, "hello");
    ASSERT_TRUE(open(*p.server, record, text).ok());
    EXPECT_EQ(open(*p.server, record, text).code(), Code::Auth) << "replay";
  }
  {
    Pair p = pair();
    seal(*p.client, "first");
    EXPECT_EQ(open(*p.server, seal(*p.client, "second"), text).code(), Code::Auth) << "first one missing";
  }
  {
    Pair p = pair();
    EXPECT_EQ(open(*p.client, seal(*p.client, "mirror"), text).code(), Code::Auth) << "reflected";
  }
  {
    Pair p = pair();
    std::string record = seal(*p.client, "hello!");
    record.pop_back();
    EXPECT_TRUE(open(*p.server, record, text).ok());
    EXPECT_EQ(text, "") << "nothing of a record before it is whole";
  }
}

// An end that got a bad record has still a sender, which must learn that the link is over.
TEST(Records, AfterABadRecordNothingIsSealed) {
  Pair p = pair();
  std::string text, record = seal(*p.client, "hello");
  record[7] ^= 1;
  ASSERT_EQ(open(*p.server, record, text).code(), Code::Auth);
  std::string out = "before";
  EXPECT_EQ(p.server->seal("answer", out).code(), Code::Lost);
  EXPECT_EQ(p.server->seal("again", out).code(), Code::Lost);
  EXPECT_EQ(out, "before");
}

// An update of the key travels before the next record; the other side follows.
TEST(Records, AreSealedWithANewKeyAfterItsLife) {
  constexpr size_t kLife = 32 << 10;
  Pair p = pair({SecureEnd::client(kKey, {Role::Worker, 2}, {Role::Server, 1}, kLife),
                 SecureEnd::server(kKey, {Role::Server, 1}, kLife)});
  const size_t usual = seal(*p.client, "x").size();
  p = pair({SecureEnd::client(kKey, {Role::Worker, 2}, {Role::Server, 1}, kLife),
            SecureEnd::server(kKey, {Role::Server, 1}, kLife)});
  const std::string half(kLife / 2, 'h');
  std::string text;
  for (int life = 0; life < 3; ++life) {
    for (const bool up : {true, false}) {
      SecureEnd &from = up ? *p.client : *p.server, &to = up ? *p.server : *p.client;
      for (int i = 0; i < 2; ++i) {
        to.feed(seal(from, half));
        std::string got(half.size(), 0);
        for (size_t have = 0; have < got.size();) {
          Result<size_t> n = to.open(got.data() + have, got.size() - have);
          ASSERT_TRUE(n.ok() && *n > 0) << n.status().text();
          have += *n;
        }
        EXPECT_EQ(got, half);
      }
      const std::string next = seal(from, "x");
      EXPECT_GT(next.size(), usual + 20) << "a record with the update, life " << life;
      ASSERT_TRUE(open(to, next, text).ok());
      EXPECT_EQ(text, "x");
      EXPECT_EQ(seal(from, "").size(), 0u);
    }
  }
}

TEST(Records, TwoLinksOfOneKeyShareNothing) {
  Pair a = pair(), b = pair();
  std::string text;
  EXPECT_EQ(open(*b.server, seal(*a.client, "hello"), text).code(), Code::Auth);
}

TEST(JobKey, MustBePrivateAndWhole) {
  std::string folder = std::filesystem::temp_directory_path() / ("radl-key-" + std::to_string(getpid()));
  ASSERT_TRUE(make_directories(folder).ok());
  std::string path = folder + "/job.key", hex(64, 'a');
  ASSERT_TRUE(write_file_atomic(path, hex + "\n", 0600).ok());
  Result<std::string> key = read_job_key(path);
  ASSERT_TRUE(key.ok()) << key.status().text();
  EXPECT_EQ(*key, std::string(32, '\xaa'));
  ::chmod(path.c_str(), 0640);
  EXPECT_EQ(read_job_key(path).status().code(), Code::Auth);
  ASSERT_TRUE(write_file_atomic(path, hex.substr(2), 0600).ok());
  EXPECT_EQ(read_job_key(path).status().code(), Code::Invalid);
  EXPECT_EQ(read_job_key(folder + "/none").status().code(), Code::NotFound);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace radl::engine::cluster
