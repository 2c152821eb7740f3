#include "cli/training_program.h"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace medley::cli {
namespace {

/// Both output streams of the program, read to their end.
std::string output_of(const std::filesystem::path& program, const char* verb) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::string name = program.string();
  std::string word = verb;
  const std::array<char*, 3> arguments = {name.data(), word.data(), nullptr};
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (error != 0) {
    text = std::generic_category().message(error);
  } else {
    std::array<char, 4096> part{};
    for (;;) {
      const ssize_t count = read(ends[0], part.data(), part.size());
      if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) break;
    }
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return text;
}

}  // namespace

std::filesystem::path training_program() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "medley-nn";
}

nlohmann::ordered_json describe_training_program() {
  const std::filesystem::path program = training_program();
  if (access(program.c_str(), X_OK) != 0) return nullptr;
  std::string text = output_of(program, "libtorch");
  while (text.ends_with('\n')) text.pop_back();
  const std::string line = text.substr(text.rfind('\n') + 1);  // the first if there is one alone
  auto answer = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object()) return answer;
  return {{"error", line}};
}

}  // namespace medley::cli
