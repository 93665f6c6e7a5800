// SPDX-License-Identifier: Apache-2.0
// The compiled parts of Asio and Beast, in one place instead of in every file that uses them.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
