#!/usr/bin/env python3
"""Checks the lengths of source files (asks about more than 500 lines, fails above 800) and the sizes of C++
classes: at most FIELDS data members and METHODS member functions, nested classes counted separately. A class
above this limit has more than one responsibility. Classes in CEILINGS are older than the limit; their sizes may only fall."""
import pathlib
import re
import subprocess
import sys

ASK, STOP = 500, 800
PATTERNS = ["*.cpp", "*.hpp", "*.c", "*.h", "*.f90", "*.F90", "*.py", "*.sh", "*.cmake", "CMakeLists.txt", "dev"]
FIELDS, METHODS = 25, 40
CEILINGS = {
    ("src/observe/server_state.hpp", "ServerState"): (36, 2),
    ("src/server/files/output_file.hpp", "OutputFile"): (26, 6),
    ("src/server/server.hpp", "Server"): (29, 86),
    ("src/storage/netcdf4/netcdf4_file.hpp", "Netcdf4File"): (21, 54),
    ("src/transport/mpi/client.hpp", "MpiClientLink"): (25, 47),
    ("src/transport/mpi/relay.hpp", "Relay"): (16, 45),
    ("src/transport/mpi/server.hpp", "MpiPeer"): (29, 30),
}

CLASS = re.compile(r"\b(?:class|struct)\s+(?:AFTERBAY_\w+(?:\([^)]*\))?\s+)*(\w+)(?:\s+final)?\s*(?::[^:;{][^;{]*)?$")
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
    """"field", "method" or None for a declaration in a class."""
    statement = re.sub(r"^(?:\s*(?:public|private|protected)\s*:)+", "", statement).strip()
    statement = without_templates(re.sub(r"\[\[[^\]]*\]\]|AFTERBAY_\w+\([^()]*\)", "", statement.replace("->", " "))).strip()
    if not statement or SKIPPED.match(statement) or re.fullmatch(r"(?:class|struct)\s+\w+", statement):
        return None
    before_value = re.split(r"(?<![=!<>])=(?!=)", statement)[0]
    if "(" in before_value or "operator" in statement:
        return "method"
    if re.match(r"static\s+constexpr", statement) or len(before_value.split()) < 2:
        return None
    return "field"


def classes_of(text):
    """(name, data members, member functions) of each class of a source text."""
    text = NOISE.sub(" ", text)
    found, stack, start = [], [], 0
    for at, sign in enumerate(text):
        if sign == "{":
            head = text[start:at]
            match = CLASS.search(head.strip())
            inside = stack[-1] if stack and stack[-1] and "name" in stack[-1] else None
            if match and "(" not in without_templates(head.split("class")[-1].split("struct")[-1]).split(":")[0]:
                stack.append({"name": match[1], "field": 0, "method": 0})
            elif re.search(r"\bnamespace\b[\w:\s]*$|\bextern\s*$", head):
                stack.append(None)
            else:
                kind = classify(head) if inside else None
                stack.append({"body_of": inside, "kind": kind, "enum": "enum" in head})
            start = at + 1
        elif sign == "}" and stack:
            top = stack.pop()
            start = at + 1
            if top and "name" in top:
                found.append((top["name"], top["field"], top["method"]))
            elif top and top.get("kind") == "method":
                top["body_of"]["method"] += 1
            elif top and top.get("kind") == "field":
                top["body_of"]["field"] += 1
        elif sign == ";":
            inside = stack[-1] if stack else None
            if inside and "name" in inside:
                kind = classify(text[start:at])
                if kind:
                    inside[kind] += 1
            start = at + 1
    return found


def too_large(name, source):
    for cls, fields, methods in classes_of(source):
        most_fields, most_methods = CEILINGS.get((name, cls), (FIELDS, METHODS))
        if fields > most_fields or methods > most_methods:
            yield f"{name}: class {cls} has {fields} data members and {methods} member functions; at most {most_fields} and {most_methods}: split it by responsibility"


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
            for complaint in too_large(name, source):
                print(complaint, file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
