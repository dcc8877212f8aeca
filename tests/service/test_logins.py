"""Commands against a service say what they say against its log; keys stay where they are kept."""

import json
from functools import partial

import pytest
import yaml

from shortlist.client.keys import Holder, add_key
from shortlist.client.logins import BadLogin, known_login, log_out, logins_file
from tests.cli.programs import json_lines, shortlist
from tests.service.servers import event, eventually, served

HOLDER = Holder("desk", "operator")


@pytest.fixture
def key(deployment):
    return add_key(deployment.log, HOLDER)


@pytest.fixture
def phone(deployment):
    return add_key(deployment.log, Holder("phone", "subscriber", "you"))


@pytest.fixture
def closed(deployment, key, phone):
    """A service that asks for keys."""
    with served(deployment.log) as url:
        yield url


@pytest.fixture
def by_service(closed, key, tmp_path):
    """A command against the service that was logged in to."""
    settings = tmp_path / "settings"
    assert shortlist("login", closed, settings=settings, key=key).exit_code == 0
    return partial(shortlist, settings=settings)


@pytest.fixture
def both(deployment, by_service):
    """A command against the log, and against the service."""
    return lambda *arguments: (shortlist(*arguments, log=deployment.url), by_service(*arguments))


def test_a_key_is_kept_for_its_owner_alone_and_never_shown(closed, key, tmp_path, monkeypatch):
    asked = shortlist("login", closed, settings=tmp_path, text=f"{key}\n")
    assert asked.exit_code == 0, asked.output
    assert asked.stdout.startswith(f"{closed}: desk, operator; kept in ")
    assert key not in asked.output
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file, settings = logins_file(), {"XDG_CONFIG_HOME": str(tmp_path)}
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert known_login(None, settings) == (closed, key)
    # from the environment it is taken, too, and told to nobody else
    assert known_login(closed, settings | {"SHORTLIST_KEY": "other"}).key == "other"
    assert known_login("http://127.0.0.1:1", settings).key is None
    assert shortlist("list", settings=tmp_path).exit_code == 0
    assert log_out(None) == closed
    assert json.loads(file.read_text()) == {"default": None, "services": {}}
    with pytest.raises(BadLogin, match="expected a service that you are logged in to"):
        log_out(closed)


def test_a_wrong_key_is_not_kept(closed, tmp_path):
    done = shortlist("login", closed, settings=tmp_path, key="wrong")
    assert (done.exit_code, "expected a key that is known" in done.stderr) == (2, True)
    assert not logins_file({"XDG_CONFIG_HOME": str(tmp_path)}).exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("login", "desk.example"), "expected the URL of a service"),
        (("login", "https://you:secret@desk.example"), "expected the URL of a service"),
        (("list", "--log", "sqlite:a.log", "--service", "http://127.0.0.1"), "found both"),
        (("list",), "or --service, found neither, and no login"),
        (
            ("list", "--service", "http://127.0.0.1:9", "--deliveries"),
            "--deliveries: expected --log",
        ),
        (("watch", "--service", "http://127.0.0.1:9"), "expected a shortlist"),
        (("watch", "a", "--rejects", "--service", "http://a"), "--rejects: expected neither"),
        (("watch", "a", "--consumer", "c", "--service", "http://a"), "--consumer: expected --log"),
        (("status", "--mistakes", "--service", "http://a"), "--mistakes: expected --log"),
    ],
)
def test_what_cannot_be_meant_is_said(arguments, said):
    done = shortlist(*arguments, text="")
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", " ").split())


def test_lists_and_definitions_are_the_same(both):
    for arguments in (
        ("list",),
        ("list", "subscriptions", "--json"),
        ("list", "advertisements", "--json"),
        ("list", "vocabulary"),
        ("list", "--subscriber", "you", "--policy", "top-k"),
        ("get", "flats", "--json"),
        ("get", "nobody"),
        ("show", "flats", "--json"),
        ("show", "flats"),
    ):
        by_log, by_service = both(*arguments)
        assert by_service.exit_code == by_log.exit_code, by_service.output
        if arguments[0] != "show":  # there time goes on
            assert by_service.stdout == by_log.stdout
        else:
            assert by_service.stdout[:40] == by_log.stdout[:40]
    # all that is live stands in the order of its ids there
    assert "&id" not in both("get")[0].stdout  # equal policies are written twice
    by_log, by_service = (yaml.safe_load(each.stdout) for each in both("get"))
    by_log["subscriptions"].sort(key=lambda made: made["id"])
    assert by_service == by_log


def test_what_is_published_is_acknowledged_and_watched(both, by_service):
    lines = json_lines(*(event(f"f{n}", 900 + n) for n in range(3)), {"id": "bad"})
    published = by_service("publish", "--json", text=lines)
    assert published.exit_code == 1
    found = json.loads(published.stdout)
    assert (found["acknowledged"], found["rejected"]) == (3, 1)
    assert "stdin:4: source: is missing" in published.stderr
    watched = eventually(
        lambda: both("watch", "flats", "--after", 0, "--json", "--count", 3, "--until-idle", 2),
        lambda ran: len(ran[0].stdout.splitlines()) == 3,
    )
    assert watched[0].stdout == watched[1].stdout
    idle = by_service("watch", "flats", "--until-idle", 0.3)
    assert (idle.exit_code, idle.stdout) == (0, "")
    nobody = by_service("watch", "nobody")
    assert (nobody.exit_code, "there is no live shortlist 'nobody'" in nobody.stderr) == (2, True)
    status = by_service("status", "--json")
    assert json.loads(status.stdout)["published"] == 3


def test_explanations_are_the_same(both, by_service):
    rents = (1210, 1220, 1230, 1400)
    flats = json_lines(*(event(f"f{n}", rent) for n, rent in enumerate(rents)))
    assert by_service("publish", text=flats).exit_code == 0
    asked = ("explain", "--shortlist", "flats", "--publication")
    for name, said in {"f0": "delivered at arrival", "f3": "3 better ones are still valid"}.items():
        one, other = eventually(
            lambda name=name: both(*asked, name, "--source", "ads"),
            lambda ran: ran[0].exit_code == 0,
        )
        assert said in one.stdout
        # how it stands now is told with the present time
        assert other.stdout[:200] == one.stdout[:200]
        assert (other.exit_code, other.stderr) == (0, "")
    one, other = both("held-back", "flats", "--json")
    assert one.stdout == other.stdout
    held = json.loads(one.stdout)
    assert [each["publication"] for each in held["items"]] == ["f3"]
    assert (held["publications"], held["replayed"]) == (4, 0)
    assert "3 better ones are still valid" in both("held-back", "flats")[1].stdout
    missing = by_service(*asked, "f9")
    assert missing.exit_code == 2
    looked = "in the state, nor among the 4 that were published last"
    assert f"there is no publication 'f9' {looked}" in missing.stderr


def test_what_became_of_publications_is_the_same(both, by_service):
    flats = json_lines(event("f1", 900), event("f1", 900), event("f2", 9000))
    published = by_service("publish", "--wait", text=flats)
    assert published.exit_code == 1
    assert published.stdout.splitlines()[1:] == [
        "stdin:1: f1 (ads): 2 deliveries so far",
        "stdin:2: f1 (ads): rejected: duplicate",
        "stdin:3: f2 (ads): 1 delivery so far",
    ]
    one, other = both("trace", "ads", "f1")
    assert [each.exit_code for each in (one, other)] == [0, 0]
    assert other.stdout == one.stdout
    assert [line.count("delivery") for line in one.stdout.splitlines()[3:]] == [1, 1]
    missing = by_service("trace", "ads", "f9")
    assert missing.exit_code == 2
    assert "there is no publication 'f9' of 'ads' in the log" in missing.stderr


def test_commands_are_carried_out(by_service, both, tmp_path):
    more = tmp_path / "more.yaml"
    more.write_text(
        "shortlists: [{id: palaces, subscriber: you}]\n"
        "subscriptions: [{id: joins, shortlist: owner}, {id: owner, where: rent < 1},"
        " {id: dear, shortlist: palaces, where: rent > 3000}]\n"
    )
    made = by_service("subscribe", more)
    assert (made.exit_code, made.stdout.splitlines()[-1]) == (0, "4 carried out, 0 rejected")
    bad = by_service("subscribe", text='{"id": "near", "where": "rent is near"}\n')
    assert (bad.exit_code, "'near' is not a term of 'rent'" in bad.stderr) == (2, True)
    changed = by_service(
        "update", text='{"shortlist": "flats", "policy": {"kind": "top-k", "k": 4}}'
    )
    assert "shortlist 'flats' starts over" in changed.stdout
    by_service("publish", "--wait", text=json_lines(event("f1", 9000)))
    retracted = by_service("retract", "ads", "f1", "--json")
    assert json.loads(retracted.stdout)["carried out"] == 1
    gone = by_service("unsubscribe", "dear", "nobody")
    assert gone.exit_code == 1
    assert gone.stdout.splitlines()[-1] == "1 carried out, 1 rejected"
    assert "unsubscribe 'nobody': there is no live subscription 'nobody'" in gone.stderr
    assert by_service("close", "palaces").exit_code == 0
    one, other = both("list")
    assert one.stdout == other.stdout
    assert "palaces" not in one.stdout
    meaning = '{"trapezoid": [null, null, 100, 200]}'
    defined = by_service("define", "rent", "tiny", meaning)
    assert (defined.exit_code, defined.stdout.splitlines()[-1]) == (0, "1 carried out, 0 rejected")
    assert "tiny" in both("list", "vocabulary")[0].stdout
    timed = by_service("close", "flats", "--time", "2026-01-01T00:00:00Z")
    assert (timed.exit_code, "--time: expected --log" in timed.output) == (2, True)


def test_quarantine_is_the_same(both):
    for arguments in (("quarantine",), ("quarantine", "7", "--retry")):
        one, other = both(*arguments)
        assert (other.exit_code, other.output) == (one.exit_code, one.output)


def test_many_lines_are_sent_in_as_many_requests_as_it_takes(by_service, tmp_path):
    file = tmp_path / "many.jsonl"
    file.write_text(json_lines(*(event(f"f{n}", 1, data={"a": "x" * 2000}) for n in range(300))))
    published = by_service("publish", file, "--json")
    assert json.loads(published.stdout)["acknowledged"] == 300


def test_a_registry_is_applied(both, by_service, tmp_path):
    found = yaml.safe_load(by_service("get").stdout)
    found["shortlists"][0]["policy"]["k"] = 1
    found["shortlists"].append({"id": "films", "subscriber": "you"})
    found["subscriptions"] += [
        {"id": "drama", "shortlist": "films", "where": "genre = 'drama'"},
        {"id": "joins", "shortlist": "owner"},
        {"id": "owner", "where": "rent < 1"},
    ]
    found["subscriptions"] = [each for each in found["subscriptions"] if each["id"] != "any"]
    found["advertisements"] = [{"id": "offers", "source": "ads", "k": 3}]
    file = tmp_path / "wanted.yaml"
    file.write_text(yaml.safe_dump(found))
    one, other = both("diff", file, "--prune")
    assert (other.exit_code, other.stdout) == (1, one.stdout)
    applied = by_service("apply", file, "--prune", "--yes", "--json")
    assert applied.exit_code == 0, applied.output
    told = json.loads(applied.stdout)
    assert (told["carried out"], told["rejected"]) == (7, [])
    assert told["effects"][0]["effect"] == "shortlist 'flats' keeps what it holds"
    again = both("diff", file, "--prune")
    assert [each.exit_code for each in again] == [0, 0]
    found["advertisements"][0]["k"] = 4
    found["subscriptions"][0]["where"] = "rent is low and a = 1"
    found["vocabulary"]["rent"]["terms"] = {"low": {"trapezoid": [None, None, 1, 2]}}
    file.write_text(yaml.safe_dump(found))
    applied = by_service("apply", file, "--prune", "--yes").stdout
    assert applied.endswith("4 carried out, 0 rejected\n"), applied


def test_a_subscriber_applies_what_is_its_own(phone, closed, tmp_path):
    more = {"key": phone, "settings": tmp_path}
    assert yaml.safe_load(shortlist("get", "--service", closed, **more).stdout).keys() == {
        "vocabulary",
        "shortlists",
        "subscriptions",
    }
    refused = shortlist("list", "advertisements", "--service", closed, **more)
    assert (refused.exit_code, "expected the key of a publisher" in refused.stderr) == (2, True)
    wanted = {
        "subscriptions": [
            {"id": "own", "where": "rent < 1", "subscriber": "you"},
            {"id": "theirs", "where": "rent < 1", "subscriber": "somebody"},
        ]
    }
    file = tmp_path / "wanted.json"
    file.write_text(json.dumps(wanted))
    done = shortlist("apply", file, "--yes", "--service", closed, **more)
    assert done.exit_code == 1
    assert "subscription 'theirs': expected a subscription of 'you'" in done.stderr
    assert done.stdout.endswith("1 carried out, 1 rejected\n")
