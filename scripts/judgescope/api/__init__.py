"""What a notebook uses: results of a study as DataFrames, an audit of a table, and the
statistics on arrays.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

PublicFunction = TypeVar("PublicFunction", bound=Callable[..., Any])


def plain_signature(function: PublicFunction) -> PublicFunction:
    """Let `help` show the names and defaults of arguments without their types.

    The docstring says what each may be. Type checkers still see the types.
    """
    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty))
    plain = signature.replace(
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    # An attribute that `inspect` reads; functions do not declare it.
    vars(function)["__signature__"] = plain
    return function
