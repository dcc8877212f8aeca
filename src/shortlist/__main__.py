"""The program: `shortlist`, and `python -m shortlist`."""

from shortlist.unused import collect_seldom


def main() -> None:
    """Most garbage would be looked for while modules are imported."""
    collect_seldom()
    from shortlist.cli import main

    main()


if __name__ == "__main__":
    main()
