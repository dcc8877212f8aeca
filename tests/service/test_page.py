"""The page in a real browser: subscribe, publish, see it ranked, ask why, be cut off, operate.

It needs Chromium and its driver on the PATH, and is skipped where they are not. With
SHORTLIST_SCREENSHOTS=FOLDER pictures are left there: light and dark, narrow and wide.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from shortlist.client.keys import Holder, add_key
from shortlist.intake.files import registry_from_documents
from shortlist.language.parser import parse_where
from shortlist.matching.conditions import condition
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.times import format_time
from shortlist.service.state import now
from tests.service.servers import caller, event, join_sites, publish, served

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PICTURES = os.environ.get("SHORTLIST_SCREENSHOTS")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="needs chromium and chromedriver on the PATH"
)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, url):
    browser.get_log("browser")
    browser.get(f"{url}/")
    yield browser
    wrong = [each["message"] for each in browser.get_log("browser") if each["level"] == "SEVERE"]
    # a subscription that cannot be read, and a key that is missing, are answers
    assert [each for each in wrong if " 422 " not in each and " 401 " not in each] == []
    browser.get("about:blank")


def found(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def texts(browser, selector):
    """What is to be read, at one instant: the page may draw anything anew between two questions."""
    read = "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText.trim())"
    return browser.execute_script(read, selector)


def wait(browser, is_so, seconds=60):
    return WebDriverWait(browser, seconds, 0.1, [Exception]).until(is_so)


def typed(browser, id, text):
    field = browser.find_element(By.ID, id)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(Keys.DELETE if text == "" else text)


def view(browser, name):
    browser.find_element(By.CSS_SELECTOR, f'nav a[href="#{name}"]').click()
    wait(browser, lambda _: browser.find_element(By.ID, f"{name}-view").is_displayed())


def picture(browser, name):
    """Light and dark, narrow and wide; nothing may be wider than the window."""
    for width in (390, 1200):
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, (name, width, wide)
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            if PICTURES is not None:
                Path(PICTURES).mkdir(parents=True, exist_ok=True)
                browser.save_screenshot(str(Path(PICTURES, f"{name}-{width}-{scheme}.png")))


def test_what_is_subscribed_on_the_page_appears_ranked_and_says_why(page, client):
    view(page, "compose")
    publish(client, event("f0", 1410))
    typed(page, "where", "rent is dear")
    wait(page, lambda _: "'dear' is not a term of 'rent'" in texts(page, "#where-problem")[0])
    assert "column 9" in texts(page, "#where-problem")[0]
    assert page.find_element(By.ID, "where").get_attribute("aria-invalid") == "true"
    assert not page.find_element(By.ID, "subscribe").is_enabled()
    picture(page, "problem")
    typed(page, "where", "rent is cheap")
    typed(page, "name", "bargains")
    typed(page, "subscriber", "anna")
    wait(page, lambda _: "1 delivery of the last 1 publication" in texts(page, "#preview-about")[0])
    assert "f0" in texts(page, "#preview li")[0]
    picture(page, "compose")
    page.find_element(By.ID, "subscribe").click()
    wait(page, lambda _: "bargains is live" in texts(page, "#verdict")[0])

    view(page, "shortlist")
    wait(page, lambda _: texts(page, "#shortlist option"))
    Select(page.find_element(By.ID, "shortlist")).select_by_value("bargains")
    wait(page, lambda _: texts(page, "#connection") == ["live"])
    publish(client, event("f1", 1350), event("f2", 900), event("f3", 9000))
    wait(page, lambda _: texts(page, ".entry .rank") == ["1", "2"])
    assert texts(page, ".entry strong")[:2] == ["f2", "f1"]
    assert "entered at 1" in texts(page, "#news li")[0]
    found(page, ".why summary")[1].click()
    wait(page, lambda _: texts(page, ".why li li") == ["0.5 rent is cheap"])
    picture(page, "shortlist")
    page.find_element(By.CSS_SELECTOR, "#held-back summary").click()
    wait(page, lambda _: "of the last 4 publications" in texts(page, "#held-back-about")[0])


def test_curves_of_terms_are_drawn_and_moved(page, client):
    view(page, "compose")
    for number, rent in enumerate((1100, 1350, 1450)):
        publish(client, event(f"f{number}", rent))
    typed(page, "where", "rent is very cheap and city != 'rent is cheap' and size is around(50, 9)")
    wait(
        page,
        lambda _: (
            texts(page, ".term figcaption") == ["rent is very cheap", "size is around(50, 9)"]
        ),
    )
    picture(page, "curves")
    typed(page, "where", "rent is cheap")
    wait(page, lambda _: len(found(page, ".term .handle")) == 2)
    wait(page, lambda _: "3 deliveries" in texts(page, "#preview-about")[0])
    until, ends = found(page, ".term .handle")
    assert until.get_attribute("aria-label") == "rent is whole until"
    assert (until.get_attribute("role"), until.get_attribute("aria-valuenow")) == ("slider", "1200")
    ends.send_keys(Keys.ARROW_LEFT)
    assert where(page) == "rent is trapezoid(null, null, 1200, 1495)"
    ends.send_keys(Keys.PAGE_DOWN, Keys.SHIFT, Keys.ARROW_LEFT, Keys.NULL)
    assert where(page) == "rent is trapezoid(null, null, 1200, 1395)"
    assert page.switch_to.active_element == ends  # whoever moves it stays there
    wait(page, lambda _: "2 deliveries" in texts(page, "#preview-about")[0])
    # the corners stay in order
    ActionChains(page).drag_and_drop_by_offset(ends, -120, 0).perform()
    assert where(page) == "rent is trapezoid(null, null, 1200, 1200)"
    ActionChains(page).drag_and_drop_by_offset(ends, 60, 0).perform()
    moved = re.fullmatch(r"rent is trapezoid\(null, null, 1200, (\d+)\)", where(page))
    assert int(moved[1]) > 1250
    assert ends.get_attribute("aria-valuenow") == moved[1]
    # where two lie on each other the one moves that can
    typed(page, "where", "size is around(50, 10)")
    wait(page, lambda _: len(found(page, ".term .handle")) == 4)
    top = found(page, ".term .handle")[2]
    ActionChains(page).drag_and_drop_by_offset(top, -30, 0).perform()
    assert re.fullmatch(r"size is trapezoid\(40, 4[0-9.]+, 50, 60\)", where(page))


def where(page):
    return page.find_element(By.ID, "where").get_property("value")


def condition_degrees(text, vocabulary, values):
    """What the matcher says of publications with these values."""
    meets = condition(parse_where(text, vocabulary), vocabulary)
    read = Values(vocabulary)
    flats = (
        Publication(id="f", source="s", time=0, position=0, data={"a": value}) for value in values
    )
    return [meets(read.of(flat)).possibility for flat in flats]


def test_curves_are_what_terms_mean(page):
    """Degrees on the page are those of the matcher."""
    shapes = ("linear", "smooth", "gauss")
    terms = {
        shape: {"trapezoid": [10, 20, 30, 50], "left": shape, "right": "smooth"} for shape in shapes
    } | {"low": {"trapezoid": [None, None, 20, 40]}, "high": {"trapezoid": [20, 40, None, None]}}
    vocabulary = {"a": {"type": "number", "terms": terms}}
    written = [f"a is {words}{term}" for term in terms for words in ("", "not ", "not very ")]
    written += ["a is somewhat around(25, 10)", "a is trapezoid(5, 5, 30, 30)"]
    values = [-5, 5, 10, 12.5, 19, 20, 25, 30, 33, 40, 47, 50, 60]
    drawn = page.execute_async_script(
        "const [texts, vocabulary, values, done] = arguments;"
        "import('/page/curves.js').then(({ termsOf, degreeOf }) => done("
        "texts.map((text) => termsOf(text, vocabulary)[0])"
        ".map((term) => values.map((value) => degreeOf(term, value)))))",
        written,
        vocabulary,
        values,
    )
    declared = registry_from_documents({"vocabulary": vocabulary}).vocabulary
    for text, degrees in zip(written, drawn, strict=True):
        condition = condition_degrees(text, declared, values)
        assert degrees == pytest.approx(condition, abs=1e-6), text


def test_what_was_published_is_never_taken_for_html(page, client):
    wait(page, lambda _: texts(page, "#connection") == ["live"])
    publish(client, event("<img src=x onerror=alert(1)>", 900, data={"rent": 1, "a": "<b>b</b>"}))
    wait(page, lambda _: "<img" in texts(page, ".entry strong")[0])
    assert "<b>b</b>" in texts(page, ".entry")[0]
    assert found(page, ".entry img, .entry b") == []


def test_the_page_goes_on_without_a_gap(browser, deployment):
    with served(deployment.log) as url:
        port = url.rpartition(":")[2]
        browser.get(f"{url}/")
        wait(browser, lambda _: texts(browser, "#connection") == ["live"])
        with caller(url) as client:
            publish(client, event("f1", 900))
        wait(browser, lambda _: len(found(browser, "#news li")) == 1)
    wait(browser, lambda _: texts(browser, "#connection") == ["reconnecting…"])
    moment = format_time(now())
    deployment.publish(event("f2", 800, time=moment), event("f3", 700, time=moment))
    with served(deployment.log, port=int(port)):
        wait(browser, lambda _: len(found(browser, "#news li")) == 3)
        said = "".join(texts(browser, "#news li"))
        assert said.index("f3") < said.index("f2") < said.index("f1")
        browser.get("about:blank")


def test_an_operator_sees_how_it_is(page, client):
    publish(client, event("f1", 900), event("f1", 900))
    view(page, "operate")
    wait(page, lambda _: "duplicate" in texts(page, "#reasons")[0])
    assert any("lag" in each for each in texts(page, "#figures div"))
    publish(client, *(event(f"g{n}", 1210 + 40 * n) for n in range(5)))
    # the first ones fill the shortlist, and what is dearer is held back
    wait(page, lambda _: "top-k" in texts(page, "#suppressed")[0])
    wait(page, lambda _: "any (others)" in texts(page, "#busiest")[0])
    assert "fairness" in texts(page, "#spread-about")[0]
    picture(page, "operate")


def test_an_operator_sees_the_network_of_sites(page, deployment):
    view(page, "operate")
    wait(page, lambda _: texts(page, "#figures div"))
    assert not page.find_element(By.ID, "network").is_displayed()
    join_sites(deployment.log)
    wait(page, lambda _: page.find_element(By.ID, "network").is_displayed())
    assert texts(page, "#network-about") == ["This is oslo, linked to 2 sites."]
    rows = texts(page, "#links tr")
    assert ["bergen" in rows[0], "behind it: tromso, bodo" in rows[0], "1,234" in rows[0]] == [
        True,
        True,
        True,
    ]
    assert ["hamar" in rows[1], "out" in rows[1]] == [True, True]
    assert re.fullmatch(r"hamar: silent for \d+ s; the server .* cannot be reached", rows[2])
    assert {"oslo", "bergen", "hamar", "→ 1,234 ← 87"} <= {
        " ".join(each.text.split()) for each in found(page, "#sites text")
    }
    page.execute_script("document.getElementById('network').scrollIntoView()")
    picture(page, "network")


def test_the_keyboard_is_enough(page):
    wait(page, lambda _: texts(page, "#connection") == ["live"])
    body = page.find_element(By.TAG_NAME, "body")
    seen = []
    for _ in range(6):
        page.switch_to.active_element.send_keys(Keys.TAB)
        active = page.switch_to.active_element
        seen.append(active.text or active.get_attribute("id"))
    assert seen[:4] == ["Skip to the content", "Shortlist", "Compose", "Operate"]
    assert any("flats" in each for each in seen)
    assert body.is_displayed()
    unnamed = page.execute_script(
        "return [...document.querySelectorAll('input, select, textarea')]"
        ".filter((each) => !each.labels.length).map((each) => each.id)"
    )
    assert unnamed == []


def test_a_key_is_asked_for_and_kept_for_the_tab(browser, deployment):
    key = add_key(deployment.log, Holder("your phone", "subscriber", "you"))
    with served(deployment.log) as url:
        browser.get(f"{url}/")
        wait(browser, lambda _: browser.find_element(By.ID, "key").is_displayed())
        assert "expected a key" in texts(browser, "#failure")[0]
        typed(browser, "key", key)
        browser.find_element(By.CSS_SELECTOR, "#key-form button").click()
        wait(browser, lambda _: texts(browser, "#connection") == ["live"])
        assert texts(browser, "#who") == ["your phone, subscriber"]
        assert texts(browser, "#shortlist option") == ["flats (you)"]
        browser.execute_script("sessionStorage.clear()")
        browser.get("about:blank")


def test_the_api_is_described_without_the_internet(page, url):
    page.get(f"{url}/docs")
    wait(page, lambda _: any("/events" in each for each in texts(page, ".entry code")))
    picture(page, "docs")
