// SPDX-License-Identifier: Apache-2.0
// Command lines, as shells read them.
#include "base/shell_line.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/printable.hpp"

namespace afterbay {
namespace {

/// What the shell writes when it executes the line.
std::string output_of(const std::string& shell, const std::string& line) {
  ::setenv("AFTERBAY_LINE", line.c_str(), 1);
  FILE* const pipe = ::popen((shell + " -c \"$AFTERBAY_LINE\"").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << line;
  return output;
}

TEST(ShellLine, plain_words_stay_as_they_are) {
  EXPECT_EQ(shell_line({"afterbay", "recover", "/a/b.nc"}), "afterbay recover /a/b.nc");
  EXPECT_EQ(shell_line({"x", "a b", ""}), "x 'a b' ''");
}

TEST(ShellLine, every_name_reaches_the_command_byte_by_byte_in_any_posix_shell) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& word :
       {std::string("it's"), std::string("$HOME `id` $(id) \"\\\" !x"), std::string("a\nb"),
        std::string("end\n"), std::string("\n\n"), std::string("\\n%s%%\n"), std::string("\xff\xfe"),
        std::string("caf\xc3\xa9\x1b[31m"), std::string("1\n2"), every_byte}) {
    const std::string line = shell_line({"printf", "%s|", word, "last"});
    EXPECT_EQ(printable_message(line), line) << "one line that does no harm on a terminal";
    for (const char* shell : {"sh", "bash"}) EXPECT_EQ(output_of(shell, line), word + "|last|") << line;
  }
}

}  // namespace
}  // namespace afterbay
