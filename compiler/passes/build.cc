#include "compiler/passes/build.h"

#include <algorithm>
#include <filesystem>

namespace radl::passes {

void SpanMap::add(uint32_t made_file, uint32_t source_file, std::vector<Piece> pieces) {
  files_[made_file] = File{source_file, std::move(pieces)};
}

Span SpanMap::back(Span made) const {
  auto found = files_.find(made.file);
  if (found == files_.end()) return made;
  const std::vector<Piece>& pieces = found->second.pieces;
  // A place inside a replaced piece becomes the whole placeholder.
  auto map = [&](uint32_t at, bool end) {
    auto after = std::upper_bound(pieces.begin(), pieces.end(), at,
                                  [](uint32_t offset, const Piece& p) { return offset < p.made_begin; });
    if (after == pieces.begin()) return at;
    const Piece& piece = *(after - 1);
    if (at < piece.made_end || (end && at == piece.made_end))
      return end && at > piece.made_begin ? piece.source_end : piece.source_begin;
    return piece.source_end + (at - piece.made_end);
  };
  return {found->second.source_file, map(made.begin, false), map(made.end, true)};
}

bool SpanMap::given(Span made) const {
  auto found = files_.find(made.file);
  return found != files_.end() &&
         std::any_of(found->second.pieces.begin(), found->second.pieces.end(), [&](const Piece& piece) {
           return piece.made_begin < made.end && made.begin < piece.made_end;
         });
}

ir::Origin Build::origin(Span span) const {
  span = filled.back(span);
  const SourceFile* file = sources.find(span.file);
  if (file == nullptr) return {};
  Position position = file->position(span.begin);
  return {file->path(), position.line, position.column};
}

std::string Build::folder_of(uint32_t file) const {
  const SourceFile* source = sources.find(file);
  if (source == nullptr && !files.empty()) source = files.front();
  return source == nullptr ? std::string() : std::filesystem::path(source->path()).parent_path().string();
}

std::vector<std::string> Build::node_addresses(const std::string& system) const {
  std::vector<std::string> addresses;
  if (auto found = nodes_of.find(system); found != nodes_of.end()) {
    for (size_t place : found->second) addresses.push_back(program.nodes[place].address);
  }
  return addresses;
}

}  // namespace radl::passes
