// SPDX-License-Identifier: Apache-2.0
// Fortran's handles in threads: an object that one thread ends while another one uses it. Under the
// address sanitizer.
#include <gmock/gmock.h>

#include "../bindings/c/handles.hpp"
#include "unit/session/endpoint_model.hpp"

// As in bindings/c/fortran_handles.cpp.
extern "C" {
std::int64_t afterbay_fortran_keep_endpoint(afterbay_endpoint* endpoint);
std::int64_t afterbay_fortran_keep_file(afterbay_file* file);
afterbay_endpoint* afterbay_fortran_endpoint(std::int64_t number);
afterbay_file* afterbay_fortran_file(std::int64_t number);
void afterbay_fortran_end_endpoint(std::int64_t number);
void afterbay_fortran_end_file(std::int64_t number);
}

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

TEST(ThreadFortranHandles, what_was_found_before_it_ended_is_refused_and_not_freed) {
  const Directory directory;
  LocalRun run(1, 1, settings());
  expect_no_errors(run.run([&](Session& session, int rank) {
    Collection history = define(session, "netcdf4", directory, 1, rank);
    const std::vector<double> values(levels * rows * columns, 1.0);
    const std::int64_t file = afterbay_fortran_keep_file(new afterbay_file{history.open("c.nc")});
    const std::int64_t endpoint = afterbay_fortran_keep_endpoint(new afterbay_endpoint{session.endpoint()});
    afterbay_file* const found_file = afterbay_fortran_file(file);
    afterbay_endpoint* const found_endpoint = afterbay_fortran_endpoint(endpoint);
    const auto put = [&] {
      return afterbay_endpoint_put(found_endpoint, found_file, "t", 0, AFTERBAY_FLOAT64, values.data(),
                                   nullptr, nullptr);
    };
    found_endpoint->endpoint.whole("grid");
    EXPECT_EQ(put(), AFTERBAY_OK) << afterbay_last_error();
    EXPECT_EQ(afterbay_endpoint_end_step(found_endpoint), AFTERBAY_OK) << afterbay_last_error();
    session.end_step();
    found_file->file.close();
    afterbay_fortran_end_file(file);
    EXPECT_NE(afterbay_fortran_file(file), found_file);
    EXPECT_EQ(put(), AFTERBAY_BAD_STATE);
    EXPECT_THAT(afterbay_last_error(), HasSubstr("the file is closed on this rank"));
    found_endpoint->endpoint.close();
    afterbay_fortran_end_endpoint(endpoint);
    EXPECT_EQ(put(), AFTERBAY_BAD_STATE);
    EXPECT_THAT(afterbay_last_error(), HasSubstr("endpoint 1, which has been closed"));
    session.finalize();
  }));
}

}  // namespace
}  // namespace afterbay::test
