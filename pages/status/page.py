"""The page "Status": whether the app is all right, for who shows it to a class or hosts it."""

from pages.status import panel
from ui import Page, run

PAGE: Page = Page(
    name="status",
    title="Status",
    icon=":material/monitor_heart:",
    question="Is everything all right, who waits, and how full is memory?",
    how="Leave it open on a screen of your own while a class is at work.",
    about="For whoever shows this app to a class or hosts it. Everything here is looked up again every two seconds.",
    body=panel.draw,
)

if __name__ == "__main__":
    run(PAGE)
