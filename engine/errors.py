"""Errors a person can mend. Everything else is a bug and is not caught.

A page or the command line catches `UserError` once, shows its sentence and stops. A measurement that fails is not an
error but a stored `engine.result.Failure`.
"""


class UserError(Exception):
    """Something a person can mend. The message says what is wrong (with the value), what is allowed, and what to do."""


class InvalidSpec(UserError):
    """A workload, protocol or experiment that cannot be measured, with the field and its value named."""


class UnknownKey(UserError):
    """A technique, variant, model, run or protocol name that does not exist; the message lists what does."""


class UnreadableFile(UserError):
    """An uploaded or named file that cannot be understood; the message names the file and, where known, row and column."""


class TamperedResult(UserError):
    """A result file whose rows, statistics or hash no longer agree."""


class StorageError(UserError):
    """The data folder or database cannot be made, read or written (disk full, no permission, a file in the way)."""
