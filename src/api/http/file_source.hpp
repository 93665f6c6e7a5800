// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/files/run_files.hpp"
#include "net/message.hpp"

#include <memory>

namespace ponk::api {

// `size` bytes of a file from `from` on, piece by piece. The first piece is read now, while a
// failure can still be told. One that turns out damaged later cuts the body short, which the client
// sees as a broken connection, never as a complete file; asking from there on it hears why.
Result<std::unique_ptr<net::BodySource>>
make_file_source(engine::OpenFile file, std::uint64_t from, std::uint64_t size);

// The file, or what the request's Range or `offset` asks for of it.
Result<net::Response> file_response(const net::Request& request, engine::OpenFile file);

}  // namespace ponk::api
