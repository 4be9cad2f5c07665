// Addresses of object stores, as users write them.
#include "common/store_address.h"

#include <gtest/gtest.h>

namespace radl {
namespace {

TEST(StoreAddress, EveryStoreHasItsOwn) {
  struct Case {
    const char *text, *root, *key, *folder;
  };
  const Case cases[] = {
      {"s3://models/a/b", "s3://models", "a/b", "s3/models"},
      {"gs://models/a/b/", "gs://models", "a/b/", "gs/models"},
      {"gs://models", "gs://models", "", "gs/models"},
      {"az://models/a", "az://models", "a", "az/models"},
      {"swift://my models/a", "swift://my models", "a", "swift/my models"},
      {"https://acc.blob.core.windows.net/models/a", "https://acc.blob.core.windows.net/models", "a",
       "az/acc.blob.core.windows.net/models"},
  };
  for (const Case& one : cases) {
    auto address = parse_store_address(one.text);
    ASSERT_TRUE(address.ok()) << one.text << ": " << address.status().text();
    EXPECT_EQ(address->root(), one.root);
    EXPECT_EQ(address->key, one.key);
    EXPECT_EQ(address->text(), one.text);
    EXPECT_EQ(address->folder(), one.folder);
    EXPECT_TRUE(is_store_address(one.text));
  }
}

TEST(StoreAddress, OtherUrlsAreNone) {
  for (const char* text :
       {"/home/x", "https://example.com/models/a", "https://acc.blob.core.windows.net/models/a?sv=1&sig=x",
        "https://blob.core.windows.net/x", "https://acc.blob.core.windows.net.evil.com/models",
        "gcs://models", ""}) {
    EXPECT_FALSE(is_store_address(text)) << text;
    auto address = parse_store_address(text);
    EXPECT_EQ(address.status().code(), Code::Invalid) << text;
    EXPECT_EQ(address.status().text().find("sig="), std::string::npos);
  }
}

TEST(StoreAddress, NamesThatNoContainerCanHaveAreRefused) {
  for (const char* text : {"gs://", "gs:///a", "gs://UPPER/a", "gs://-x-/a", "az://a_b/c", "az://ab/c",
                           "az://a--b/c", "s3://a b/c", "swift:///c", "https://acc.blob.core.windows.net/"}) {
    EXPECT_EQ(parse_store_address(text).status().code(), Code::Invalid) << text;
  }
}

TEST(StoreAddress, AFolderHasNoPartsThatServersReadDifferently) {
  auto folder = parse_store_folder("gs://models/team/");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->text(), "gs://models/team");
  for (const char* text : {"gs://models/a//b", "gs://models/../b", "az://models/./b", "swift://models/a?b",
                           "s3://models/a#b", "s3://UP/a", "gs://models/a\nb"}) {
    EXPECT_EQ(parse_store_folder(text).status().code(), Code::Invalid) << text;
  }
}

TEST(StoreAddress, OnlyASwiftCannotTellTwoWritersApart) {
  EXPECT_FALSE(writes_on_condition(*parse_store_address("swift://states")));
  for (const char* text : {"s3://states", "gs://states", "az://states"})
    EXPECT_TRUE(writes_on_condition(*parse_store_address(text)));
}

}  // namespace
}  // namespace radl
