#include <cstdio>

#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

#include "engine/data/image.h"

namespace radl::engine::data {
namespace {

// libjpeg reports errors by longjmp too: see image_png.cc.
struct JpegRead {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char error[JMSG_LENGTH_MAX] = "";
  bool created = false;
  int channels = 3, orientation = 1;
  DecodeLimits limits;
  uint8_t* pixels = nullptr;
  uint8_t* cmyk = nullptr;  // one row, when the file's colours are those of print
  ~JpegRead() {
    if (created) jpeg_destroy_decompress(&jpeg);
  }
};

void on_error(j_common_ptr c) {
  auto* r = static_cast<JpegRead*>(c->client_data);
  c->err->format_message(c, r->error);
  std::longjmp(r->jump, 1);
}

// A warning means damaged data that libjpeg would paper over with grey: that is a corrupt image.
void on_message(j_common_ptr c, int level) {
  if (level < 0) on_error(c);
}
void on_output(j_common_ptr) {}

// The number of bytes of an EXIF block's number, in the block's order.
uint32_t exif_number(const uint8_t* at, int bytes, bool big) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v = v << 8 | at[big ? i : bytes - 1 - i];
  return v;
}

// Tag 0x0112 of the first directory (EXIF 2.3, section 4.6); 1 if it is missing or the block is damaged.
int exif_orientation(const uint8_t* data, size_t size) {
  if (size < 14 || std::memcmp(data, "Exif\0\0", 6) != 0) return 1;
  const uint8_t* tiff = data + 6;
  size -= 6;
  const bool big = tiff[0] == 'M';
  if (exif_number(tiff + 2, 2, big) != 42) return 1;
  const size_t directory = exif_number(tiff + 4, 4, big);
  if (directory > size - 2) return 1;
  const size_t entries = exif_number(tiff + directory, 2, big);
  for (size_t i = 0; i < entries; ++i) {
    const size_t at = directory + 2 + 12 * i;
    if (at + 12 > size) return 1;
    if (exif_number(tiff + at, 2, big) != 0x0112) continue;
    const uint32_t value = exif_number(tiff + at + 8, 2, big);
    return value >= 1 && value <= 8 ? int(value) : 1;
  }
  return 1;
}

bool prints(const JpegRead& r) {
  return r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
}

bool read_header(JpegRead& r, std::string_view bytes) {
  if (setjmp(r.jump)) return false;
  jpeg_create_decompress(&r.jpeg);
  r.created = true;
  jpeg_save_markers(&r.jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_mem_src(&r.jpeg, reinterpret_cast<const unsigned char*>(bytes.data()),
               static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&r.jpeg, TRUE);
  for (auto* m = r.jpeg.marker_list; m != nullptr && r.orientation == 1; m = m->next)
    r.orientation = exif_orientation(m->data, m->data_length);
  return true;
}

bool set_up(JpegRead& r) {
  if (setjmp(r.jump)) return false;
  if (uint64_t(r.jpeg.image_width) * r.jpeg.image_height > r.limits.largest) {
    std::snprintf(r.error, sizeof r.error, "%u x %u: more pixels than the %llu allowed", r.jpeg.image_width,
                  r.jpeg.image_height, static_cast<unsigned long long>(r.limits.largest));
    return false;
  }
  r.jpeg.out_color_space = prints(r) ? JCS_CMYK : r.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  r.jpeg.mem->max_memory_to_use = 256l << 20;
  DecodeLimits stored = r.limits;  // as it lies in the file
  if (r.orientation >= 5) std::swap(stored.enough_height, stored.enough_width);
  r.jpeg.scale_num = 1;
  r.jpeg.scale_denom =
      unsigned(decode_denominator(int(r.jpeg.image_height), int(r.jpeg.image_width), stored));
  jpeg_calc_output_dimensions(&r.jpeg);
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

// Inks to light. Adobe's programs store the inks inverted and say so by a marker of theirs.
void from_cmyk(const JpegRead& r, const uint8_t* in, uint8_t* out) {
  const bool inverted = r.jpeg.saw_Adobe_marker;
  for (JDIMENSION x = 0; x < r.jpeg.output_width; ++x, in += 4) {
    int rgb[3];
    for (int c = 0; c < 3; ++c) rgb[c] = inverted ? in[c] * in[3] / 255 : (255 - in[c]) * (255 - in[3]) / 255;
    if (r.channels == 1) {
      *out++ = uint8_t((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    } else {
      for (int v : rgb) *out++ = uint8_t(v);
    }
  }
}

bool read_rows(JpegRead& r) {
  if (setjmp(r.jump)) return false;
  r.progress.progress_monitor = on_progress;
  r.jpeg.progress = &r.progress;
  jpeg_start_decompress(&r.jpeg);
  const size_t row = size_t(r.jpeg.output_width) * size_t(r.channels);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    uint8_t* to = r.pixels + size_t(r.jpeg.output_scanline) * row;
    JSAMPROW line = r.cmyk ? r.cmyk : to;
    jpeg_read_scanlines(&r.jpeg, &line, 1);
    if (r.cmyk) from_cmyk(r, r.cmyk, to);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

void begin(JpegRead& r) {
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = on_error;
  r.errors.emit_message = on_message;
  r.errors.output_message = on_output;
  r.jpeg.client_data = &r;
}

Status corrupt(const JpegRead& r) { return {Code::Corrupt, std::string("JPEG: ") + r.error}; }

}  // namespace

Result<ImageInfo> inspect_jpeg(std::string_view bytes) {
  JpegRead r;
  begin(r);
  if (!read_header(r, bytes)) return corrupt(r);
  const int height = int(r.jpeg.image_height), width = int(r.jpeg.image_width);
  const bool turned = r.orientation >= 5;
  return ImageInfo{turned ? width : height, turned ? height : width, r.jpeg.jpeg_color_space == JCS_GRAYSCALE,
                   true};
}

Result<Image> decode_jpeg(std::string_view bytes, const DecodeLimits& limits) {
  JpegRead r;
  r.channels = limits.channels == 1 ? 1 : 3;
  r.limits = limits;
  begin(r);
  if (!read_header(r, bytes) || !set_up(r)) return corrupt(r);
  Image p{int(r.jpeg.output_height), int(r.jpeg.output_width), r.channels, {}};
  if (limits.admit) {
    const uint64_t all = uint64_t(r.jpeg.image_width) * r.jpeg.image_height;
    // For several scans, libjpeg keeps all coefficients, two bytes each; a rotated image is copied.
    const uint64_t kept = jpeg_has_multiple_scans(&r.jpeg) ? 2 * uint64_t(r.jpeg.num_components) * all : 0;
    const uint64_t decoded = uint64_t(p.height) * uint64_t(p.width) * uint64_t(r.channels);
    if (Status s = limits.admit(all, kept + (r.orientation > 1 ? 2 : 1) * decoded); !s.ok()) return s;
  }
  p.pixels.resize(size_t(p.height) * size_t(p.width) * size_t(p.channels));
  std::vector<uint8_t> cmyk(prints(r) ? size_t(p.width) * 4 : 0);
  r.pixels = p.pixels.data();
  r.cmyk = cmyk.empty() ? nullptr : cmyk.data();
  if (!read_rows(r)) return corrupt(r);
  return orient(std::move(p), r.orientation);
}

}  // namespace radl::engine::data
