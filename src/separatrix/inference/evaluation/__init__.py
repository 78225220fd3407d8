"""How well a fitted model does on rows: numbers with intervals, and the curves behind them."""
