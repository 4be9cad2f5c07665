#include "runtime/state/document.h"

#include <zlib.h>

#include "runtime/state/schema.h"

namespace radl {

namespace {

constexpr int kGzip = 15 + 16;                // zlib.h: the largest window, with gzip's header
constexpr int kFast = 1;                      // a state is JSON in the main: also so it shrinks to a fifth
constexpr size_t kLargest = size_t{4} << 30;  // of a database; a bomb is larger
constexpr std::string_view kGzipMagic = "\x1f\x8b";

}  // namespace

Status damaged_document(const std::string& where) {
  return Status(Code::Corrupt, where + ": not a state of radlc, or damaged")
      .with_hint("restore an earlier version of it; radlc never starts over on its own");
}

Result<std::string> compressed(const std::string& bytes) {
  z_stream stream{};
  if (::deflateInit2(&stream, kFast, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return Status(Code::Quota, "state: out of memory");
  std::string out(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return code == Z_STREAM_END ? Result<std::string>(std::move(out))
                              : Result<std::string>(internal_error("zlib cannot compress the state"));
}

Result<std::string> decompressed(const std::string& document, const std::string& where) {
  if (!document.starts_with(kGzipMagic)) return document;
  z_stream stream{};
  if (::inflateInit2(&stream, kGzip) != Z_OK) return Status(Code::Quota, "state: out of memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(document.data()));
  stream.avail_in = static_cast<uInt>(document.size());
  std::string out, piece(size_t{1} << 18, '\0');
  int code = Z_OK;
  while (code == Z_OK && out.size() < kLargest) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    code = ::inflate(&stream, Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return code == Z_STREAM_END ? Result<std::string>(std::move(out))
                              : Result<std::string>(damaged_document(where));
}

Result<std::string> to_document(Database& db) {
  Result<std::string> bytes = db.whole_bytes();
  if (!bytes.ok()) return bytes.status();
  return compressed(*bytes);
}

Result<Database> open_document(const std::string& document, const std::string& where) {
  Result<std::string> bytes = decompressed(document, where);
  if (!bytes.ok()) return bytes.status();
  if (bytes->empty()) return damaged_document(where);
  Result<Database> db = Database::in_memory(*bytes);
  return db.ok() ? std::move(db) : Result<Database>(damaged_document(where));
}

Status bring_up_to_date(Database& db, const std::string& where, bool* upgraded) {
  Result<int> version = state_version(db);
  if (!version.ok()) return std::move(version).status().at(where);
  if (*version == 0) return damaged_document(where);
  if (upgraded) *upgraded = *version != kStateVersion;
  return migrate(db, *version, kStateVersion, migrations());
}

Result<Database> from_document(const std::string& document, const std::string& where) {
  Result<Database> db = open_document(document, where);
  if (!db.ok()) return db;
  const Result<long long> version = db->integer("PRAGMA user_version");
  if (version.ok() && *version == kHeadVersion)
    return Status(Code::Invalid, where + ": only the head of a state in a bucket, not a whole state")
        .with_hint("copy the whole state with `radlc state pull`");
  if (Status ready = bring_up_to_date(*db, where); !ready.ok()) return ready;
  return db;
}

}  // namespace radl
