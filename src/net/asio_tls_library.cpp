// SPDX-License-Identifier: Apache-2.0
// The compiled part of Asio's TLS; apart, so that programs without it need no libssl.
#include <boost/asio/ssl/impl/src.hpp>
