"""Command line: `python -m engine --help`. Runs where neither streamlit nor plotly is installed."""

from engine.cli import main

if __name__ == "__main__":
    main()
