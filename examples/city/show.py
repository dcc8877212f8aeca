"""The whole demo: build the city, run the job on Spark, show what came of it."""

from pathlib import Path

from rich.console import Console

from examples.city.files import DemoFiles, write_city
from examples.city.outcome import Outcome, all_shortlists, find_matches, read_deliveries
from examples.city.picture import draw
from examples.city.readers import FEATURED, reader_name
from examples.city.screen import WIDTH, print_screen
from examples.city.stories import tell
from shortlist.intake.files import read_registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps


def show(
    folder: Path, publications: int, subscribers: int, console: Console | None = None
) -> Outcome:
    """Leaves the city, the deliveries and a picture in the folder, and a screen to read."""
    from shortlist.jobs.job import Job, Outputs
    from shortlist.spark.job import OnSpark

    files, settings, steps = DemoFiles(folder), Settings(), Steps(Console(stderr=True))
    with steps.step("Building the city"):
        write_city(files, publications, subscribers)
        registry = read_registry(files.registry)
    outputs = Outputs(deliveries=files.deliveries, rejects=files.rejects)
    report = Job(registry, files.publications, outputs, settings, steps).run(OnSpark())
    with steps.step("Counting what would have come without policies"):
        matches = find_matches(registry, files.publications, settings)
    with steps.step("Asking for reasons, drawing"):
        outcome = Outcome(
            report, all_shortlists(registry), matches, read_deliveries(files.deliveries)
        )
        featured = [reader_name(number) for number in range(1, len(FEATURED) + 1)]
        stories = tell(outcome, registry, files.publications, settings, featured)
        draw(outcome, files.picture)
    print_screen(console or Console(width=WIDTH), files, outcome, stories)
    return outcome
