# SPDX-License-Identifier: Apache-2.0
"""numcodecs alone, as zarr uses it: packs chunks with a chain of codecs, for example
"bitround=9,shuffle,zlib=4". Prints a line `BENCH {json}` as the programs do."""

import argparse
import json
import time
from statistics import median

import numcodecs
import numpy

LEAST_PASSES = 3


def codec_of(text: str):
    name, _, level = text.partition("=")
    made = {"bitround": lambda: numcodecs.BitRound(keepbits=int(level)),
            "shuffle": lambda: numcodecs.Shuffle(elementsize=4),
            "zlib": lambda: numcodecs.Zlib(level=int(level)),
            "zstd": lambda: numcodecs.Zstd(level=int(level)),
            "lz4": lambda: numcodecs.LZ4(),
            "blosc-zstd": lambda: numcodecs.Blosc(cname="zstd", clevel=int(level), shuffle=numcodecs.Blosc.SHUFFLE)}
    return made[name]()


def encode(codecs, chunk):
    for codec in codecs:
        chunk = codec.encode(chunk)
    return chunk


def decode(codecs, encoded):
    for codec in reversed(codecs):
        encoded = codec.decode(encoded)
    return encoded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--data", "--codecs", "--dir"):
        parser.add_argument(name)
    for name in ("--levels", "--rows", "--columns", "--copies"):
        parser.add_argument(name, type=int, default=1)
    parser.add_argument("--missing", type=float)
    parser.add_argument("--seconds", type=float, default=0.5)
    options = parser.parse_args()
    numcodecs.blosc.set_nthreads(1)
    count = options.levels * options.rows * options.columns
    chunk = numpy.fromfile(options.data, "<f4", count)
    data = [chunk.copy() for _ in range(options.copies)]
    codecs = [codec_of(text) for text in options.codecs.split(",")]
    unpacked = numpy.frombuffer(decode(codecs, encode(codecs, chunk)), "<f4")
    holds = numpy.ones(count, bool) if options.missing is None else chunk != numpy.float32(options.missing)
    worst = float(abs(unpacked[holds].astype("f8") - chunk[holds]).max())
    ends, unpacks, packed_bytes = [], [], 0
    start = time.perf_counter()
    while len(ends) < LEAST_PASSES or time.perf_counter() - start < options.seconds:
        before = time.perf_counter()
        packed = [encode(codecs, part) for part in data]
        ends.append(time.perf_counter() - before)
        packed_bytes = sum(memoryview(part).nbytes for part in packed)
        if len(ends) <= LEAST_PASSES:
            before = time.perf_counter()
            for part in packed:
                decode(codecs, part)
            unpacks.append(time.perf_counter() - before)
        if time.perf_counter() - start > 2 * options.seconds:
            break
    print("BENCH " + json.dumps({"program": "numcodecs_packing", "end_s": median(ends), "unpack_s": median(unpacks), "largest_error": worst,
                                 "bytes": 4 * count * options.copies, "packed_bytes": packed_bytes, "passes": len(ends)}))


main()
