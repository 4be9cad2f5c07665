#include "runtime/steps/jobs/unpacking.h"

#include <fmt/format.h>

#include "common/shell_quote.h"

namespace radl::jobs {
namespace {

// With modes and links, which `python3 -m zipfile` forgets. Links come last: nothing is written through one.
constexpr const char* kUnzip = R"py(import os, stat, sys, zipfile
archive, top = sys.argv[1:]
links = []
with zipfile.ZipFile(archive) as members:
    for member in members.infolist():
        mode = member.external_attr >> 16
        if stat.S_ISLNK(mode):
            links.append((member.filename, members.read(member)))
            continue
        path = members.extract(member, top)
        if mode and not member.is_dir():
            os.chmod(path, mode & 0o777)
for name, target in links:
    if name.startswith("/") or ".." in name.split("/"):
        sys.exit(name + ": leaves the archive")
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path.encode())
)py";

}  // namespace

std::string unpack_command(const std::string& archive) {
  const bool zip = archive.ends_with(".zip") || archive.ends_with(".whl");
  return zip ? fmt::format("python3 -c {} \"$a\" \"$t\"", shell_quote(kUnzip))
             // BusyBox's tar detects gzip by itself only in an archive of at least 512 bytes.
             : "z=; case $(head -c 2 \"$a\" | od -An -tx1) in *1f*8b*) z=z ;; esac\n"
               "tar -x${z}f \"$a\" --no-same-owner -C \"$t\"";
}

}  // namespace radl::jobs
