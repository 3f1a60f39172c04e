"""What the peers of the survey are asked: encode and aggregate, timed by themselves (run in their environment).

python benchmarks/survey_peer_code.py PEER EPSILON DOMAIN  ->  one JSON object: mechanism -> [encode/s, aggregate/s]
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

SIZES = {
    "k-ary": 4000,
    "unary": 600,
    "local-hash": 200,
    "count-mean-sketch": 200,
    "hadamard-sketch": 200,
}


def timed(work):
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def pure_ldp(epsilon: float, domain: int) -> dict[str, list[float]]:
    from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    def sketch(hadamard):
        server = CMSServer(epsilon, 1024, 1024, is_hadamard=hadamard)
        client = CMSClient(epsilon, server.get_hash_funcs(), 1024, is_hadamard=hadamard)
        return client, server

    pairs = {
        "k-ary": (DEClient(epsilon, domain), DEServer(epsilon, domain)),
        "unary": (UEClient(epsilon, domain, use_oue=True), UEServer(epsilon, domain, use_oue=True)),
        "local-hash": (
            LHClient(epsilon, domain, use_olh=True),
            LHServer(epsilon, domain, use_olh=True),
        ),
        "count-mean-sketch": sketch(False),
        "hadamard-sketch": sketch(True),
    }
    found = {}
    for name, (client, server) in pairs.items():
        count = SIZES[name]
        items = [int(i) + 1 for i in (np.arange(count) * 7919) % domain]
        reports, encoding = timed(lambda: [client.privatise(item) for item in items])  # noqa: B023
        _, adding = timed(lambda: [server.aggregate(report) for report in reports])  # noqa: B023
        found[name] = [count / encoding, count / adding]
    return found


def multi_freq_ldpy(epsilon: float, domain: int) -> dict[str, list[float]]:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    asked = {
        "k-ary": (
            lambda item: GRR_Client(item, domain, epsilon),
            lambda reports: GRR_Aggregator_MI(reports, domain, epsilon),
        ),
        "unary": (
            lambda item: UE_Client(item, domain, epsilon, True),
            lambda reports: UE_Aggregator_MI(reports, epsilon, True),
        ),
        "local-hash": (
            lambda item: LH_Client(item, domain, epsilon, True),
            lambda reports: LH_Aggregator_MI(reports, domain, epsilon, True),
        ),
    }
    found = {}
    for name, (encode, aggregate) in asked.items():
        count = SIZES[name]
        encode(1)  # compiled on the first call
        items = [int(i) for i in (np.arange(count) * 7919) % domain]
        reports, encoding = timed(lambda: [encode(item) for item in items])  # noqa: B023
        aggregate(reports[:2])
        _, adding = timed(lambda: aggregate(reports))  # noqa: B023
        found[name] = [count / encoding, count / adding]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    peer, epsilon, domain = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    print(
        json.dumps(
            {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}[peer](epsilon, domain)
        )
    )
