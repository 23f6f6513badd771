"""The server: `streamlit run app.py`. Starts and stops the worker; every page is drawn by `pages/router.py`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import streamlit as st

from engine import worker
from engine.errors import StorageError


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """One worker for the life of the server, whatever pages are reloaded or caches cleared."""
    # A data folder that cannot be used is no reason not to serve: every page says what to do about it.
    with suppress(StorageError):
        worker.start()
    yield
    await anyio.to_thread.run_sync(worker.stop)


app = st.App("pages/router.py", lifespan=lifespan)
