#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/image_folder.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/mix_request.h"
#include "cli/output_options.h"
#include "cli/picture.h"
#include "cli/progress.h"
#include "cli/staged_output.h"
#include "medley/data/image.h"
#include "medley/error.h"
#include "medley/plan_edit.h"
#include "medley/sampler.h"

namespace fs = std::filesystem;

namespace medley::cli {
namespace {

using nlohmann::ordered_json;

void check_target(const FolderRequest& request) {
  std::error_code ignored;
  const fs::path target = request.output;
  if (fs::exists(target, ignored) && !fs::is_directory(target, ignored)) {
    throw InvalidArgument(fmt::format("--out must be a folder, {} is a file", request.output));
  }
  if (fs::equivalent(target, request.input, ignored)) {
    throw InvalidArgument(fmt::format(
        "--out must be another folder than that of the images, got {}", request.output));
  }
  remove_dead_parts(target);
  if (!request.overwrite && fs::is_directory(target, ignored) && !fs::is_empty(target, ignored)) {
    throw InvalidArgument(fmt::format(
        "folder {} is not empty; name another one, or use --overwrite to replace files of the "
        "same names",
        request.output));
  }
}

ImageFolder open_folder(const FolderRequest& request) {
  const std::vector<fs::path> files = data::list_images(request.input);
  if (files.empty()) {
    throw IoError(fmt::format("folder {} holds no PNG or JPEG files", request.input));
  }
  Progress progress("reading", std::ssize(files), request.quiet);
  return {
      files, {.size = request.size, .skip_broken = request.skip_broken, .exif = request.exif}, [&] {
        progress.tick();
        check_interrupt();
      }};
}

void note_folder(const FolderRequest& request, const ImageFolder& folder) {
  for (const std::string& note : folder.notes()) print_note(note, request.quiet);
  for (const std::string& problem : folder.problems()) {
    print_note(fmt::format("skipped: {}", problem), request.quiet);
  }
  if (!folder.problems().empty()) {
    print_note(fmt::format("{} of {} images skipped", folder.problems().size(),
                           folder.count() + std::ssize(folder.problems())),
               request.quiet);
  }
  if (folder.resized() > 0) {
    print_note(fmt::format("{} of {} images resized to {}x{} (height x width)", folder.resized(),
                           folder.count(), folder.size().height, folder.size().width),
               request.quiet);
  }
}

/// Labels of the images that are used, from one label per image file.
std::vector<std::int64_t> folder_labels(const FolderRequest& request, const ImageFolder& folder) {
  if (request.labels_file.empty()) return {};
  const std::vector<std::int64_t> all = read_labels(request.labels_file);
  const std::size_t files = folder.files().size() + folder.problems().size();
  if (all.size() != files) {
    throw InvalidArgument(fmt::format("{} must have one label per image file, {}, got {}",
                                      request.labels_file, files, all.size()));
  }
  std::vector<std::int64_t> labels;
  for (const std::size_t i : folder.used()) labels.push_back(all[i]);
  return labels;
}

/// The plan of the whole job, drawn piece by piece so that masks with a value per pixel need not
/// all be in memory. Output i is made from image i of the folder, again from the start when all
/// have had their turn.
class FolderPlan {
 public:
  FolderPlan(const FolderRequest& request, const ImageFolder& folder)
      : request_(request),
        labels_(folder_labels(request, folder)),
        sampler_(request.policy, folder.size(), request.seed) {
    draw_.dataset_size = folder.count();
    draw_.labels = labels_;
    draw_.threads = request.mix.threads;
    // Draws that a batch shares come in one piece, which has no image twice.
    const bool shared =
        request.policy.mode != Mode::sample || request.policy.pairing != Pairing::dataset;
    draw_.batch = shared ? std::min(request.count, folder.count())
                         : std::clamp<std::int64_t>(request.piece_values / folder.size().pixels(),
                                                    1, request.count);
    const std::int64_t pieces = (request.count + draw_.batch - 1) / draw_.batch;
    for (std::int64_t i = 0; i < pieces * draw_.batch; ++i) order_.push_back(i % folder.count());
    draw_.order = order_;
  }

  /// The plan of the outputs from `first` on, as many as one piece has.
  MixPlan next(std::int64_t first) {
    draw_.first = first;
    // The last batch is drawn whole, so that all its images have partners.
    MixPlan plan = sampler_.plan(draw_);
    const std::int64_t wanted = std::min(draw_.batch, request_.count - first);
    if (wanted < std::ssize(plan.entries)) plan = slice(plan, 0, wanted);
    ordered_json object = ordered_json::parse(to_json(plan, request_.masks));
    if (json_.is_null()) {
      json_ = std::move(object);
    } else {
      for (ordered_json& entry : object["entries"]) {
        // Numbers of fields count within a piece; without one the reader counts on.
        entry["mask"].erase("field");
        json_["entries"].push_back(std::move(entry));
      }
    }
    return plan;
  }

  /// Everything that was drawn so far, as JSON with the names of the files.
  [[nodiscard]] std::string text(const ImageFolder& folder) {
    ordered_json& files = json_["files"] = ordered_json::array();
    for (const fs::path& file : folder.files()) files.push_back(file.filename().string());
    return to_text(json_);
  }

 private:
  const FolderRequest& request_;
  std::vector<std::int64_t> labels_;
  std::vector<std::int64_t> order_;
  Sampler sampler_;
  PlanRequest draw_;
  ordered_json json_;
};

void write_pictures(const FolderRequest& request, const ImageFolder& folder, StagedFolder& output) {
  FolderPlan plans(request, folder);
  Progress progress("mixing", request.count, request.quiet);
  for (std::int64_t first = 0; first < request.count;) {
    const MixPlan plan = plans.next(first);
    for (std::size_t i = 0; i < plan.entries.size(); ++i) {
      const data::Image image = mix_entry(
          plan, i, [&](std::int64_t index) { return folder.load(index); }, request.mix);
      output.write(fmt::format("{:06}.png", first + static_cast<std::int64_t>(i)),
                   data::encode_png(image));
      progress.tick();
      check_interrupt();
    }
    first += std::ssize(plan.entries);
  }
  output.write("plan.json", bytes_of(plans.text(folder)));
}

}  // namespace

void mix_folder(const FolderRequest& request) {
  if (request.count < 1) {
    throw InvalidArgument(fmt::format("count must be > 0, got {}", request.count));
  }
  check_target(request);
  watch_interrupts();
  const ImageFolder folder = open_folder(request);
  note_folder(request, folder);
  StagedFolder output(request.output);
  write_pictures(request, folder, output);
  output.commit();

  const fs::path plan_file = fs::path(request.output) / "plan.json";
  if (request.json) {
    print(to_text({{"schema", "medley.mix/1"},
                   {"method", request.policy.method.name()},
                   {"seed", request.seed},
                   {"count", request.count},
                   {"images", folder.count()},
                   {"skipped", folder.problems().size()},
                   {"height", folder.size().height},
                   {"width", folder.size().width},
                   {"output", request.output},
                   {"plan", plan_file.string()}}));
  } else {
    print(fmt::format("{}: {} pictures of {}x{} from {} images, {}, seed {}; plan in {}\n",
                      request.output, request.count, folder.size().height, folder.size().width,
                      folder.count(), request.policy.method.name(), request.seed,
                      plan_file.string()));
  }
}

}  // namespace medley::cli
