// Hashes and encodings agree with their published vectors.
#include "common/digest.h"

#include <gtest/gtest.h>

#include <fstream>

namespace radl {
namespace {

TEST(Digest, Sha256MatchesFips180) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, PiecesGiveTheSameHashAsTheWhole) {
  std::string text(100000, 'x');
  Sha256 hash;
  for (size_t i = 0; i < text.size(); i += 777) hash.update(std::string_view(text).substr(i, 777));
  EXPECT_EQ(hash.finish_hex(), sha256_hex(text));
}

TEST(Digest, HmacMatchesRfc4231) {
  std::string key(20, '\x0b');
  EXPECT_EQ(to_hex(hmac_sha256(key, "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

TEST(Digest, Base64RoundTripsEveryLength) {
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_encode("fooba"), "Zm9vYmE=");
  for (size_t size = 0; size < 70; ++size) {
    std::string bytes = random_bytes(size);
    auto decoded = base64_decode(base64_encode(bytes));
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, bytes);
  }
  EXPECT_FALSE(base64_decode("abc").ok());
  EXPECT_FALSE(base64_decode("a!c=").ok());
  EXPECT_FALSE(base64_decode("====").ok());
}

TEST(Digest, HexRefusesWhatIsNotHex) {
  EXPECT_EQ(*from_hex("00ff"), std::string("\0\xff", 2));
  EXPECT_FALSE(from_hex("0").ok());
  EXPECT_FALSE(from_hex("0g").ok());
}

TEST(Digest, FileHashEqualsContentHashAndNamesAMissingFile) {
  std::string path = testing::TempDir() + "/digest_test_file";
  std::string content(3 << 20, 'y');
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(*sha256_file(path), sha256_hex(content));
  auto missing = sha256_file(path + ".missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::NotFound);
  EXPECT_NE(missing.status().message().find(".missing"), std::string::npos);
}

}  // namespace
}  // namespace radl
