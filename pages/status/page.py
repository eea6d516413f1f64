"""The page "Status": whether the app is all right, for who shows it to a class or hosts it."""

from pages.status import panel
from ui import Page, run

PAGE: Page = Page(
    name="status",
    title="Status",
    icon=":material/monitor_heart:",
    question="Is the app healthy, who is waiting, and how full is memory?",
    how="Keep it open on your own screen while a class is working.",
    about="For teachers and hosts. Refreshes every two seconds.",
    body=panel.draw,
)

if __name__ == "__main__":
    run(PAGE)
