# SPDX-License-Identifier: Apache-2.0
"""Compares ponk's JMESPath with the Python package `jmespath` on generated expressions.

    differential.py PATH_OF_query_lines [--count N] [--seed S] [--expressions FILE]

Exits 77 (skipped) when the package is not installed. Where the two differ on purpose:

- `!a.b`, `!a[]` and `!a[?x]` deny the whole operand; Python denies `a` first, so that all of these
  are null whatever the data. (Mended in the reference below, to compare all the rest.)
- `a.*.b.c` projects `.b.c` as `a[*].b.c` does; Python ends that projection after `b`. (Mended.)
- Ordering a number against a string is null, as the specification says; Python fails.
- `1`, `true` and `1.0` inside arrays: Python's `in` and `==` on lists take 1 for true. We do not.
- Names and numbers of arguments of functions are checked before any data is seen; Python finds
  them only when the call is reached. `&x` outside of arguments is a syntax error; Python accepts it.
- `f(a b)` and `f(a,)` are syntax errors; Python accepts both. So are `(f)(x)` and `[1-2:]`.
- `to_number` reads JSON numbers only; Python also takes `1_000`, ` 1 `, `+1`, `nan` and `.5`.
- Literals that only Python's json module accepts (`NaN`, `Infinity`) are taken as text.
- Integers that 64 bits cannot hold become floating point numbers.
- `contains` of a string and something else is false; Python fails.
- `a[0][:].b` projects: a slice does so everywhere; Python forgets it right after an index. (Mended.)
- Expressions are limited in length, nesting and work.
"""

import argparse
import json
import math
import random
import re
import subprocess
import sys
import warnings

try:
    import jmespath
    from jmespath import ast, exceptions, parser
except ImportError:
    print("skipped: the Python package 'jmespath' is not installed")
    sys.exit(77)

NAMES = ["a", "b", "c", "run_id", "status", "duration", "Accuracy", '"x y"', '"\\u00e9"']
KEYS = ["a", "b", "c", "run_id", "status", "duration", "Accuracy", "x y", "é"]
WORDS = ["", "a", "b", "Completed", "Failed", "é", "x y", "12", "-3.5", "zebra", "Zebra"]
UNARY = ["abs", "avg", "ceil", "floor", "keys", "length", "max", "min", "reverse", "sort", "sum",
         "to_array", "to_number", "to_string", "type", "values", "merge", "not_null"]
BY = ["sort_by", "max_by", "min_by"]


class MendedParser(parser.Parser):
    """The reference without the three slips that the text above names."""

    BINDING_POWER = {**parser.Parser.BINDING_POWER, "not": 8}

    def _token_led_dot(self, left):
        if self._current_token() != "star":
            return super()._token_led_dot(left)
        self._advance()
        return ast.value_projection(left, self._parse_projection_rhs(self.BINDING_POWER["star"]))

    def _token_led_lbracket(self, left):
        if left["type"] == "index_expression":
            left = ast.subexpression([left])
        return super()._token_led_lbracket(left)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def document(self, depth=0):
        kind = self.random.random()
        if depth > 3 or kind < 0.35:
            return self.pick(None, True, False, 0, 1, -2, 7, 2.5, 1.0, *WORDS)
        size = self.random.randint(0, 4)
        if kind < 0.45:
            return [self.random.randint(-9, 9) for _ in range(size)]
        if kind < 0.52:
            return [self.pick(*WORDS) for _ in range(size)]
        if kind < 0.7:
            return [self.document(depth + 1) for _ in range(size)]
        keys = self.random.sample(KEYS, size)
        return {key: self.document(depth + 1) for key in keys}

    def runs(self):
        count = self.random.randint(0, 5)
        return [{"run_id": "r%d" % i, "status": self.pick("Completed", "Failed", "Running"),
                 "duration": self.random.randint(0, 99),
                 **({"Accuracy": self.random.random()} if self.random.random() < 0.7 else {})}
                for i in range(count)]

    def literal(self):
        value = self.document(3) if self.random.random() < 0.8 else self.document(2)
        text = json.dumps(value, ensure_ascii=self.pick(True, False))
        return "`" + text.replace("`", "\\`") + "`"

    def raw(self):
        return "'" + self.pick(*WORDS, "it\\'s", "\\\\", "\\n") + "'"

    def number(self):
        return str(self.random.randint(-4, 4))

    def bracket(self, depth):
        part = lambda: self.pick("", self.number())
        return self.pick(
            lambda: "[" + self.number() + "]",
            lambda: "[*]",
            lambda: "[]",
            lambda: "[" + part() + ":" + part() + "]",
            lambda: "[" + part() + ":" + part() + ":" + self.pick("", "1", "-1", "2", "-2", "0") + "]",
            lambda: "[?" + self.expression(depth + 1) + "]",
        )()

    def suffix(self, depth):
        return self.pick(
            lambda: self.bracket(depth),
            lambda: "." + self.pick(*NAMES),
            lambda: "." + self.pick(*NAMES),
            lambda: ".*",
            lambda: "." + self.multi(depth),
            lambda: "." + self.call(depth),
        )()

    def multi(self, depth):
        items = [self.expression(depth + 1) for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.5:
            return "[" + ", ".join(items) + "]"
        return "{" + ", ".join(self.pick(*NAMES) + ": " + item for item in items) + "}"

    def call(self, depth):
        inner = lambda: self.expression(depth + 1)
        return self.pick(
            lambda: self.pick(*UNARY) + "(" + inner() + ")",
            lambda: self.pick(*UNARY) + "(@)",
            lambda: self.pick(*BY) + "(" + inner() + ", &" + inner() + ")",
            lambda: self.pick(*BY) + "(@, &" + self.pick(*NAMES) + ")",
            lambda: "map(&" + inner() + ", " + inner() + ")",
            lambda: "join(" + self.raw() + ", " + inner() + ")",
            lambda: self.pick("contains", "starts_with", "ends_with")
            + "(" + inner() + ", " + self.raw() + ")",
            lambda: "merge(" + inner() + ", " + inner() + ")",
            lambda: "not_null(" + inner() + ", " + inner() + ")",
        )()

    def primary(self, depth):
        return self.pick(
            lambda: self.pick(*NAMES),
            lambda: self.pick(*NAMES),
            lambda: "@",
            lambda: "*",
            lambda: self.literal(),
            lambda: self.raw(),
            lambda: self.bracket(depth),
            lambda: self.multi(depth),
            lambda: self.call(depth),
            lambda: "(" + self.expression(depth + 1) + ")",
            lambda: "!" + self.primary(depth + 1) if depth < 5 else "a",
        )()

    def expression(self, depth=0):
        if depth > 4:
            return self.pick("@", *NAMES)
        text = self.primary(depth)
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3])):
            text += self.suffix(depth)
        if self.random.random() < 0.35:
            operator = self.pick("|", "||", "&&", "==", "!=", "<", "<=", ">", ">=")
            text += self.pick("", " ") + operator + self.pick("", " ") + self.expression(depth + 1)
        return text

    def damaged(self):
        """An expression with one character gone, added or changed: mostly syntax errors."""
        text = list(self.expression())
        at = self.random.randrange(len(text) + 1)
        how = self.random.random()
        if how < 0.4 and at < len(text):
            del text[at]
        else:
            text.insert(at, self.pick(*"[](){}.,:|&!@*?`'\"-=<>a1 "))
        return "".join(text)


def error_class(error):
    name = type(error).__name__
    if name in ("ArityError", "VariadictArityError"):
        return "invalid-arity"
    if isinstance(error, exceptions.UnknownFunctionError):
        return "unknown-function"
    if isinstance(error, exceptions.JMESPathTypeError):
        return "invalid-type"
    if isinstance(error, exceptions.JMESPathError):
        return "syntax"
    if "slice step" in str(error):
        return "invalid-value"
    return "crash"  # a Python error that leaked out: no verdict


def reference(expression, document):
    try:
        return "value", MendedParser().parse(expression).search(document)
    except Exception as error:  # every class of error is an answer here
        return "error", error_class(error)


def strict_equal(left, right):
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right or math.isclose(left, right, rel_tol=1e-12)
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(strict_equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(strict_equal(left[k], right[k]) for k in left)
    if isinstance(left, str) and left != right:
        # The text that to_string made: the same document, maybe with other escapes.
        try:
            return strict_equal(json.loads(left), json.loads(right))
        except ValueError:
            return False
    return left == right


def mixes_booleans_and_numbers(text):
    return any(word in text for word in ("true", "false")) or "contains" in text


def verdict(case, ours):
    """None when both agree or differ on purpose; else what is different."""
    expression, document = case
    kind, theirs = reference(expression, document)
    if theirs == "crash":
        return None
    our_class = ours["error"].split(" ")[0] if "error" in ours else None
    if our_class == "too-much-work":
        return None
    if kind == "error" and our_class:
        if our_class == theirs:
            return None
        # Both refuse; we report what can be known without data first.
        early = ("syntax", "unknown-function", "invalid-arity", "invalid-value")
        return None if our_class in early else "ours %s, theirs %s" % (our_class, theirs)
    if kind == "value" and not our_class:
        try:
            json.dumps(theirs)
        except TypeError:
            return None  # an expression object: '&x' where no function takes it
        if strict_equal(ours["value"], theirs):
            return None
        whole = json.dumps(case, ensure_ascii=False)
        if ours["value"] != ours["value"] or mixes_booleans_and_numbers(whole):
            return None
        return "ours %r, theirs %r" % (ours["value"], theirs)
    if our_class in ("unknown-function", "invalid-arity", "invalid-value"):
        return None
    if our_class in ("syntax", "invalid-type") and tolerated(expression, our_class):
        return None
    return "ours %r, theirs %r" % (ours, theirs)


def tolerated(expression, our_class):
    """Python accepts this although the specification does not have it."""
    reference = "&" in expression.replace("&&", "")
    two_numbers = re.search(r"\d\s*-\d", expression)
    return reference or (our_class == "syntax" and ("(" in expression or two_numbers))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--count", type=int, default=20000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--expressions", help="a file of expressions, one per line, to try as well")
    options = arguments.parse_args()
    warnings.simplefilter("ignore")

    make = Generator(options.seed)
    cases = []
    for i in range(options.count):
        expression = make.damaged() if i % 5 == 0 else make.expression()
        cases.append([expression, make.runs() if i % 3 == 0 else make.document()])
    if options.expressions:
        with open(options.expressions, encoding="utf-8", errors="replace") as lines:
            cases += [[line.rstrip("\n"), make.document()] for line in lines]

    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([options.program], input=text.encode(), stdout=subprocess.PIPE, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(cases):
        sys.exit("%d cases, but %d answers" % (len(cases), len(answers)))
    wrong = [(case, found) for case, ours in zip(cases, answers) if (found := verdict(case, ours))]
    for (expression, document), found in wrong[:20]:
        print("%s\n  on %s\n  %s" % (expression, json.dumps(document, ensure_ascii=False), found))
    values = sum("value" in ours and ours["value"] is not None for ours in answers)
    print("%d cases, %d with a value that is not null, %d errors, %d differences"
          % (len(cases), values, sum("error" in ours for ours in answers), len(wrong)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
