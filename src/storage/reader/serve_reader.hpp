// SPDX-License-Identifier: Apache-2.0
// serve_reader: what a reader process does.
#pragma once

namespace afterbay::storage {

/// Answers requests until the other side closes the socket. Limits the memory, the processor time of each
/// request and the core files of this process, and closes its other descriptors. Gives the exit status.
int serve_reader(int socket);

}  // namespace afterbay::storage
