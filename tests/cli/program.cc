#include "cli/program.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <jpeglib.h>

#include "medley/data/dataset.h"
#include "medley/data/image.h"

namespace medley::cli_test {
namespace {

namespace fs = std::filesystem;

/// An unnamed file.
class Scratch {
 public:
  explicit Scratch(const std::string& content = "") : file_(std::tmpfile()) {
    if (file_ == nullptr) throw std::runtime_error("no temporary file");
    std::fwrite(content.data(), 1, content.size(), file_);
    std::rewind(file_);
  }
  ~Scratch() { std::fclose(file_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] int descriptor() const { return fileno(file_); }
  [[nodiscard]] std::string content() const {
    std::rewind(file_);
    std::string text;
    for (int c = 0; (c = std::fgetc(file_)) != EOF;) text += static_cast<char>(c);
    return text;
  }

 private:
  std::FILE* file_;
};

int output_descriptor(Setting::Output output, const Scratch& captured) {
  if (output == Setting::Output::full_device) return open("/dev/full", O_WRONLY);
  if (output == Setting::Output::broken_pipe) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    close(ends[0]);
    return ends[1];
  }
  return captured.descriptor();
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

/// Everything the program writes to the terminal until it closes it.
std::string drain(int terminal) {
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = read(terminal, block, sizeof block)) > 0;) {
    text.append(block, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

Outcome medley(const Arguments& arguments, const Setting& setting) {
  const std::string program = setting.program.empty() ? MEDLEY_PROGRAM : setting.program.string();
  Arguments words = Arguments{program} + arguments;
  const std::vector<char*> argv = pointers(words);
  std::vector<std::string> variables = setting.variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  const std::vector<char*> environment = pointers(variables);
  const Scratch input(setting.input);
  const Scratch out;
  const Scratch err;
  const int out_descriptor = output_descriptor(setting.output, out);
  int terminal = -1;
  int err_descriptor = err.descriptor();
  const winsize size = {.ws_row = 25, .ws_col = setting.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (setting.error_is_terminal &&
      openpty(&terminal, &err_descriptor, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("no pseudo terminal");
  }

  const pid_t child = fork();
  if (child == 0) {
    if (!setting.folder.empty() && chdir(setting.folder.c_str()) != 0) _exit(126);
    dup2(input.descriptor(), STDIN_FILENO);
    dup2(err_descriptor, STDERR_FILENO);
    if (setting.output == Setting::Output::closed) {
      close(STDOUT_FILENO);
    } else {
      dup2(out_descriptor, STDOUT_FILENO);
    }
    // A test in the background of a script has them ignored.
    for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
    if (setting.before) setting.before();
    execve(argv[0], argv.data(), environment.data());
    _exit(127);
  }
  if (setting.output == Setting::Output::broken_pipe ||
      setting.output == Setting::Output::full_device) {
    close(out_descriptor);
  }
  if (setting.meanwhile) setting.meanwhile(child);
  std::string shown;
  if (terminal != -1) {
    close(err_descriptor);
    shown = drain(terminal);
    close(terminal);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);

  Outcome outcome;
  outcome.page_faults = used.ru_minflt;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = out.content();
  outcome.err = terminal != -1 ? shown : err.content();
  for (const char* complaint : {"Sanitizer", "runtime error:"}) {
    EXPECT_EQ(outcome.err.find(complaint), std::string::npos) << outcome.err;
  }
  return outcome;
}

Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

CliTest::CliTest() {
  std::string name = (fs::path(testing::TempDir()) / "medley-cli-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

CliTest::~CliTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> CliTest::names(const std::string& subfolder) const {
  std::vector<std::string> list;
  for (const auto& entry : fs::directory_iterator(folder_ / subfolder)) {
    list.push_back(entry.path().filename().string());
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_picture(const fs::path& path, int number, int height, int width) {
  data::write_png(
      path, data::synthetic_image(1, number, number % data::kSyntheticClasses, {height, width}));
}

void write_turned_jpeg(const fs::path& path, int number, int height, int width, int orientation) {
  write_jpeg(path, number, height, width);
  std::string exif(
      "\xFF\xE1\x00\x22"
      "Exif\0\0"
      "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0",
      28);
  exif += static_cast<char>(orientation) + std::string(7, '\0');
  std::string bytes = read_file(path);
  write_file(path, bytes.insert(2, exif));
}

void write_jpeg(const fs::path& path, int number, int height, int width) {
  data::Image image =
      data::synthetic_image(1, number, number % data::kSyntheticClasses, {height, width});
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw std::runtime_error("cannot write " + path.string());
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = image.rgb.data() + std::size_t{3} * jpeg.next_scanline * jpeg.image_width;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(file);
}

double mean_of(const nlohmann::json& rows) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& row : rows) {
    for (const auto& value : row) {
      sum += value.get<double>();
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

}  // namespace medley::cli_test
