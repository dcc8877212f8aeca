"""Sites in processes of their own, over a NATS server: they are killed, links are cut."""

import time

import pytest

from tests.faults.stories import fault_seed
from tests.sites.processes import LATENESS, Network
from tests.sites.worlds import LINKS, Story, delivered, rejected


def site_killed(network):
    site = network.sites[network.random.choice([*LINKS])]
    site.kill()
    time.sleep(network.random.random())
    site.start()


def link_cut(network):
    """One side of it, until the next one is; the others are mended."""
    links_mended(network)
    network.random.choice([*network.wires.values()]).cut()


def links_mended(network):
    for wire in network.wires.values():
        wire.mend()


def deployment_killed(network):
    deployment = network.deployments[network.random.choice([*LINKS])]
    deployment.kill()
    deployment.start()


def server_killed(network):
    network.restart_server()


def check(network, faults):
    """Everything is published while faults happen; then nothing is lost, twice or different."""
    lines = [*network.story.lines]
    strikes = {len(lines) * (place + 1) // (len(faults) + 1): f for place, f in enumerate(faults)}
    assert len(strikes) == len(faults)
    for number, (site, line) in enumerate(lines):
        network.publish(site, line)
        time.sleep(network.random.random() * 0.05)
        if number in strikes:
            strikes[number](network)
    links_mended(network)
    for number in range(2):
        network.all_round(number)
    network.end()
    logs = network.logs.values()
    assert sorted(delivered(logs)) == sorted(network.story.central(LATENESS))
    # what is looked at again may be old, and then nobody has wanted it
    assert {reason[:4] for reason in rejected(logs)} <= {"late"}


def test_nothing_is_lost_doubled_or_different(tmp_path):
    faults = [site_killed, link_cut, site_killed, links_mended, deployment_killed]
    with Network(tmp_path, Story(seed=6), fault_seed(), has_processes=False) as network:
        check(network, faults)
        assert len(delivered(network.logs.values())) > 10


@pytest.mark.soak
def test_fifty_kills_and_cuts(tmp_path):
    kinds = [site_killed, site_killed, link_cut, link_cut, deployment_killed, server_killed]
    seed = fault_seed()
    with Network(tmp_path, Story(seed, most=400), seed, has_processes=True) as network:
        check(network, [network.random.choice(kinds) for _ in range(50)])
