// A machine whose commands fail on demand: every program that a script of ours starts is counted, and the
// chosen one fails, before or after it has done its work.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/net/ssh/node_files.h"

namespace radl::test {

enum class When { Before, After };

// This machine, with another home folder and without a server.
class ProcessRemote : public Remote {
 public:
  explicit ProcessRemote(std::string home) : home_(std::move(home)) {}
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    auto ran = run_process(environment_of_process(), {.argv = {"/bin/sh", "-c", "cd \"$HOME\"; " + command},
                                                      .stdin_bytes = options.stdin_bytes,
                                                      .environment = {{"HOME", home_}},
                                                      .deadline = options.deadline,
                                                      .stop = options.stop,
                                                      .on_output = options.on_output});
    if (!ran) return ran.status();
    return ExecResult{ran->exit_status, ran->out, ran->err};
  }
  Result<bool> put_file(const std::string& local, const std::string& remote, unsigned mode,
                        const Stop& stop) override {
    auto content = read_file(local);
    if (!content) return content.status();
    return put_bytes(*content, remote, mode, stop);
  }
  Result<bool> put_bytes(std::string_view content, const std::string& remote, unsigned mode,
                         const Stop&) override {
    Status s = write_file_atomic(path(remote), content, mode);
    if (!s.ok()) return s;
    return true;
  }
  Status get_file(const std::string& remote, const std::string& local, const Stop&) override {
    auto content = read_file(path(remote));
    return content ? write_file_atomic(local, *content) : content.status();
  }
  Result<RemoteFile> stat(const std::string& remote, const Stop&) override {
    auto result = exec(ssh::stat_script(remote), {});
    if (!result) return result.status();
    return ssh::parse_stat(remote, *result);
  }

 private:
  std::string path(const std::string& remote) const {
    return remote.starts_with("~/") ? home_ + remote.substr(1) : remote;
  }
  std::string home_;
};

// Wraps a machine. What goes through exec() meets the faults; files that are put and fetched do not.
class FaultyRemote : public Remote {
 public:
  explicit FaultyRemote(Remote& remote) : remote_(remote) {
    std::string made = shell(R"sh(set -e
mkdir -p ~/.faults/bin ~/.faults/fakes
cd ~/.faults
cat > fault <<'FAULT'
#!/bin/sh
PATH=${PATH#*:}
n=${0##*/}
top=${0%/bin/*}
echo "$n" >> "$top/calls"
c=0
while read -r x; do c=$((c + 1)); done < "$top/calls"
read -r at after < "$top/at"
[ $c = "$at" ] || exec "$n" "$@"
[ $after = 0 ] || "$n" "$@"
echo "$n: injected failure" >&2
exit 74
FAULT
chmod +x fault
for n in awk base64 blkid cat chgrp chmod chown cp curl cut date dirname find getent grep head id install ln ls mkdir \
  mktemp mount mv readlink rm rmdir sed sha256sum sleep sort stat sync tail tar touch tr umount wc wg wg-quick ip cmp \
  useradd usermod userdel dpkg-query apt-get apt-cache rpm apk systemctl update-rc.d wget xargs; do
  ln -sf ../fault bin/$n
done
echo made)sh");
    EXPECT_EQ(made, "made\n");
  }

  // The k-th program fails, from 1 on. `before`: shell text that meets no faults and comes first; its output.
  std::string arm(int k, When when, const std::string& before = ":") {
    armed_ = true;
    return shell("(" + before + "\n)\ncd ~/.faults && : > calls && echo " + std::to_string(k) +
                 (when == When::After ? " 1" : " 0") + " > at");
  }
  // The programs that were started since.
  std::vector<std::string> disarm() {
    armed_ = false;
    std::vector<std::string> calls;
    std::istringstream lines(shell("cat ~/.faults/calls"));
    for (std::string line; std::getline(lines, line);) calls.push_back(line);
    return calls;
  }
  // A program that stands in for the computer's own.
  void fake(const std::string& name, const std::string& script) {
    shell("cat > ~/.faults/fakes/" + name + " <<'FAKE'\n#!/bin/sh\n" + script +
          "\nFAKE\nchmod +x ~/.faults/fakes/" + name);
  }
  // Output of a command that meets no faults.
  std::string shell(const std::string& command) {
    ExecOptions options;
    options.stdin_bytes = command + "\n";
    auto result = remote_.exec("/bin/sh -s", options);
    return result ? result->out : result.status().text();
  }

  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    std::string path = "\"$HOME\"/.faults/fakes:\"$PATH\"";
    if (armed_) path = "\"$HOME\"/.faults/bin:" + path;
    const std::string set = "PATH=" + path + "; export PATH; ";
    // What keeps the lease of the node (runtime/net/lease.h) is not part of a step's script; a look that
    // comes with it is.
    if (command.starts_with("exec /bin/sh -s")) {
      const std::string taken = "\necho taken\n";
      const size_t at = options.stdin_bytes.find(taken);
      EXPECT_NE(at, std::string::npos);
      ExecOptions with = options;
      with.stdin_bytes.insert(at + taken.size(), set + "\n");
      return remote_.exec(command, with);
    }
    size_t below = command.find("( /bin/sh -s");
    return remote_.exec(std::string(command).insert(below == std::string::npos ? 0 : below + 2, set),
                        options);
  }
  Result<bool> put_file(const std::string& local, const std::string& remote, unsigned mode,
                        const Stop& stop) override {
    return remote_.put_file(local, remote, mode, stop);
  }
  Result<bool> put_bytes(std::string_view content, const std::string& remote, unsigned mode,
                         const Stop& stop) override {
    return remote_.put_bytes(content, remote, mode, stop);
  }
  Status get_file(const std::string& remote, const std::string& local, const Stop& stop) override {
    return remote_.get_file(remote, local, stop);
  }
  Result<RemoteFile> stat(const std::string& remote, const Stop&) override {
    auto result = exec(ssh::stat_script(remote), {});
    if (!result) return result.status();
    return ssh::parse_stat(remote, *result);
  }

 private:
  Remote& remote_;
  bool armed_ = false;
};

}  // namespace radl::test
