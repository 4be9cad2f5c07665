// The part of read_cursor (cursor.h) that follows blocks, groups and values token by token.
#pragma once

#include "compiler/source/source.h"
#include "tools/lsp/cursor.h"

namespace radl::lsp {

// What could stand behind the tokens that end at `stop` or before: place, block, owner, feature, call.
Cursor read_tokens(const SourceFile& source, uint32_t stop);

}  // namespace radl::lsp
