// Files to Azure Blob Storage: small ones whole, large ones in blocks, several at a time. A block's id holds
// the checksum of its bytes, so a later call recognises the blocks that an earlier one sent.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <pugixml.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "common/transfer/answers.h"
#include "common/transfer/azure_blob.h"
#include "common/transfer/side_by_side.h"
#include "common/transfer/upload_note.h"

namespace radl::transfer {
namespace {

// A blob has 50,000 blocks at most, of up to 4,000 MiB.
constexpr uint64_t kUsualBlock = uint64_t{16} << 20, kSmallBlock = uint64_t{1} << 20, kMostBlocks = 50'000;
constexpr double kBlockStall = 60;

uint64_t block_bytes(uint64_t wanted, uint64_t size) {
  const uint64_t at_least = (size + kMostBlocks - 1) / kMostBlocks;
  const uint64_t rounded = (at_least + kSmallBlock - 1) / kSmallBlock * kSmallBlock;
  return std::max({wanted > 0 ? wanted : kUsualBlock, kSmallBlock, rounded});
}

}  // namespace

Result<std::vector<std::pair<std::string, uint64_t>>> parse_azure_blocks(std::string_view xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size()) || !document.child("BlockList"))
    return Status(Code::Corrupt, "the response is not a list of blocks");
  std::vector<std::pair<std::string, uint64_t>> blocks;
  for (const auto& block : document.child("BlockList").child("UncommittedBlocks").children("Block"))
    blocks.emplace_back(block.child_value("Name"), std::strtoull(block.child_value("Size"), nullptr, 10));
  return blocks;
}

class AzureUpload {
 public:
  AzureUpload(AzureBlob& store, const std::string& key, const std::string& path, uint64_t size,
              const Upload& how)
      : store_(store),
        key_(key),
        path_(path),
        how_(how),
        size_(size),
        block_(block_bytes(how.part_bytes, size)),
        ids_(size_t((size + block_ - 1) / block_)) {}

  Result<Object> run() {
    if (Status s = look(); !s.ok()) return s;
    Status sent = side_by_side(ids_.size(), size_t(std::max(1, how_.parallel)), how_.stop,
                               [&](size_t i, const Stop& stop) { return send(i, stop); });
    return sent.ok() ? commit() : Result<Object>(sent);
  }

 private:
  uint64_t bytes_of(size_t i) const { return std::min(block_, size_ - i * block_); }

  // Blocks that an earlier call sent.
  Status look() {
    auto answer =
        store_.call({.url = AzureBlob::with_query(store_.url(key_),
                                                  {{"comp", "blocklist"}, {"blocklisttype", "uncommitted"}}),
                     .stop = how_.stop});
    if (!answer.ok()) return answer.status();
    if (answer->status == 404) return {};
    if (!answer->ok()) return store_.error(*answer, key_);
    auto blocks = parse_azure_blocks(answer->body);
    if (!blocks.ok()) return Status(blocks.status()).at(store_.address(key_));
    for (auto& [id, bytes] : *blocks) there_[id] = bytes;
    return {};
  }

  Status send(size_t i, const Stop& stop) {
    auto md5 = md5_of_file(path_, i * block_, bytes_of(i));
    if (!md5.ok()) return md5.status();
    ids_[i] = base64_encode(fmt::format("radl{:08}", i + 1) + base64_decode(*md5).value());
    if (const auto known = there_.find(ids_[i]); known == there_.end() || known->second != bytes_of(i)) {
      http::Request request;
      request.upload_file = path_;
      request.upload_offset = i * block_;
      request.upload_length = bytes_of(i);
      request.stall_seconds = kBlockStall;
      auto answer = store_.call(
          {.method = "PUT",
           .url = AzureBlob::with_query(store_.url(key_), {{"comp", "block"}, {"blockid", ids_[i]}}),
           .headers = {{"Content-MD5", *md5}, {"Content-Type", "application/octet-stream"}},
           .stop = stop},
          std::move(request));
      if (!answer.ok()) return answer.status();
      if (!answer->ok()) return store_.error(*answer, key_).at("block " + std::to_string(i + 1));
    }
    std::lock_guard lock(mutex_);
    sent_ += bytes_of(i);
    if (how_.progress) how_.progress(sent_, size_);
    return {};
  }

  // The same list again makes the same blob: `Latest` finds what is committed already, too.
  Result<Object> commit() {
    auto md5 = md5_of_file(path_, 0, size_);
    if (!md5.ok()) return md5.status();
    if (Status same = still_as_long(path_, size_); !same.ok()) return same;
    http::Request request;
    request.body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    for (const std::string& id : ids_) request.body += "<Latest>" + id + "</Latest>";
    request.body += "</BlockList>";
    auto answer = store_.call({.method = "PUT",
                               .url = AzureBlob::with_query(store_.url(key_), {{"comp", "blocklist"}}),
                               .headers = {{"Content-Type", "application/xml"},
                                           {"x-ms-blob-content-type", "application/octet-stream"},
                                           {"x-ms-blob-content-md5", *md5}},
                               .stop = how_.stop},
                              std::move(request));
    if (!answer.ok()) return answer.status();
    if (!answer->ok()) return store_.error(*answer, key_);
    return Object{key_, unquote_etag(answer->header("etag")), size_,
                  http_time(answer->header("last-modified"))};
  }

  AzureBlob& store_;
  const std::string& key_;
  const std::string& path_;
  const Upload& how_;
  const uint64_t size_, block_;
  std::vector<std::string> ids_;
  std::map<std::string, uint64_t> there_;
  std::mutex mutex_;
  uint64_t sent_ = 0;
};

Result<Object> AzureBlob::put_whole(const std::string& key, const std::string& path, uint64_t size,
                                    const Upload& how) {
  auto md5 = md5_of_file(path, 0, size);
  if (!md5.ok()) return md5.status();
  http::Request request;
  request.upload_file = path;
  request.upload_length = size;
  request.stall_seconds = kBlockStall;
  request.progress = how.progress;
  auto answer = call({.method = "PUT",
                      .url = url(key),
                      .headers = {{"x-ms-blob-type", "BlockBlob"},
                                  {"Content-Type", "application/octet-stream"},
                                  {"Content-MD5", *md5}},
                      .stop = how.stop},
                     std::move(request));
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return error(*answer, key);
  return Object{key, unquote_etag(answer->header("etag")), size, http_time(answer->header("last-modified"))};
}

Result<Object> AzureBlob::put_file(const std::string& key, const std::string& path, const Upload& how) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
  if (!S_ISREG(info.st_mode)) return invalid(path + " is not a regular file");
  const uint64_t size = uint64_t(info.st_size);
  if (size <= block_bytes(how.part_bytes, size)) return put_whole(key, path, size, how);
  return AzureUpload(*this, key, path, size, how).run();
}

}  // namespace radl::transfer
