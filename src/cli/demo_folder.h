#pragma once

#include <filesystem>

#include "report/demo_page.h"

namespace medley::cli {

/// What tools/demo leaves in its folder: contact_sheet.png (`medley demo`), theory/ (`medley theory
/// figures`), runs/ (`medley sweep`), gallery.png and comparison.json (`medley eval`). What is
/// missing is left out. Throws IoError for a file that is not what it should be.
[[nodiscard]] report::DemoPage read_demo_folder(const std::filesystem::path& folder);

}  // namespace medley::cli
