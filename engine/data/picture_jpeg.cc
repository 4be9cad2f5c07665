#include <cstdio>

#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

#include "engine/data/picture.h"

namespace radl::engine::data {
namespace {

// libjpeg reports errors by longjmp too: see picture_png.cc.
struct JpegRead {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char error[JMSG_LENGTH_MAX] = "";
  bool created = false;
  int channels = 3;
  uint64_t largest = 0;
  uint8_t* pixels = nullptr;
  ~JpegRead() {
    if (created) jpeg_destroy_decompress(&jpeg);
  }
};

void on_error(j_common_ptr c) {
  auto* r = static_cast<JpegRead*>(c->client_data);
  c->err->format_message(c, r->error);
  std::longjmp(r->jump, 1);
}

// A warning means damaged data that libjpeg would paper over with grey: that is a corrupt picture.
void on_message(j_common_ptr c, int level) {
  if (level < 0) on_error(c);
}
void on_output(j_common_ptr) {}

bool read_header(JpegRead& r, std::string_view bytes) {
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.jpeg);
  r.created = true;
  jpeg_mem_src(&r.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&r.jpeg, TRUE);
  if (uint64_t(r.jpeg.image_width) * r.jpeg.image_height > r.largest) {
    std::strcpy(r.error, "more pixels than allowed");
    return false;
  }
  const auto space = r.jpeg.jpeg_color_space;
  if (space == JCS_CMYK || space == JCS_YCCK) {
    std::strcpy(r.error, "CMYK colours");
    return false;
  }
  r.jpeg.out_color_space = r.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  r.jpeg.mem->max_memory_to_use = 256l << 20;
  return true;
}

// A progressive file may hold thousands of tiny scans that cost a full pass each.
constexpr int kMostScans = 100;

void on_progress(j_common_ptr c) {
  if (reinterpret_cast<j_decompress_ptr>(c)->input_scan_number > kMostScans) {
    auto* r = static_cast<JpegRead*>(c->client_data);
    std::strcpy(r->error, "too many scans");
    std::longjmp(r->jump, 1);
  }
}

bool read_rows(JpegRead& r) {
  if (setjmp(r.jump)) return false;
  r.progress.progress_monitor = on_progress;
  r.jpeg.progress = &r.progress;
  jpeg_start_decompress(&r.jpeg);
  const size_t row = size_t(r.jpeg.output_width) * size_t(r.jpeg.output_components);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    JSAMPROW to = r.pixels + size_t(r.jpeg.output_scanline) * row;
    jpeg_read_scanlines(&r.jpeg, &to, 1);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

}  // namespace

Result<Picture> decode_jpeg(std::string_view bytes, const DecodeLimits& limits) {
  JpegRead r;
  r.channels = limits.channels == 1 ? 1 : 3;
  r.largest = limits.largest;
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = on_error;
  r.errors.emit_message = on_message;
  r.errors.output_message = on_output;
  r.jpeg.client_data = &r;
  auto corrupt = [&] { return Status(Code::Corrupt, std::string("JPEG: ") + r.error); };
  if (!read_header(r, bytes)) return corrupt();
  Picture p{int(r.jpeg.image_height), int(r.jpeg.image_width), r.channels, {}};
  p.pixels.resize(size_t(p.height) * size_t(p.width) * size_t(p.channels));
  r.pixels = p.pixels.data();
  if (!read_rows(r)) return corrupt();
  return p;
}

}  // namespace radl::engine::data
