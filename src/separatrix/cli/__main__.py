"""Run the command line as `python -m separatrix.cli`."""

from separatrix.cli.main import main

main()
