"""What a site tells its neighbours: as little as stands for all, and what has to be looked for."""

from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.site_broker import NOTHING, News, SiteBroker, proxy_of


def proxy(where, born=0):
    return proxy_of("oslo", Subscription(id="s", where=where), born)


def broker():
    return SiteBroker("bergen", ["oslo", "tromso"], Vocabulary(), Limits())


def told(one, neighbour="tromso"):
    """The news of a neighbour, which are written down."""
    news = one.news(neighbour)
    assert one.news(neighbour) == news, "asked twice it says the same"
    one.tell(neighbour, news)
    assert one.news(neighbour) == NOTHING
    return news


WIDE, NARROW, OTHER = proxy("x < 9"), proxy("x < 5"), proxy("y = 1")


def test_what_is_hidden_is_told_when_nothing_hides_it_any_more():
    one = broker()
    one.hear("oslo", News((WIDE, NARROW, OTHER), since=100))
    news = told(one)
    assert ({proxy.id for proxy in news.put}, news.since) == ({WIDE.id, OTHER.id}, 100)
    one.hear("oslo", News(dropped=(WIDE.id,)))
    assert told(one) == News((NARROW,), (WIDE.id,))
    assert one.news("oslo") == NOTHING, "it said so itself"


def test_one_that_is_hidden_is_looked_for_only_if_it_is_older():
    one = broker()
    one.hear("oslo", News((WIDE,), since=100))
    told(one)
    one.hear("oslo", News((NARROW,), since=150))
    assert told(one) == NOTHING
    one.hear("oslo", News((proxy("x < 3"),), since=50))
    assert told(one) == News(since=50)


def test_who_is_told_of_a_look_passes_it_on():
    one = broker()
    one.hear("oslo", News((WIDE,), since=100))
    told(one)
    one.hear("oslo", News(since=50))
    assert told(one) == News(since=50)


def test_what_comes_while_news_are_written_is_news_again():
    one = broker()
    one.hear("oslo", News((WIDE,), since=100))
    news = one.news("tromso")
    one.hear("oslo", News((OTHER,), since=200))
    one.tell("tromso", news)
    assert told(one) == News((OTHER,), since=200)


def test_a_state_is_all_that_there_is():
    one = broker()
    one.offer([proxy("z = 1", born=70)])
    one.hear("oslo", News((WIDE, NARROW), since=100))
    told(one)
    one.hear("oslo", News((OTHER,), since=30))
    other = broker()
    other.restore(one.state())
    other.offer([proxy("z = 1", born=70)])
    for each in (one, other):
        news = each.news("tromso")
        assert ([proxy.id for proxy in news.put], news.since) == ([OTHER.id], 30)
    assert other.state() == one.state()
    assert other.counts("oslo") == one.counts("oslo") == {"told": 0, "held": 1, "behind": 3}
