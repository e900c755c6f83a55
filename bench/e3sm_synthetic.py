# SPDX-License-Identifier: Apache-2.0
"""A small case of the E3SM benchmark that needs no captured files: as many kinds of variables as
the F case has, on a synthetic decomposition of 16 ranks with the same shape (single columns
scattered over the ranks, the same on all levels)."""

from __future__ import annotations

from e3sm_case import Attribute, Case, Map, UNLIMITED, Variable, numpy

COLUMNS, LEVELS, RANKS = 866, 24, 16
SURFACE_FIELDS, LEVEL_FIELDS = 40, 12


def maps() -> dict[str, Map]:
    """D1: consecutive columns; D2: scattered columns; D3: the columns of D2 on all levels."""
    columns = numpy.arange(COLUMNS, dtype="i8")
    consecutive = numpy.array_split(columns, RANKS)
    scattered = numpy.array_split(numpy.random.default_rng(1).permutation(columns), RANKS)
    levels = numpy.arange(LEVELS, dtype="i8")[:, None] * COLUMNS
    return {"D1": Map((COLUMNS,), consecutive), "D2": Map((COLUMNS,), scattered),
            "D3": Map((LEVELS, COLUMNS), [(levels + held).ravel() for held in scattered])}


def case() -> Case:
    def described(units: str) -> tuple[Attribute, ...]:
        return Attribute("units", "char", units), Attribute("_FillValue", "double", (1e20,))

    variables = [
        Variable("lat", "double", ("ncol",), (Attribute("units", "char", "degrees_north"),), "D2"),
        Variable("lon", "double", ("ncol",), (Attribute("units", "char", "degrees_east"),), "D2"),
        Variable("area", "double", ("ncol",), (Attribute("units", "char", "steradian"),), "D1"),
        Variable("lev", "double", ("lev",), (Attribute("units", "char", "hPa"),)),
        Variable("P0", "double", (), (Attribute("units", "char", "Pa"),)),
        Variable("time", "double", ("time",), (Attribute("units", "char", "days since 0001-01-01"),)),
        Variable("date", "int", ("time",)),
        Variable("date_written", "char", ("time", "chars")),
    ]
    variables += [Variable(f"surface_{number:02}", "double", ("time", "ncol"), described("W m-2"), "D2") for number in range(SURFACE_FIELDS)]
    variables += [Variable(f"level_{number:02}", "double", ("time", "lev", "ncol"), described("K"), "D3") for number in range(LEVEL_FIELDS)]
    return Case("synthetic", {"time": UNLIMITED, "chars": 8, "lev": LEVELS, "ncol": COLUMNS}, variables,
                [Attribute("title", "char", "synthetic case of the E3SM benchmark")], [variable.name for variable in variables], maps())
