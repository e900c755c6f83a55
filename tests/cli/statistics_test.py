#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics over time of random sequences have the bits that numpy computes in float64 in the same
order."""
import os
import pathlib
import subprocess
import sys
import unittest

try:
    import numpy
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)

PROGRAM = pathlib.Path(os.environ["AFTERBAY_BUILD"]) / "tests" / "statistics" / "statistics_of"
SEED = 20261126
TYPES = {"i1": 1, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11}
INSTANT, MEAN, SUM, MINIMUM, MAXIMUM, RANGE, DEVIATION, RATE, ONCE, DIFFERENCE = range(1, 11)
NONE, IGNORE, POISON, THRESHOLD = range(4)
LEAST = 0.7
POINTS, STEPS = 1500, 11
MISSING_RESULT = -1e300


def sequence(random, type_name):
    """Steps of values, a sixth of them the missing value 77; points 0 to 9 have no other."""
    if type_name[0] == "f":
        values = random.normal(280, 40, (STEPS, POINTS)).astype(type_name)
    else:
        limits = numpy.iinfo(type_name)
        values = random.integers(limits.min, limits.max, (STEPS, POINTS), dtype=type_name, endpoint=True)
    values[random.random((STEPS, POINTS)) < 1 / 6] = 77
    values[:, :10] = 77
    if type_name[0] == "f":
        values[random.random((STEPS, POINTS)) < 0.01] = numpy.nan
    return values


def ours(values, durations, operation, policy, weighted, sample):
    type_name = values.dtype.str[1:]
    data = numpy.array([77], type_name).tobytes() + b"".join(
        duration.tobytes() + step.tobytes() for duration, step in zip(durations, values))
    words = [TYPES[type_name], POINTS, STEPS, operation, policy, LEAST if policy == THRESHOLD else 0, int(weighted), int(sample)]
    done = subprocess.run([PROGRAM, *map(str, words)], input=data, capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return numpy.frombuffer(done.stdout)


def subtracted(high, low):
    """Rounded once, also of integers that no double has."""
    if high.dtype.kind == "f":
        return high.astype("f8") - low.astype("f8")
    return numpy.array([float(int(a) - int(b)) for a, b in zip(high, low)])


def extremes(values, valid, looks):
    """Least and largest values per point; the first of them where there is none."""
    low, high = values[0].copy(), values[0].copy()
    seen = valid[0].copy()
    for value, ok in zip(values[1:], valid[1:]):
        usable = ok if looks else numpy.ones_like(ok)
        for kept, better in ((low, value < low), (high, value > high)):
            takes = usable & (better | (~seen if looks else numpy.isnan(value) & ~numpy.isnan(kept)))
            kept[takes] = value[takes]
        seen |= ok
    return low, high


def theirs(values, durations, operation, policy, weighted, sample):
    valid = (values != 77) & (values == values)
    if policy == NONE:
        valid = numpy.ones_like(valid)
    wide = values.astype("f8")
    total, count, weight = numpy.full(POINTS, -0.0), numpy.zeros(POINTS), numpy.zeros(POINTS)
    mean, squares = numpy.zeros(POINTS), numpy.zeros(POINTS)
    weights = durations if weighted else numpy.ones(STEPS)
    duration = 0.0
    for step in range(STEPS):
        x, ok, w = wide[step], valid[step], weights[step]
        duration += durations[step]
        total = total + numpy.where(ok, w * x, -0.0)
        count = count + ok
        weight = weight + numpy.where(ok, durations[step], 0)
        divisor = weight if weighted else count
        difference = x - mean
        new = mean + difference * (w / divisor)
        squares = numpy.where(ok, squares + (w * difference) * (x - new), squares)
        mean = numpy.where(ok, new, mean)
    by_duration = weighted or operation == RATE
    divisor = weight if by_duration else count
    fraction = weight / duration if by_duration else count / STEPS
    gone = (count == 0) | ((policy == POISON) & (count < STEPS)) | ((policy == THRESHOLD) & (fraction < LEAST))
    low, high = extremes(values, valid, policy != NONE)
    if operation in (INSTANT, ONCE, DIFFERENCE):
        first, last = valid[0], valid[-1]
        gone = ~{INSTANT: last, ONCE: first, DIFFERENCE: first & last}[operation]
    if sample:
        gone = gone | (count < 2)
    result = {INSTANT: lambda: wide[-1], ONCE: lambda: wide[0], SUM: lambda: total, MEAN: lambda: total / divisor,
              RATE: lambda: total / divisor, MINIMUM: lambda: low.astype("f8"), MAXIMUM: lambda: high.astype("f8"),
              RANGE: lambda: subtracted(high, low), DIFFERENCE: lambda: subtracted(values[-1], values[0]),
              DEVIATION: lambda: numpy.sqrt(squares / (divisor - sample))}[operation]()
    return numpy.where(gone, MISSING_RESULT, result)


def two_pass(values, operation_valid):
    """Standard deviations by numpy's own two passes, of the points that have only valid values."""
    complete = operation_valid.all(axis=0)
    return complete, numpy.std(values[:, complete].astype("f8"), axis=0)


class StatisticsTest(unittest.TestCase):
    def setUp(self):
        print(f"seed {SEED}")
        self.random = numpy.random.default_rng(SEED)
        numpy.seterr(all="ignore")

    def test_bits_are_those_of_numpy(self):
        cases = [(operation, False, False) for operation in range(1, 11)]
        cases += [(MEAN, True, False), (SUM, True, False), (DEVIATION, True, False), (DEVIATION, False, True)]
        for type_name in TYPES:
            values = sequence(self.random, type_name)
            durations = self.random.uniform(0.1, 5, STEPS)
            for operation, weighted, sample in cases:
                for policy in (NONE, IGNORE, POISON, THRESHOLD):
                    with self.subTest(type=type_name, operation=operation, policy=policy, weighted=weighted, sample=sample):
                        found = ours(values, durations, operation, policy, weighted, sample)
                        wanted = theirs(values, durations, operation, policy, weighted, sample)
                        both_nan = numpy.isnan(found) & numpy.isnan(wanted)
                        wrong = ~both_nan & (found.view("u8") != wanted.view("u8"))
                        self.assertEqual(list(zip(found[wrong], wanted[wrong]))[:4], [])

    def test_deviations_are_those_of_two_passes(self):
        values = self.random.normal(1e7, 1, (STEPS, POINTS))
        found = ours(values, numpy.ones(STEPS), DEVIATION, IGNORE, False, False)
        complete, wanted = two_pass(values, numpy.ones((STEPS, POINTS), bool))
        numpy.testing.assert_allclose(found[complete], wanted, rtol=1e-8)


if __name__ == "__main__":
    unittest.main()
