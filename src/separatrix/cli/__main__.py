"""Run the command line as `python -m separatrix.cli`."""

from separatrix.cli.main import main

if __name__ == "__main__":  # workers of a local cluster import this file
    main()
