// SPDX-License-Identifier: Apache-2.0
// serve_reader: the work of a reader process.
#pragma once

namespace afterbay::storage {

/// Answers requests until the other side closes the socket. Limits the memory, the processor time
/// per request and the core files of this process, and closes its other descriptors. Returns the
/// exit status.
int serve_reader(int socket);

}  // namespace afterbay::storage
