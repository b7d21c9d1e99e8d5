"""The team server's page in a real browser: what it shows, and that a hostile memory is text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosted_team_server import HostedServer, Person, hosting
from playwright.sync_api import Browser, Page, expect, sync_playwright

SCREENSHOTS = Path(__file__).resolve().parents[2] / "target" / "team-page"
CHROMIUM = shutil.which("chromium")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH")

# A browser looks for updates and more; here it knows one machine only.
ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
REPOSITORY = "acme/app"
# A name that is markup, too: the server allows these signs.
ODD_REPOSITORY = "acme/<b>bold</b>"
COMMITS = "feedback_commits.md"
HOSTILE = "project_hostile.md"
BEFORE = "---\nname: Commits\ntype: feedback\n---\n\nOne change in a commit.\n"
AFTER = BEFORE + "\n**Why:** reverts must not take unrelated work along.\n"
ATTACK = """# <img src=x onerror="window.attacked = 1">

<script>window.attacked = 2</script>
</pre><svg onload="window.attacked = 3"></svg><iframe src="javascript:parent.attacked = 4"></iframe>
<a href="javascript:window.attacked = 5">a link</a> <style>body { display: none }</style>
"""


class Visit:
    """A tab, and everything that it did."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.goto(address)

    def enter(self, token: str) -> None:
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Show").click()

    def choose(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def text(self) -> str:
        return self.page.locator("#text").inner_text()

    def picture(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[ONLY_HERE])
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedServer]:
    with hosting(tmp_path_factory.mktemp("team")) as server:
        yield server


@pytest.fixture(scope="module")
def reader(server: HostedServer) -> str:
    """The token of somebody who may read what two others have written."""
    ada = Person(server, server.token("ada", "--repo", "*", "--write"))
    eve = Person(server, server.token("<i>eve</i>", "--repo", "*", "--write"))
    version = ada.upload(REPOSITORY, {COMMITS: BEFORE, "MEMORY.md": f"- [Commits]({COMMITS})\n"})
    eve.upload(REPOSITORY, {COMMITS: AFTER, HOSTILE: ATTACK}, version)
    ada.upload(ODD_REPOSITORY, {COMMITS: BEFORE})
    return server.token("reader", "--repo", "acme/*")


@pytest.fixture
def visit(browser: Browser, server: HostedServer) -> Iterator[Visit]:
    page = browser.new_page()
    try:
        yield Visit(page, server.address)
    finally:
        page.close()


def test_a_reader_sees_memories_and_their_history(visit: Visit, reader: str) -> None:
    page = visit.page
    visit.enter(reader)
    visit.choose(f"{REPOSITORY} (3)")
    expect(page.locator("#memories button")).to_have_text(["MEMORY.md", COMMITS, HOSTILE])
    visit.choose(COMMITS)
    rows = page.locator("#history tr")
    expect(rows).to_have_count(2)
    assert visit.text() == AFTER
    assert [row.locator("td").nth(1).inner_text() for row in rows.all()] == ["<i>eve</i>", "ada"]
    visit.picture("memory")
    visit.choose("1")
    expect(page.locator("#shown")).to_contain_text("Version 1, by ada")
    assert visit.text() == BEFORE
    page.get_by_label("Find").fill("onerror")
    expect(page.locator("#memories button")).to_have_text([HOSTILE])
    assert visit.complaints == []


def test_a_hostile_memory_is_text(visit: Visit, reader: str) -> None:
    page = visit.page
    visit.enter(reader)
    expect(page.locator("#repositories button")).to_have_text(
        [f"{ODD_REPOSITORY} (1)", f"{REPOSITORY} (3)"]
    )
    visit.choose(f"{REPOSITORY} (3)")
    visit.choose(HOSTILE)
    expect(page.locator("#history tr")).to_have_count(1)
    assert visit.text() == ATTACK
    visit.picture("hostile")
    # Also as an old version, which comes another way.
    visit.choose("2")
    expect(page.locator("#shown")).to_contain_text("Version 2, by <i>eve</i>")
    assert visit.text() == ATTACK
    markup = "#content :is(img, script, svg, iframe, a, style, b, i)"
    assert page.locator(markup).count() == 0
    page.wait_for_timeout(200)
    assert page.evaluate("window.attacked") is None
    assert visit.complaints == []
    # Were the script ever to make markup of a text, the browser would not do it.
    insert = "() => { try { document.body.innerHTML = '<b>x</b>' } catch (e) { return e.name } }"
    assert page.evaluate(insert) == "TypeError"


def test_a_wrong_token_is_told(visit: Visit, reader: str) -> None:
    page = visit.page
    visit.enter("mdt_" + "0" * 64)
    expect(page.get_by_role("status")).to_contain_text("token")
    expect(page.locator("#content")).to_be_hidden()
    visit.picture("wrong-token")
    # The right one helps at once, and stays until it is to be forgotten.
    visit.enter(reader)
    expect(page.locator("#content")).to_be_visible()
    expect(page.locator("#message")).to_be_empty()
    page.reload()
    expect(page.locator("#content")).to_be_visible()
    visit.choose("Forget the token")
    expect(page.locator("#content")).to_be_hidden()
    page.reload()
    expect(page.locator("#enter")).to_be_visible()
    expect(page.locator("#content")).to_be_hidden()


def test_nothing_is_asked_of_anybody_else(visit: Visit, reader: str) -> None:
    visit.enter(reader)
    visit.choose(f"{REPOSITORY} (3)")
    for key in (COMMITS, HOSTILE):
        visit.choose(key)
        expect(visit.page.locator("#memory-title")).to_have_text(key)
    visit.page.wait_for_load_state("networkidle")
    assert len(visit.requests) >= 7
    assert [url for url in visit.requests if not url.startswith(f"{visit.address}/")] == []
    # An address stands in logs.
    assert not any(reader in url for url in visit.requests)
    assert visit.page.context.cookies() == []
