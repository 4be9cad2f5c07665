// The handshake and the records: who gets in, and what a meddler on the way can do (nothing but break the
// link).
#include "engine/cluster/secure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "common/files.h"

namespace radl::engine::cluster {
namespace {

const std::string kKey(32, 'k');

struct Pair {
  SessionCiphers client, server;
};

Pair shake(const std::string& client_key = kKey, const std::string& server_key = kKey) {
  ClientHandshake c(client_key, {Role::Worker, 2});
  ServerHandshake s(server_key, {Role::Server, 1});
  Result<std::string> answer = s.answer(c.hello());
  EXPECT_TRUE(answer.ok());
  std::string proof;
  Result<SessionCiphers> client = c.finish(*answer, proof);
  EXPECT_TRUE(client.ok()) << client.status().text();
  Result<SessionCiphers> server = s.verify(proof);
  EXPECT_TRUE(server.ok());
  return {std::move(*client), std::move(*server)};
}

std::string seal(RecordCipher& c, std::string_view text) {
  std::string out(text.size() + kRecordOverhead, '\0');
  c.seal(text, {}, out.data());
  return out;
}

Status open(RecordCipher& c, const std::string& record, std::string& text) {
  text.assign(record.size(), '\0');
  Status s = c.open(std::string_view(record).substr(4), text.data());
  text.resize(record.size() - kRecordOverhead);
  return s;
}

TEST(Handshake, BothSidesLearnWhoTheOtherIs) {
  Pair p = shake();
  EXPECT_EQ(p.client.peer.role, Role::Server);
  EXPECT_EQ(p.client.peer.index, 1u);
  EXPECT_EQ(p.server.peer.role, Role::Worker);
  EXPECT_EQ(p.server.peer.index, 2u);
  std::string text;
  ASSERT_TRUE(open(*p.server.receive, seal(*p.client.send, "up"), text).ok());
  EXPECT_EQ(text, "up");
  ASSERT_TRUE(open(*p.client.receive, seal(*p.server.send, "down"), text).ok());
  EXPECT_EQ(text, "down");
}

TEST(Handshake, AnotherKeyIsRefusedByTheClient) {
  ClientHandshake c(kKey, {Role::Worker, 0});
  ServerHandshake s(std::string(32, 'x'), {Role::Server, 0});
  std::string proof;
  Result<SessionCiphers> client = c.finish(*s.answer(c.hello()), proof);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.status().code(), Code::Auth);
  EXPECT_TRUE(proof.empty());
}

TEST(Handshake, AClientWithoutTheKeyIsRefused) {
  ClientHandshake c(kKey, {Role::Worker, 0});
  ServerHandshake s(kKey, {Role::Server, 0});
  ASSERT_TRUE(s.answer(c.hello()).ok());
  EXPECT_EQ(s.verify(std::string(kProofSize, '\0')).status().code(), Code::Auth);
}

TEST(Handshake, EveryBitOfBothHellosIsAuthenticated) {
  for (size_t bit = 0; bit < kServerHelloSize * 8; ++bit) {
    ClientHandshake c(kKey, {Role::Worker, 0});
    ServerHandshake s(kKey, {Role::Server, 0});
    std::string answer = *s.answer(c.hello()), proof;
    answer[bit / 8] = static_cast<char>(answer[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(c.finish(answer, proof).ok()) << "server hello, bit " << bit;
  }
  for (size_t bit = 0; bit < kHelloSize * 8; ++bit) {  // changed on the way to the server: the client notices
    ClientHandshake c(kKey, {Role::Worker, 0});
    ServerHandshake s(kKey, {Role::Server, 0});
    std::string hello = c.hello(), proof;
    hello[bit / 8] = static_cast<char>(hello[bit / 8] ^ (1 << (bit % 8)));
    Result<std::string> answer = s.answer(hello);
    EXPECT_FALSE(answer.ok() && c.finish(*answer, proof).ok()) << "client hello, bit " << bit;
  }
}

TEST(Handshake, AReplayedClientDoesNotGetIn) {
  ClientHandshake c(kKey, {Role::Worker, 0});
  std::string hello = c.hello(), proof;
  ServerHandshake first(kKey, {Role::Server, 0}), second(kKey, {Role::Server, 0});
  ASSERT_TRUE(c.finish(*first.answer(hello), proof).ok());
  ASSERT_TRUE(second.answer(hello).ok());
  EXPECT_EQ(second.verify(proof).status().code(), Code::Auth);
}

TEST(Handshake, AForeignProtocolIsSaidToBeOne) {
  ServerHandshake s(kKey, {Role::Server, 0});
  std::string http = "GET / HTTP/1.1\r\n";
  http.resize(kHelloSize, ' ');
  EXPECT_EQ(s.answer(http).status().message(), "does not speak the protocol of a training job");
  ClientHandshake c(kKey, {Role::Worker, 0});
  std::string newer = c.hello();
  const int version = newer[5];
  newer[5] = static_cast<char>(version + 1);
  EXPECT_EQ(s.answer(newer).status().message(),
            fmt::format("speaks wire version {}, this program version {}", version + 1, version));
}

TEST(Records, ChangedRepeatedMissingOrReorderedDoNotOpen) {
  std::string text;
  {
    Pair p = shake();
    std::string record = seal(*p.client.send, "hello");
    record[6] ^= 1;
    EXPECT_EQ(open(*p.server.receive, record, text).code(), Code::Auth);
  }
  {
    Pair p = shake();
    std::string record = seal(*p.client.send, "hello");
    ASSERT_TRUE(open(*p.server.receive, record, text).ok());
    EXPECT_EQ(open(*p.server.receive, record, text).code(), Code::Auth) << "replay";
  }
  {
    Pair p = shake();
    seal(*p.client.send, "first");
    EXPECT_EQ(open(*p.server.receive, seal(*p.client.send, "second"), text).code(), Code::Auth)
        << "first one missing";
  }
  {
    Pair p = shake();
    EXPECT_EQ(open(*p.client.receive, seal(*p.client.send, "mirror"), text).code(), Code::Auth)
        << "reflected";
  }
  {
    Pair p = shake();
    std::string record = seal(*p.client.send, "hello!");
    record.pop_back();
    EXPECT_EQ(open(*p.server.receive, record, text).code(), Code::Auth) << "truncated";
  }
}

TEST(Records, TwoLinksOfOneKeyShareNothing) {
  Pair a = shake(), b = shake();
  std::string text;
  EXPECT_EQ(open(*b.server.receive, seal(*a.client.send, "hello"), text).code(), Code::Auth);
}

TEST(Records, SizesAreBounded) {
  auto size_of = [](uint32_t n) {
    char bytes[4];
    std::memcpy(bytes, &n, 4);
    return RecordCipher::body_size(bytes).ok();
  };
  EXPECT_FALSE(size_of(0));
  EXPECT_FALSE(size_of(16));
  EXPECT_TRUE(size_of(17));
  EXPECT_TRUE(size_of(kRecordSize + 16));
  EXPECT_FALSE(size_of(kRecordSize + 17));
  EXPECT_FALSE(size_of(0xffffffff));
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
