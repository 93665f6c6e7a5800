#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the check of TRY finds, and what it lets pass."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_try


class CheckTry(unittest.TestCase):
    def found(self, source, count=1):
        self.assertEqual(len(check_try.late_tries(source)), count, source)

    def passes(self, source):
        self.found(source, 0)

    def test_behind_another_element(self):
        self.found("{ Thing thing{a, TRY(b)}; }")
        self.found("{ return Thing{.a = x, .b = TRY(y)}; }")
        self.found("{ list.push_back({std::move(id), TRY(step()).value_or(0)}); }")
        self.found("{ return reply({{\"trace\", wrapped(TRY(get(1)))}}); }")
        self.found("{ return Thing{a, TRY(b), TRY(c)}; }", 2)

    def test_in_an_element_that_is_a_call_or_an_initializer(self):
        self.found("{ Thing thing{a, f(g(TRY(b)))}; }")
        self.found("{ Thing thing{a, {TRY(b)}}; }")

    def test_the_first_element_has_nothing_before_it(self):
        self.passes("{ Thing thing{TRY(b), a}; }")
        self.passes("{ return Thing{{TRY(b)}, a}; }")

    def test_arguments_and_statements_are_no_elements(self):
        self.passes("{ f(a, TRY(b)); }")
        self.passes("{ int a = 1, b = 2; TRY(c); }")
        self.passes("{ if (x) { f(a, b); TRY(c); } }")
        self.passes("namespace n { void f(int a, int b) { if (a) { TRY(c); } } }")

    def test_a_lambda_among_elements_leaves_only_itself(self):
        self.passes("{ Thing thing{a, [&]() -> Result<> { TRY(b); return {}; }}; }")
        self.found("{ Thing thing{a, [&] { return Other{c, TRY(b)}; }}; }")

    def test_words_in_comments_and_texts_do_not_count(self):
        self.passes("{ Thing thing{a, b}; // {a, TRY(b)}\n }")
        self.passes('{ f("{a, TRY(b)}", \'{\', R"(})"); TRY(c); }')
        self.passes("{ f(1'000'000, x); TRY(c); }")


if __name__ == "__main__":
    unittest.main()
