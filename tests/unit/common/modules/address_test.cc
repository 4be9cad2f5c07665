#include "common/modules/address.h"

#include <gtest/gtest.h>

namespace radl::vendored {
namespace {

Address parsed(const std::string& text) {
  auto address = parse_address(text, "site", "site");
  EXPECT_TRUE(address.ok()) << text << ": " << address.status().text();
  return address.ok() ? *address : Address();
}

TEST(Addresses, OfAGitRepository) {
  Address address = parsed("git::https://host/team/repo.git//web/server@v1.2");
  EXPECT_TRUE(address.git);
  EXPECT_FALSE(address.local);
  EXPECT_EQ(address.package, "git::https://host/team/repo.git@v1.2");
  EXPECT_EQ(address.location, "https://host/team/repo.git");
  EXPECT_EQ(address.ref, "v1.2");
  EXPECT_EQ(address.module, "web/server");
  EXPECT_EQ(parsed("git::ssh://git@host:22/repo.git//web").location, "ssh://git@host:22/repo.git");
  EXPECT_EQ(parsed("git::ssh://git@host/repo.git//web@feature/x").ref, "feature/x");
  EXPECT_TRUE(parsed("git::file:///srv/repo//web").local);
}

TEST(Addresses, OfAnArchive) {
  Address address = parsed("https://host/modules-2.tar.gz//modules-2/web");
  EXPECT_FALSE(address.git);
  EXPECT_EQ(address.package, "https://host/modules-2.tar.gz");
  EXPECT_EQ(address.module, "modules-2/web");
}

TEST(Addresses, PathsAreRelativeToTheFileAndPinnedRelativeToTheProject) {
  auto of = [](const std::string& text, const std::string& folder) {
    auto address = parse_address(text, folder, "site");
    return address.ok() ? address->package : address.status().text();
  };
  EXPECT_EQ(of("./mods.zip//web", "site"), "./mods.zip");
  EXPECT_EQ(of("../mods.zip//web", "site/modules"), "./mods.zip");
  EXPECT_EQ(of("../mods.zip//web", "site"), "../mods.zip");
  EXPECT_EQ(of("git::../repo//web@v1", "site"), "git::../repo@v1");
  EXPECT_EQ(of("/srv/mods.zip//web", "site"), "/srv/mods.zip");
}

TEST(Addresses, PlainModulesAreNone) {
  for (const char* text : {"web", "./web", "std/training/all_reduce", "../a/b.zip.d/c", "web.server"})
    EXPECT_FALSE(is_address(text)) << text;
  for (const char* text : {"git::x", "https://host/a", "./mods.zip//web", "./mods.tar.gz"})
    EXPECT_TRUE(is_address(text)) << text;
}

TEST(Addresses, CredentialsAreRefusedWithoutBeingRepeated) {
  for (const char* text : {"git::https://me:SECRET@host/r.git//m", "git::https://SECRET@host/r.git//m",
                           "git::ssh://me:SECRET@host/r.git//m", "https://host/a.zip?token=SECRET//m",
                           "https://host/a.zip#SECRET//m"}) {
    auto address = parse_address(text, "", "");
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), Code::Auth) << text;
    EXPECT_EQ(address.status().text().find("SECRET"), std::string::npos) << address.status().text();
  }
}

TEST(Addresses, WhatGitWouldTakeForSomethingElseIsRefused) {
  for (const char* text :
       {"git::http://host/r.git//m", "git::ext::sh -c id//m", "git::https://-oX/r.git//m", "git::-x//m",
        "git::https://host/r.git//m@-x", "git::https://host/r.git//m@a..b", "git::https://host/r.git//m@a b",
        "git::https://host/r.git//m@", "git::https://host/r.git//../m", "git::https://host/r.git//.git/m",
        "git::https://host/r.git", "git::https://host/r.git@v1//m", "git::git@host:r.git//m",
        "https://host/r//m", "ftp://host/a.zip//m", "file://host/a.zip//m", "a.zip//m",
        "https://host/a.zip//m.radl"})
    EXPECT_FALSE(parse_address(text, "", "").ok()) << text;
}

TEST(Addresses, OfAllModulesOfAPackage) {
  for (const char* text : {"git::https://host/r.git//a/b@v1", "git::ssh://git@host/r.git//a@x/y",
                           "git::ssh://git@host/r.git//a", "https://host/a.tar.gz//m", "/srv/a.zip//m"}) {
    Address address = parsed(text);
    EXPECT_EQ(address_of(address.package, address.module), text);
  }
}

TEST(Addresses, HaveAShortName) {
  EXPECT_EQ(short_name("git::https://host/team/repo.git@feature/x"), "repo");
  EXPECT_EQ(short_name("git::ssh://git@host/repo.git"), "repo");
  EXPECT_EQ(short_name("https://host/modules-2.tar.gz"), "modules-2");
  EXPECT_EQ(short_name("git::file:///srv/a b/..x@v1"), "module..x");
}

}  // namespace
}  // namespace radl::vendored
