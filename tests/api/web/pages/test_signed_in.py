"""The pages where tokens are set: one signs in once, with a real browser."""

from playwright.sync_api import expect
from support.browser import follow, serving

from api.settings import Settings
from api.web.app import create_app

TOKEN = "right-token"


def test_one_signs_in_once_and_goes_on_where_one_wanted_to(browser, service, look):
    with serving(create_app(service, Settings(api_tokens=(TOKEN,)))) as root:
        page = look("/?model=resnet18&target=0.69", root=root)
        page.get_by_label("API token").fill(TOKEN)
        follow(page.get_by_role("button", name="Sign in"))
        assert page.url == f"{root}/?model=resnet18&target=0.69"
        follow(page.get_by_role("link", name="Prices"))
        expect(page.locator("table").last.locator("tbody tr")).to_have_count(50)
        follow(page.get_by_role("link", name="Cost", exact=True))
        page.wait_for_selector(".plot .front")
        follow(page.get_by_role("button", name="Sign out"))
        page.goto(f"{root}/offers")
        assert page.get_by_label("API token").is_visible()
