// radlc's keys are created once, and found by fingerprint wherever a user may keep them.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "common/files.h"
#include "runtime/net/ssh/key_places.h"
#include "runtime/net/ssh/keys.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

std::string fingerprint_by_openssh(const test::TemporaryFolder& folder, const std::string& file) {
  const std::string out = folder.path("print");
  EXPECT_EQ(std::system(("ssh-keygen -l -f '" + file + "' | cut -d' ' -f2 > '" + out + "'").c_str()), 0);
  std::string text = *read_file(out);
  return text.substr(0, text.find('\n'));
}

TEST(NamedKeys, AreMadeOncePrivatelyAndAsOpensshReadsThem) {
  test::TemporaryFolder folder;
  auto key = ssh::make_key(folder.path("keys/of"), "demo");
  ASSERT_TRUE(key.ok()) << key.status().text();
  struct stat info {};
  ASSERT_EQ(::stat(key->path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat(folder.path("keys/of").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);
  EXPECT_EQ(key->fingerprint, fingerprint_by_openssh(folder, key->path));
  auto again = ssh::make_key(folder.path("keys/of"), "demo");
  EXPECT_EQ(again->public_line, key->public_line);
  EXPECT_NE(ssh::make_key(folder.path("keys/of"), "other")->fingerprint, key->fingerprint);
  EXPECT_FALSE(ssh::make_key(folder.path("keys"), "../escape").ok());
}

TEST(NamedKeys, AreTheSameForAllThreadsThatAskAtOnce) {
  test::TemporaryFolder folder;
  std::vector<std::string> prints(8);
  std::vector<std::thread> threads;
  for (std::string& print : prints)
    threads.emplace_back([&] { print = ssh::make_key(folder.path(), "shared")->fingerprint; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(prints.begin(), prints.end()).size(), 1u);
}

TEST(KeysByReference, AreFoundInAnyOfTheFolders) {
  test::TemporaryFolder folder;
  auto key = ssh::make_key(folder.path("work/hosts"), "id");
  ssh::KeyPlaces places = ssh::key_places(environment_of_process(), folder.path("work"));
  EXPECT_EQ(ssh::find_key(key->fingerprint, places)->file, key->path);
  // Under another name, and without its public half beside it.
  std::filesystem::create_directories(folder.path("mine"));
  std::filesystem::rename(key->path, folder.path("mine/from_ana"));
  std::filesystem::remove_all(folder.path("work"));
  places.folders = {folder.path("not there"), folder.path("mine")};
  EXPECT_EQ(ssh::find_key(key->fingerprint, places)->file, folder.path("mine/from_ana"));
}

TEST(KeysByReference, AreFoundInTheAgent) {
  test::TemporaryFolder folder;
  auto key = ssh::make_key(folder.path(), "id");
  const std::string out = folder.path("agent");
  ASSERT_EQ(std::system(("ssh-agent -a '" + folder.path("socket") + "' -s > '" + out + "'").c_str()), 0);
  ASSERT_EQ(
      std::system(("SSH_AUTH_SOCK='" + folder.path("socket") + "' ssh-add -q '" + key->path + "'").c_str()),
      0);
  ssh::KeyPlaces places;
  places.agent = folder.path("socket");
  auto found = ssh::find_key(key->fingerprint, places);
  (void)std::system((". '" + out + "' > /dev/null; ssh-agent -k > /dev/null").c_str());
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_TRUE(found->in_agent);
  EXPECT_EQ(found->file, "");
}

TEST(KeysByReference, NameTheMissingKeyAndTheSearchedPlaces) {
  test::TemporaryFolder folder;
  ssh::KeyPlaces places;
  places.folders = {folder.path("a"), folder.path("b")};
  auto found = ssh::find_key("SHA256:unknown", places);
  EXPECT_EQ(found.status().code(), Code::NotFound);
  for (const std::string& part : {std::string("SHA256:unknown"), folder.path("a"), folder.path("b")})
    EXPECT_NE(found.status().message().find(part), std::string::npos) << found.status().message();
}

}  // namespace
}  // namespace radl
