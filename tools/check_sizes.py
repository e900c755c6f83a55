#!/usr/bin/env python3
"""Checks the lengths of source files (asks about more than 500 lines, fails above 800) and the
sizes of C++ classes: at most FIELDS data members, including those of base classes in the same
file, and METHODS member functions; nested classes are counted separately. A class above this
limit has more than one responsibility."""
import pathlib
import re
import subprocess
import sys

ASK, STOP = 500, 800
PATTERNS = ["*.cpp", "*.hpp", "*.c", "*.h", "*.f90", "*.F90", "*.py", "*.sh", "*.cmake", "CMakeLists.txt", "dev"]
FIELDS, METHODS = 25, 40

#: the head of a class without attributes and template arguments; the name may be qualified
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\w+::)*(\w+)(?:\s+final)?\s*(?::([^:;{][^;{]*))?$")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|AFTERBAY_\w+)\s*\((?:[^()]|\([^()]*\))*\)|\bAFTERBAY_\w+\b", re.S)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^\s*#[^\n]*', re.S | re.M)
SKIPPED = re.compile(r"^(?:using|typedef|friend|enum|static_assert|public|private|protected|template\s*<[^>]*>\s*(?:class|struct|using))\b")


def without_templates(text):
    """Without the text in <...>: a std::function<int()> is not a member function."""
    while True:
        shorter = re.sub(r"<[^<>;{}]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def classify(statement):
    """(kind, number) of what a declaration in a class declares; kind: "field", "method" or None."""
    statement = re.sub(r"^(?:\s*(?:public|private|protected)\s*:)+", "", statement).strip()
    statement = without_templates(ATTRIBUTE.sub("", statement.replace("->", " "))).strip()
    if not statement or SKIPPED.match(statement) or re.fullmatch(r"(?:class|struct)\s+\w+", statement):
        return None, 0
    before_value = re.split(r"(?<![=!<>])=(?!=)", statement)[0]
    if "(" in before_value or "operator" in statement:
        return "method", 1
    if re.match(r"static\s+constexpr", statement) or len(before_value.split()) < 2:
        return None, 0
    outside = re.sub(r"\([^()]*\)", "", statement)  # commas between arguments are none between names
    return "field", sum(1 for name in outside.split(",") if name.strip())


def is_value(head, kind, rest):
    """Whether braces between `head` and `rest` are a value and not the body of a function: the
    declaration goes on behind them."""
    return kind == "field" or head.count("(") > head.count(")") or (kind == "method" and rest.lstrip()[:1] in (",", "{"))


def classes_of(text):
    """(name, data members, member functions) of each class of a source text."""
    text = NOISE.sub(" ", text)
    found, stack = [], []
    start, begun = 0, ""  # `begun`: the declaration before `start`, without the values in braces
    for at, sign in enumerate(text):
        if sign not in "{};":
            continue
        head, start = begun + text[start:at], at + 1
        begun = ""
        inside = stack[-1] if stack and stack[-1] and "name" in stack[-1] else None
        if sign == "{":
            match = CLASS.search(without_templates(ATTRIBUTE.sub(" ", head)).strip())
            if match and head.count("(") <= head.count(")"):
                bases = re.findall(r"(\w+)\s*(?:,|$)", match[2] or "")
                inherited = sum(fields for name, fields, _ in found if name in bases)
                stack.append({"name": match[1], "field": inherited, "method": 0})
            elif re.search(r"\bnamespace\b[\w:\s]*$|\bextern\s*$", head):
                stack.append(None)
            else:
                kind, _ = classify(head) if inside else (None, 0)
                stack.append({"body_of": inside, "kind": kind, "head": head})
        elif sign == "}" and stack:
            top = stack.pop()
            if top and "name" in top:
                found.append((top["name"], top["field"], top["method"]))
            elif top and top["kind"]:
                if is_value(top["head"], top["kind"], text[at + 1:at + 100]):
                    begun = top["head"] + " "
                else:
                    top["body_of"][top["kind"]] += 1
        elif sign == ";" and inside:
            kind, number = classify(head)
            if kind:
                inside[kind] += number
    return found


def wrong_sizes(name, source):
    """Complaints about classes of a source text that are too large."""
    for cls, fields, methods in classes_of(source):
        if fields > FIELDS or methods > METHODS:
            yield f"{name}: class {cls} has {fields} data members and {methods} member functions; at most {FIELDS} and {METHODS}: split it by responsibility"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS],
        cwd=root, capture_output=True, text=True, check=True)
    failed = False
    for name in listed.stdout.splitlines():
        path = root / name
        source = path.read_text(errors="replace") if path.is_file() else ""
        lines = len(source.splitlines())
        if lines > STOP:
            print(f"{name}: {lines} lines; split it, the limit is {STOP}", file=sys.stderr)
            failed = True
        elif lines > ASK:
            print(f"{name}: {lines} lines; could it be two files?")
        if name.endswith((".hpp", ".cpp")):
            for complaint in wrong_sizes(name, source):
                print(complaint, file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
