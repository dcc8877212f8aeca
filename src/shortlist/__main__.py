"""`python -m shortlist` is the program."""

from shortlist.cli import main

if __name__ == "__main__":
    main()
