#include "runtime/state/document.h"

#include <zlib.h>

#include "runtime/state/schema.h"

namespace radl {

namespace {

constexpr int kGzip = 15 + 16;                // zlib.h: the largest window, with gzip's header
constexpr int kFast = 1;                      // a state is JSON in the main: also so it shrinks to a fifth
constexpr size_t kLargest = size_t{4} << 30;  // of a database; a bomb is larger
constexpr std::string_view kGzipMagic = "\x1f\x8b";

Status damaged(const std::string& where) {
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
  return code == Z_STREAM_END ? Result<std::string>(std::move(out)) : Result<std::string>(damaged(where));
}

}  // namespace

Result<std::string> to_document(Database& db) {
  Result<std::string> bytes = db.whole_bytes();
  if (!bytes.ok()) return bytes.status();
  return compressed(*bytes);
}

Result<Database> from_document(const std::string& document, const std::string& where) {
  const bool packed = document.starts_with(kGzipMagic);
  Result<std::string> bytes = packed ? decompressed(document, where) : Result<std::string>(document);
  if (!bytes.ok()) return bytes.status();
  if (bytes->empty()) return damaged(where);
  Result<Database> db = Database::in_memory(*bytes);
  if (!db.ok()) return damaged(where);
  Result<int> version = state_version(*db);
  if (!version.ok()) return std::move(version).status().at(where);
  if (*version == 0) return damaged(where);
  if (Status done = migrate(*db, *version, kStateVersion, migrations()); !done.ok()) return done;
  return db;
}

}  // namespace radl
