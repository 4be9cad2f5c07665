// Writes files into an archive that libarchive has open.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <utility>
#include <vector>

namespace radl::test {

// Each a name and its bytes; then the archive is closed and freed.
inline void write_members(struct archive* to,
                          const std::vector<std::pair<std::string, std::string>>& members) {
  for (const auto& [name, bytes] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, la_int64_t(bytes.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_write_header(to, entry);
    archive_write_data(to, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(to);
  archive_write_free(to);
}

}  // namespace radl::test
