// The IR reader: a document from anybody is refused, or is a program that every stage may rely on and that is
// written back as it was understood.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compiler/ir/ir.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl;
  auto program = ir::parse_program(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!program.ok()) return 0;
  if (!ir::verify(*program).ok()) std::abort();
  ir::Json written = ir::to_json(*program);
  auto again = ir::from_json(written);
  if (!again.ok() || ir::to_json(*again) != written) std::abort();
  for (const ir::Step& step : program->steps) {
    ir::unknowns_in(step);
    ir::secrets_in(step);
  }
  return 0;
}
