#include <medley/data/dataset.h>
#include <medley/data/image.h>

int main() {
  const medley::data::Image cat = medley::data::synthetic_image(1, 0, 0, {16, 24});
  return medley::data::decode_image(medley::data::encode_png(cat), "cat") == cat ? 0 : 1;
}
