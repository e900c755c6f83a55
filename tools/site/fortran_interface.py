#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's input filter for the Fortran interface: fortran_interface.py
bindings/fortran/afterbay.f90

Doxygen cannot read generic bindings, or arguments that are declared in included files. This prints
the public entities of the module `afterbay` as declarations that Doxygen reads as C++: a type
becomes a class, its public bindings become methods, with the call as Fortran writes it and a table
of the arguments as they are declared. The texts are the comments `!>` of the sources.
"""
import dataclasses
import pathlib
import re
import sys

START = re.compile(r"^\s*(?:(?P<prefix>(?:pure |elemental )*)(?P<type>[\w:(), *=]+? )?)(?P<kind>subroutine|function) (?P<name>\w+)\((?P<arguments>[^)]*)\)"
                   r"(?:.*result\((?P<result>\w+)\))?", re.I)
DECLARATION = re.compile(r"^\s*([^!:]+?(?:\([^!]*?\))?[^!:]*?)\s*::\s*([^!]+)", re.I)


@dataclasses.dataclass
class Procedure:
    kind: str
    name: str
    arguments: list
    returns: str
    documentation: str
    declared: dict


@dataclasses.dataclass
class Member:
    name: str
    documentation: str
    targets: list  # the module procedures behind a binding; none: a component
    declaration: str = ""


def joined(path):
    """(comment lines before, statement) pairs: continuation lines are joined, includes are replaced
    by what they contain."""
    lines = []
    for line in path.read_text().splitlines():
        included = re.match(r"\s*include '([\w.]+)'", line)
        lines += (path.parent / included[1]).read_text().splitlines() if included else [line]
    comment, waiting = [], ""
    for line in lines:
        text = line.strip()
        if text.startswith("!>"):
            comment.append(text[2:].removeprefix(" "))
            continue
        if text.startswith(("#", "!")) or not text:
            if not text and not waiting:
                comment = []
            continue
        waiting = f"{waiting} {text.lstrip('&').strip()}" if waiting else text
        code = waiting.split("!<")[0].rstrip()
        if code.endswith("&"):
            waiting = code[:-1].rstrip()
            continue
        yield comment, waiting
        comment, waiting = [], ""


def split_names(text):
    """Names of a declaration, without shapes and values."""
    flat = re.sub(r"\([^()]*\)", lambda match: match[0].replace(",", "\0"), text)
    return [part.replace("\0", ",").strip() for part in flat.split(",")]


def declared_in(statement, declared):
    match = DECLARATION.match(statement)
    if not match or statement.startswith("allocate"):
        return
    for name in split_names(match[2]):
        bare = re.match(r"\w+", name)
        if bare:
            shape = name[bare.end():].split("=")[0].strip()
            declared[bare[0].lower()] = f"{match[1].strip()} :: {bare[0]}{shape}"


class Module:
    """The declarations of a module of the binding: types with their members, constants,
    procedures."""

    def __init__(self, path):
        self.types, self.constants, self.procedures = {}, [], {}
        inside, procedure, type_name, nesting = "declarations", None, None, 0
        for comment, statement in joined(path):
            documentation = "\n".join(comment)
            if procedure is not None:
                if re.match(r"interface\b", statement):
                    nesting += 1
                elif re.match(r"end interface\b", statement):
                    nesting -= 1
                elif re.match(r"end (subroutine|function)\b", statement) and nesting == 0:
                    procedure = None
                elif nesting == 0:
                    declared_in(statement, procedure.declared)
            elif type_name is not None:
                if statement.startswith("end type"):
                    type_name = None
                else:
                    self.add_member(type_name, documentation, statement)
            elif inside == "declarations":
                found = re.match(r"type(?:, [\w()]+)* :: (\w+)", statement)
                constants = re.match(r"integer, parameter, public :: (.*)", statement)
                if found:
                    type_name = found[1]
                    self.types[type_name] = (documentation, [])
                elif constants:
                    self.constants.append((documentation, re.findall(r"(\w+) = (-?\d+)", constants[1])))
                elif statement == "contains":
                    inside = "procedures"
            else:
                start = START.match(statement)
                if start:
                    arguments = [name.strip() for name in start["arguments"].split(",") if name.strip()]
                    procedure = Procedure(start["kind"].lower(), start["name"], arguments, (start["type"] or start["result"] or "").strip(),
                                          documentation, {})
                    self.procedures[start["name"]] = procedure

    def add_member(self, type_name, documentation, statement):
        members = self.types[type_name][1]
        code, _, after = statement.partition("!<")
        if ", private" in code.split("::")[0] or code.strip() == "contains":
            return
        binding = re.match(r"(procedure|generic)(?:, \w+)* :: (.*)", code)
        if binding:
            for part in [binding[2]] if binding[1] == "generic" else binding[2].split(","):
                name, _, targets = (word.strip() for word in part.partition(" => "))
                if name.startswith("operator"):
                    continue  # the comment of the type describes its operators
                if all(member.name != name for member in members):  # there are two if the preprocessor chooses one
                    members.append(Member(name, documentation, [word.strip() for word in (targets or name).split(",")]))
            return
        component = DECLARATION.match(code)
        if component:
            for name in split_names(component[2]):
                bare = re.match(r"\w+", name)[0]
                members.append(Member(bare, after.strip() or documentation, [], f"{component[1].strip()} :: {name}"))


def comment_of(text, extra=""):
    parts = re.split(r"(@code.*?@endcode|`[^`]*`)", text.strip(), flags=re.S)
    parts[::2] = [part.replace("%", "\\%") for part in parts[::2]]  # Doxygen would drop it
    return "/** " + ("".join(parts) + extra).replace("*/", "* /") + "\n*/\n"


def table_of(procedure, arguments):
    rows = [(name, procedure.declared.get(name.lower(), "")) for name in arguments]
    if not rows:
        return ""
    lines = "".join(f"| `{name}` | `{declaration}` |\n" for name, declaration in rows)
    return f"\n\n| argument | declared as |\n|---|---|\n{lines}"


def any_type(procedure, generic):
    """The first procedure of a generic binding represents all: they differ only in the type of an
    argument."""
    for name, declaration in procedure.declared.items() if len(generic.targets) > 1 else ():
        declaration = re.sub(r"^integer\(c_int8_t\)", "any type", declaration)
        procedure.declared[name] = re.sub(r"^integer\(c_int32_t\)", "integer of 4 or 8 bytes", declaration)
    return procedure


def method(type_name, object_name, member, module):
    procedure = any_type(module.procedures[member.targets[0]], member)
    arguments = procedure.arguments[1:] if procedure.arguments[:1] == ["self"] else procedure.arguments
    given = member.documentation or procedure.documentation
    # "put(variable, data [, record]): text": the call is shown as code
    call = re.match(rf"{member.name}\((.*?)\):?(?: |$|\n)", given, re.S)
    text = given[call.end():] if call else given
    words = re.sub(r"\s+", " ", call[1]) if call else listed_arguments(procedure, arguments)
    text = text.strip() or "See the call."
    if not given.strip():
        print(f"{type_name}%{member.name} has no comment in the sources", file=sys.stderr)
    shown = f"call {object_name}%{member.name}({words})" if procedure.kind == "subroutine" else f"{object_name}%{member.name}({words})"
    text = text[0].upper() + text[1:] + f"\n\n@code{{.f90}}\n{shown}\n@endcode"
    returns = "subroutine" if procedure.kind == "subroutine" else cxx_type(procedure)
    return comment_of(text, table_of(procedure, arguments)) + f"{returns} {member.name}({', '.join(arguments)});\n"


def listed_arguments(procedure, arguments):
    optional = [name for name in arguments if "optional" in procedure.declared.get(name.lower(), "")]
    needed = [name for name in arguments if name not in optional]
    if not optional:
        return ", ".join(needed)
    return ", ".join(needed) + (" [, " if needed else "[") + ", ".join(optional) + "]"


def cxx_type(procedure):
    declared = procedure.declared.get(procedure.returns.lower(), procedure.declared.get(procedure.name.lower(), procedure.returns))
    return re.match(r"type\((\w+)\)|(\w+)", declared.strip())[1] or re.match(r"\w+", declared.strip())[0]


def interface(root):
    """The file afterbay.f90 of the binding, as declarations."""
    source = root.read_text()
    modules = {path.stem: Module(path) for path in sorted(root.parent.glob("afterbay_*.[fF]90"))}
    head = [line[2:].removeprefix(" ") for line in source.splitlines() if line.startswith("!>")]
    print("/** " + "\n".join(head) + "\n*/")
    public = {}
    for name, names in re.findall(r"^\s*use (\w+), only: ((?:[^\n&]*&\n)*[^\n]*)", source, re.M):
        public[name] = set(re.findall(r"\w+", names))
    for name, names in public.items():
        module = modules[name]
        for documentation, constants in module.constants:
            for constant, value in constants:
                if constant in names:
                    print(comment_of(documentation or "A constant.") + f"const integer {constant} = {value};")
        for procedure in module.procedures.values():
            if procedure.name in names:
                text = procedure.documentation + "\n\n@code{.f90}\n" + ("call " if procedure.kind == "subroutine" else "") + \
                    f"{procedure.name}({listed_arguments(procedure, procedure.arguments)})\n@endcode"
                returns = "subroutine" if procedure.kind == "subroutine" else cxx_type(procedure)
                print(comment_of(text, table_of(procedure, procedure.arguments)) + f"{returns} {procedure.name}({', '.join(procedure.arguments)});")
        for type_name, (documentation, members) in module.types.items():
            if type_name not in names:
                continue
            print(comment_of(documentation) + f"class {type_name} {{\npublic:")
            object_name = type_name.removeprefix("afterbay_")
            for member in members:
                if member.targets:
                    print(method(type_name, object_name, member, module))
                elif member.name not in ("handle", "id"):
                    text = member.documentation or "See the type."
                    print(comment_of(f"{text}\n\n`{member.declaration}`") + f"{re.match(r'[a-z]+', member.declaration)[0]} {member.name};")
            print("};")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    interface(pathlib.Path(sys.argv[1]))
